import Foundation
import HearthBase

/// The record of the slabs of an unfinished GGUF file that are on the disk, beside that file.
///
///     model.gguf.part         the unfinished file, of its final length
///     model.gguf.part.json    this record
///
/// It is written after the file is synchronised, so it never promises more than the disk holds.
struct ImportJournal: DiskRecord, Equatable {
    /// The digest of all that decides the file: another one belongs to another import.
    let key: String
    /// The number of slabs from the first that are on the disk.
    var slabs: Int
    /// The losses of these slabs.
    var losses: ConversionLosses

    /// The most bytes of a record.
    static let maximumByteCount = 64 << 10

    /// The unfinished file of a target.
    static func part(of target: Path) -> Path { target.withSuffix(".part") }
    /// The record of a target.
    static func place(of target: Path) -> Path { target.withSuffix(".part.json") }

    /// Removes records that a killed process did not finish.
    static func removeTemporaries(of target: Path, _ fileSystem: any FileSystem) throws {
        let beginning = ".\(place(of: target).lastComponent)\(Path.temporaryMark)"
        for name in try fileSystem.contents(of: target.parent) where name.hasPrefix(beginning) {
            try fileSystem.removeFile(target.parent.joined(name))
        }
    }
}

/// The slabs of a running import: handed out in order, finished in any order.
struct ImportProgress {
    /// The number of slabs from the first that are all finished.
    private(set) var finished: Int
    /// The losses of these slabs.
    private(set) var losses: ConversionLosses
    /// The bytes of the result that are written.
    private(set) var writtenBytes: UInt64
    private var next: Int
    private let count: Int
    private let checkpointBytes: UInt64
    /// Finished slabs behind one that is not.
    private var waiting: [Int: ConversionLosses] = [:]
    private var bytesAtCheckpoint: UInt64
    private var isCheckpointing = false
    private(set) var failure: (any Error)?

    /// Continues after the slabs of a journal.
    init(count: Int, journal: ImportJournal, writtenBytes: UInt64, checkpointBytes: UInt64) {
        self.checkpointBytes = checkpointBytes
        (self.count, finished, next) = (count, journal.slabs, journal.slabs)
        losses = journal.losses
        self.writtenBytes = writtenBytes
        bytesAtCheckpoint = writtenBytes
    }

    /// The next slab to convert; `nil` if there is none, or the import has failed.
    mutating func take() -> Int? {
        guard failure == nil, next < count else { return nil }
        next += 1
        return next - 1
    }

    /// Notes that a slab is written.
    /// - Returns: whether the caller should synchronise the file and write the journal now.
    mutating func finish(_ slab: Int, bytes: Int, _ slabLosses: ConversionLosses) -> Bool {
        waiting[slab] = slabLosses
        writtenBytes += UInt64(bytes)
        while let found = waiting.removeValue(forKey: finished) {
            losses += found
            finished += 1
        }
        guard !isCheckpointing, writtenBytes >= bytesAtCheckpoint + checkpointBytes, finished < count else {
            return false
        }
        isCheckpointing = true
        bytesAtCheckpoint = writtenBytes
        return true
    }

    mutating func endCheckpoint() { isCheckpointing = false }

    /// Ends the import: no slab is handed out any more. The first failure is kept.
    mutating func fail(_ error: any Error) { failure = failure ?? error }
}
