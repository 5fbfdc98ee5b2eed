import Foundation
import HearthBase

/// Identifies a transfer: the name of its folder.
package struct TransferKey: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The name, safe as a part of a path.
    package let component: PathComponent

    /// The 64 digits of the file's SHA-256; `url-` and a hash of the address for a file without one.
    package var name: String { component.name }
    package var description: String { name }

    /// The key of a folder's name; `nil` if no transfer's folder can have that name.
    package init?(_ name: some StringProtocol) {
        guard let component = PathComponent(name) else { return nil }
        self.component = component
    }

    /// The key of a request's transfer.
    init(_ request: TransferRequest) throws {
        let address = request.locations.first?.withoutQuery ?? request.label
        let name = request.digest?.hex ?? "url-" + SHA256Digest(hashing: Array(address.utf8)).hex
        guard let component = PathComponent(name) else {
            throw FileError(errno: EINVAL, doing: "create", path: Path(name))
        }
        self.component = component
    }

    package static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}
