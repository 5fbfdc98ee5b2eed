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
    /// Whether some extents were taken from the part file itself after its journal was lost: only the digest of the whole
    /// can vouch for them.
    var isAdopted: Bool?

    /// What lies at a journal's place.
    enum Finding {
        case absent
        /// Something that is no journal of this format: what it vouched for has to be found out from the bytes.
        case damaged
        case sound(TransferJournal)
    }

    /// The most extents a journal names; a transfer has as many holes as connections and bad chunks.
    private static let maximumExtents = 4096

    /// Reads a journal.
    static func find(_ path: Path, in fileSystem: any FileSystem) throws -> Finding {
        guard let status = try fileSystem.status(at: path, followLinks: false) else { return .absent }
        guard status.kind == .file, status.size <= 1 << 20 else { return .damaged }
        let data = try fileSystem.contents(ofFile: path, limit: 1 << 20)
        do {
            let journal = try JSONDecoder().decode(TransferJournal.self, from: data)
            return journal.isSound ? .sound(journal) : .damaged
        } catch {
            Log.write(.warning, "delivery.transfer", "the journal \(path) is damaged and was set aside: \(error)")
            return .damaged
        }
    }

    /// Reads a journal, `nil` if there is none that can be used.
    static func read(_ path: Path, in fileSystem: any FileSystem) throws -> TransferJournal? {
        if case .sound(let journal) = try find(path, in: fileSystem) { journal } else { nil }
    }

    /// The extents as a set.
    var held: RangeSet<UInt64> {
        get { RangeSet(extents.map { $0.start..<$0.end }) }
        set {
            extents = newValue.ranges.prefix(Self.maximumExtents).map {
                Extent(start: $0.lowerBound, end: $0.upperBound)
            }
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
        guard format == Self.currentFormat, extents.count <= Self.maximumExtents else { return false }
        var end: UInt64 = 0
        for extent in extents {
            guard extent.start >= end, extent.end > extent.start else { return false }
            end = extent.end
        }
        return size.map { end <= $0 } ?? true
    }
}
