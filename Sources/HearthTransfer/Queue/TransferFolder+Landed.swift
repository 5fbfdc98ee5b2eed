import Foundation
import HearthBase

/// Pieces that came from outside a transfer, such as from a service of the system.
///
/// ```
/// <folder>/<key>/landed-<start>-<end>   the bytes from `start` up to `end`, until they are taken into `data.part`
/// ```
/// Nothing vouches for them but the digest of the file, so the transfer's journal notes them as adopted. Every call
/// blocks.
extension TransferFolder {
    /// One piece.
    package struct Landed: Sendable, Hashable {
        package let path: Path
        package let range: Range<UInt64>
    }

    private static var landedName: String { "landed" }

    /// The place for the bytes of a range.
    package func landingPlace(_ range: Range<UInt64>) -> Path {
        path.joined("\(Self.landedName)-\(range.lowerBound)-\(range.upperBound)")
    }

    /// The pieces of full length, in the order of their bytes.
    package func landed() throws -> [Landed] {
        var pieces: [Landed] = []
        for name in try names() {
            let words = name.split(separator: "-", omittingEmptySubsequences: false)
            guard words.count == 3, words[0] == Self.landedName, let start = UInt64(words[1]),
                let end = UInt64(words[2]), start < end, end <= UInt64(Int64.max)
            else { continue }
            let piece = Landed(path: path.joined(name), range: start..<end)
            let status = try fileSystem.status(at: piece.path, followLinks: false)
            if status?.kind == .file, status?.size == end - start { pieces.append(piece) }
        }
        return pieces.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    /// The recorded bytes and those of pieces; `nil` if there is no plan of a file with this digest.
    package func held(of digest: SHA256Digest) throws -> RangeSet<UInt64>? {
        guard try plan().plan?.digest == digest else { return nil }
        return try recorded(of: digest).held.union(RangeSet(try landed().map(\.range)))
    }

    /// Moves pieces into the part file, where the next fetch finds and checks them. Call it under the folder's lock.
    /// - Parameter size: the length of the whole file.
    /// - Throws: ``FileError``, with `disk-full` if a piece has no room; the pieces before it are taken in.
    package func takeInLanded(of digest: SHA256Digest, size: UInt64) throws {
        let pieces = try landed()
        guard !pieces.isEmpty, let plan = try plan().plan, plan.digest == digest else { return }
        var journal = try recorded(of: digest)
        journal.location = plan.locations.first ?? ""
        journal.size = size
        for piece in pieces {
            let missing = RangeSet(piece.range).subtracting(journal.held)
            if piece.range.upperBound <= size, !missing.isEmpty {
                try put(piece, missing, isFirst: journal.held.isEmpty)
                journal.held = journal.held.union(missing)
                journal.isAdopted = true
                try journal.write(journalPath, in: fileSystem)
            }
            try fileSystem.removeFile(piece.path)
        }
    }

    private var partPath: Path { path.appending("data.part") }
    private var journalPath: Path { path.appending("journal") }

    private func names() throws -> [String] {
        do {
            return try fileSystem.contents(of: path)
        } catch let error as FileError where error.code == .notFound {
            return []
        }
    }

    /// The journal of the part file; an empty one if it is absent, damaged, or of other bytes.
    private func recorded(of digest: SHA256Digest) throws -> TransferJournal {
        let size = try fileSystem.status(at: partPath, followLinks: false)?.size ?? 0
        if let found = try TransferJournal.read(journalPath, in: fileSystem), found.digest == digest,
            found.held.ranges.last?.upperBound ?? 0 <= size
        {
            return found
        }
        return TransferJournal(digest: digest, location: "")
    }

    /// Brings the missing bytes of a piece to the part file and to the disk.
    private func put(_ piece: Landed, _ missing: RangeSet<UInt64>, isFirst: Bool) throws {
        if isFirst, piece.range.lowerBound == 0, try adopt(piece) { return }
        let source = try fileSystem.open(piece.path, .read)
        let part = try fileSystem.open(partPath, .readWrite)
        let start = piece.range.lowerBound
        for range in missing.ranges {
            let inPiece = range.lowerBound - start..<range.upperBound - start
            let count = try FilePump(fileSystem: fileSystem).read(source, inPiece) { bytes, offset in
                try fileSystem.write(part, bytes, at: start + offset)
            }
            guard count == UInt64(range.count) else { throw FileError(errno: EIO, doing: "read", path: piece.path) }
        }
        try fileSystem.synchronize(part)
    }

    /// Makes a piece the part file, without copying it; `false` where the disk has no hard links. The piece keeps its
    /// name until its bytes are recorded.
    private func adopt(_ piece: Landed) throws -> Bool {
        try fileSystem.removeFile(partPath)
        do {
            try fileSystem.makeHardLink(at: partPath, to: piece.path)
        } catch {
            return false
        }
        try fileSystem.synchronize(try fileSystem.open(partPath, .update))
        try fileSystem.synchronizeFolder(path)
        return true
    }
}
