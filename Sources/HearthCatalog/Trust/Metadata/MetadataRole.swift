import Foundation
import HearthBase

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
        "\(version.map { "\($0)." } ?? "")\(name.escapedForAddress()).json"
    }

    /// The file on this device. Capitals are escaped too, because some file systems do not tell them apart.
    var fileName: String { "\(name.escapedForAddress(keepingCapitals: false)).json" }

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

extension String {
    /// The text with every byte escaped as in an address (RFC 3986), except letters, digits, `.`, `-`, `_` and `~`.
    func escapedForAddress(keepingCapitals: Bool = true, keeping others: String = "") -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let kept = Array(others.utf8)
        var bytes: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z") where keepingCapitals: bytes.append(byte)
            case _ where kept.contains(byte): bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return keepingCapitals ? text : text.lowercased()
    }
}
