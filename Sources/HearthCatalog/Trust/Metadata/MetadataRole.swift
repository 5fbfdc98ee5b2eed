import Foundation
import HearthBase
import HearthHTTP

/// A role of an origin's metadata: one of the four at the top, or one to which a publisher delegated files.
package struct MetadataRole: Sendable, Hashable, CustomStringConvertible {
    package let name: String

    package static let root = Self(topLevel: "root")
    package static let timestamp = Self(topLevel: "timestamp")
    package static let snapshot = Self(topLevel: "snapshot")
    package static let targets = Self(topLevel: "targets")
    package static let topLevel: [Self] = [.root, .timestamp, .snapshot, .targets]

    /// The longest name of a delegated role: it becomes a file name, each byte as up to three.
    static let maximumNameLength = 80

    private init(topLevel name: String) { self.name = name }

    /// A delegated role; `nil` if the name is empty, too long, or one of the four.
    package init?(delegated name: String) {
        guard (1...Self.maximumNameLength).contains(name.utf8.count),
            !Self.topLevel.contains(where: { $0.name == name })
        else { return nil }
        self.name = name
    }

    /// The role's file in the lists of snapshot and timestamp.
    package var listedName: String { "\(name).json" }

    /// The file below the address of the metadata, escaped so that no name leaves its folder.
    package func addressName(version: UInt64?) -> String {
        "\(version.map { "\($0)." } ?? "")\(PercentText.encoded(name)).json"
    }

    /// The file on this device. Capitals are escaped too, because some file systems do not tell them apart.
    var fileName: String {
        let escaped = name.unicodeScalars.map { scalar in
            ("A"..."Z").contains(scalar)
                ? "%" + String(scalar.value, radix: 16) : PercentText.encoded(String(scalar)).lowercased()
        }
        return "\(escaped.joined()).json"
    }

    /// The most bytes of the file, if its signed list gives no length.
    package var sizeLimit: Int {
        switch self {
        case .root: 512_000
        case .timestamp: 16_384
        case .snapshot: 2_000_000
        default: 5_000_000
        }
    }

    package var description: String { name.isPlain() ? "\(name).json" : name.quoted }
}
