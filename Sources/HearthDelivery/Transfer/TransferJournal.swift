import Foundation
import HearthBase

/// What is on the disk of a file that is still on its way. Every extent named here was brought to the disk before the
/// journal that names it was.
struct TransferJournal: Codable, Equatable {
    /// A run of bytes, from `start` up to but without `end`.
    struct Extent: Codable, Equatable {
        var start: UInt64
        var end: UInt64
    }

    static let currentFormat = 1

    var format = TransferJournal.currentFormat
    /// What the file must hash to; its identity, where it has one.
    var digest: SHA256Digest?
    /// The file's length, once a server or the catalog has said it.
    var size: UInt64?
    /// The strong entity tag of the server the bytes came from.
    var entityTag: String?
    /// Where the bytes came from, without its query; the identity of a file without a digest.
    var location: String
    var extents: [Extent] = []

    /// The bytes from the first on without a gap.
    var prefix: UInt64 {
        guard let first = extents.first, first.start == 0 else { return 0 }
        return first.end
    }

    /// Reads a journal, `nil` if it is damaged or of another format: then the transfer starts afresh.
    static func read(_ path: Path, in fileSystem: any FileSystem) throws -> TransferJournal? {
        guard try fileSystem.status(at: path) != nil else { return nil }
        let data = try fileSystem.contents(ofFile: path, limit: 1 << 20)
        do {
            let journal = try JSONDecoder().decode(TransferJournal.self, from: data)
            return journal.isSound ? journal : nil
        } catch {
            Log.write(.warning, "delivery.transfer", "the journal \(path) is damaged and was set aside: \(error)")
            return nil
        }
    }

    func write(_ path: Path, in fileSystem: any FileSystem) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try fileSystem.replaceContents(of: path, with: try encoder.encode(self))
    }

    /// Whether the journal speaks of the file that is wanted now.
    func describes(_ request: TransferRequest) -> Bool {
        if let exact = request.size.exact, let size, size != exact { return false }
        guard digest == request.digest else { return false }
        // Without a digest only the same place with the same strong entity tag can be continued.
        return digest != nil || (entityTag != nil && location == request.locations.first?.withoutQuery)
    }

    private var isSound: Bool {
        guard format == Self.currentFormat, extents.count <= 4096 else { return false }
        var end: UInt64 = 0
        for extent in extents {
            guard extent.start >= end, extent.end > extent.start else { return false }
            end = extent.end
        }
        return size.map { end <= $0 } ?? true
    }
}
