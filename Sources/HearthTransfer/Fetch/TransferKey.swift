import Foundation
import HearthBase

/// The name of a transfer and of its folder: the digest of the file, or that of its address if it has none.
package typealias TransferKey = PathComponent

extension PathComponent {
    init(_ request: TransferRequest) throws {
        let address = request.locations.first?.withoutQuery ?? request.label
        let name = request.digest?.hex ?? "url-" + SHA256Digest(hashing: Array(address.utf8)).hex
        guard let key = PathComponent(name) else { throw FileError(errno: EINVAL, doing: "create", path: Path(name)) }
        self = key
    }
}
