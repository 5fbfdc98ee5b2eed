import Foundation
import HearthBase
import HearthCatalog
import HearthStore

/// The list of a classifier's classes, one to a line.
struct PublishClasses: Sendable {
    let data: Data
    let digest: SHA256Digest
    /// The number of lines that are not empty.
    let count: Int
    /// The file's name without extension, such as `v1`.
    let version: String
    let place: RelativePath

    /// The most bytes of a list.
    static let maximumSize = 4 << 20

    /// Reads a list. Blocks.
    /// - Throws: ``PublishingError`` with `not-publishable`; `FileError`.
    init(_ path: Path, fileSystem: any FileSystem) throws {
        let part = try PublishPart(path, role: .labels, fileSystem: fileSystem)
        data = try fileSystem.contents(ofFile: path, limit: Self.maximumSize)
        guard let text = String(data: data, encoding: .utf8), !text.contains("\0") else {
            throw PublishingError.refused(path, "it is no text", "Give a list of classes, one to a line.")
        }
        count = ClassList.count(linesOf: text)
        guard count > 0 else {
            throw PublishingError.refused(path, "it lists no class", "Give a list of classes, one to a line.")
        }
        digest = SHA256Digest(hashing: data)
        version = String(part.stem.prefix(64))
        place = try OriginPlaces.checked("\(OriginPlaces.classes)/\(digest.short)/\(part.name)")
    }

    /// The field `classes` of a manifest entry.
    var entry: JSONValue {
        .object([
            "count": .integer(count), "listVersion": .string(version), "url": .string(OriginPlaces.address(of: place)),
            "sha256": .string(digest.hex), "sizeBytes": .integer(data.count),
        ])
    }
}
