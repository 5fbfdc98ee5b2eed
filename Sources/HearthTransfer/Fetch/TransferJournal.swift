import Foundation
import HearthBase

/// The record of a part file's bytes on the disk. Each extent reaches the disk before the journal that names it.
struct TransferJournal: Codable, Equatable {
    /// A run of bytes, from `start` up to but without `end`.
    struct Extent: Codable, Equatable {
        package var start: UInt64
        package var end: UInt64
    }

    static let currentFormat = 1

    package var format = TransferJournal.currentFormat
    /// The digest that the file must have; identifies the file, if known.
    package var digest: SHA256Digest?
    /// The file's length, once the catalog or a server has told it.
    package var size: UInt64?
    /// The strong entity tag of the server the bytes came from.
    var entityTag: String?
    /// The address of the bytes without its query; identifies a file without a digest.
    package var location: String
    var extents: [Extent] = []
    /// Whether some extents may be wrong, and only a digest can vouch for them: they were adopted from the part file after
    /// its journal was damaged, or not brought to the disk before the journal.
    var isAdopted: Bool?

    /// The outcome of reading a journal.
    package enum Finding {
        case absent
        /// Not a journal of this format: only the bytes themselves can be checked.
        case damaged
        case sound(TransferJournal)
    }

    /// The most extents that a journal names; a transfer has about as many gaps as connections and wrong chunks.
    private static let maximumExtents = 4096

    /// Reads a journal.
    package static func find(_ path: Path, in fileSystem: any FileSystem) throws -> Finding {
        guard let status = try fileSystem.status(at: path, followLinks: false) else { return .absent }
        guard status.kind == .file, status.size <= 1 << 20 else { return .damaged }
        do {
            let data = try fileSystem.contents(ofFile: path, limit: 1 << 20)
            let journal = try JSON.value(TransferJournal.self, data)
            return journal.isSound ? .sound(journal) : .damaged
        } catch let error as FileError {
            // Another process removed the transfer meanwhile.
            guard error.code == .notFound else { throw error }
            return .absent
        } catch {
            Log.write(.warning, "the journal \(path) is damaged and was set aside: \(error)")
            return .damaged
        }
    }

    /// Reads a journal; `nil` if it is absent or damaged.
    package static func read(_ path: Path, in fileSystem: any FileSystem) throws -> TransferJournal? {
        if case .sound(let journal) = try find(path, in: fileSystem) { journal } else { nil }
    }

    /// The extents as a set.
    package var held: RangeSet<UInt64> {
        get { RangeSet(extents.map { $0.start..<$0.end }) }
        set {
            extents = newValue.ranges.prefix(Self.maximumExtents).map {
                Extent(start: $0.lowerBound, end: $0.upperBound)
            }
        }
    }

    /// The size of a file system's blocks, in bytes.
    private static let blockSize: UInt64 = 4096

    /// Replaces the journal. A full disk has no room for a second one: there the first is overwritten where it lies. If
    /// that is interrupted, the journal is damaged, and the bytes of the file are checked instead.
    package func write(_ path: Path, in fileSystem: any FileSystem, isSynced: Bool = true) throws {
        let data = try JSON.data(self)
        do {
            try fileSystem.replaceContents(of: path, with: data, isSynced: isSynced)
        } catch let error as FileError where error.code == .diskFull {
            // Beyond its last block the journal cannot grow either.
            guard let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file,
                UInt64(data.count) <= (status.size + Self.blockSize - 1) / Self.blockSize * Self.blockSize
            else { throw error }
            let file = try fileSystem.open(path, .readWrite)
            func put(_ bytes: Data, at offset: UInt64) throws {
                try bytes.withUnsafeBytes { try fileSystem.write(file, $0, at: offset) }
                if isSynced { try fileSystem.synchronize(file) }
            }
            // While its first byte is another, no part of the old journal is taken for one of the new.
            try put(Data("#".utf8), at: 0)
            if status.size > UInt64(data.count) { try fileSystem.truncate(file, to: UInt64(data.count)) }
            try put(data.dropFirst(), at: 1)
            try put(data.prefix(1), at: 0)
        }
    }

    /// Whether the journal belongs to the requested file.
    func describes(_ request: TransferRequest) -> Bool {
        if let exact = request.size.exact, let size, size != exact { return false }
        guard digest == request.digest else { return false }
        // Without a digest, only the same address with a strong entity tag can be continued.
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
