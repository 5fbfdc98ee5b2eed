import Foundation
import HearthBase

/// What of a part file is written, whether it has reached the disk or not: good for as long as the system's cache lives, which is
/// longer than any process. So it saves from a `SIGKILL` what the journal does not name yet; after a power cut it says nothing.
///
/// ```
/// hearth written 1
/// <the cache's lifetime>
/// <the file's digest> <device> <inode>
/// <start> <end>           each extent, in order
/// <SHA-256 of the lines above>
/// ```
/// Filled up with spaces to one page of memory, so that it is replaced by a single write that no signal divides.
struct WrittenRecord: Equatable {
    static let byteCount = 4096
    private static let title = "hearth written 1"
    /// The line that ends it.
    private static let endCount = 2 * SHA256Digest.byteCount + 1

    let lifetime: String
    let digest: SHA256Digest
    /// The part file itself: bytes of another one in its place are no bytes of this.
    let part: FileIdentity
    var written = RangeSet<UInt64>()

    /// The page. Of more extents than it holds, the last ones are left out.
    var encoded: [UInt8] {
        var bytes = Array("\(Self.title)\n\(lifetime)\n\(digest.hex) \(part.device) \(part.inode)\n".utf8)
        for range in written.ranges {
            let line = "\(range.lowerBound) \(range.upperBound)\n".utf8
            guard bytes.count + line.count + Self.endCount <= Self.byteCount else { break }
            bytes.append(contentsOf: line)
        }
        bytes.append(contentsOf: "\(SHA256Digest(hashing: bytes).hex)\n".utf8)
        return bytes + [UInt8](repeating: UInt8(ascii: " "), count: max(0, Self.byteCount - bytes.count))
    }

    init(lifetime: String, digest: SHA256Digest, part: FileIdentity) {
        self.lifetime = lifetime
        self.digest = digest
        self.part = part
    }

    /// Reads a page; `nil` for anything but a whole one.
    init?(_ page: some BidirectionalCollection<UInt8>) {
        guard page.count == Self.byteCount, let last = page.lastIndex(of: UInt8(ascii: "\n")) else { return nil }
        let text = String(decoding: page[...last], as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard lines.count >= 4, lines[0] == Self.title, let end = lines.last, !lines[1].isEmpty else { return nil }
        let hashed = lines.dropLast().map { $0 + "\n" }.joined()
        let words = lines[2].split(separator: " ")
        guard SHA256Digest(hex: end) == SHA256Digest(hashing: Array(hashed.utf8)), words.count == 3,
            let digest = SHA256Digest(hex: words[0]), let device = UInt64(words[1]), let inode = UInt64(words[2])
        else { return nil }
        self.init(lifetime: String(lines[1]), digest: digest, part: FileIdentity(device: device, inode: inode))
        var previous: UInt64 = 0
        for line in lines[3..<(lines.count - 1)] {
            let bounds = line.split(separator: " ").compactMap { UInt64($0) }
            guard bounds.count == 2, bounds[0] >= previous, bounds[1] > bounds[0] else { return nil }
            written.insert(contentsOf: bounds[0]..<bounds[1])
            previous = bounds[1]
        }
    }

    /// What a process that was killed had written of a part file, as far as that is known.
    static func find(
        in folder: Path, of part: FileStatus, digest: SHA256Digest?, fileSystem: any FileSystem
    ) throws -> RangeSet<UInt64> {
        let path = folder.appending(name)
        guard let digest, let lifetime = fileSystem.cacheLifetime,
            let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file
        else { return RangeSet() }
        guard status.size == byteCount,
            let record = WrittenRecord(try fileSystem.contents(ofFile: path, limit: byteCount)),
            record.lifetime == lifetime, record.digest == digest, record.part == part.identity,
            record.written.ranges.last?.upperBound ?? 0 <= part.size
        else { return RangeSet() }
        return record.written
    }

    static let name: StaticString = "written"
}

/// Keeps a ``WrittenRecord`` while a part file grows. A disk on which that is not to be had is no worse off: the journal stays.
struct WrittenNotes {
    /// What may be written and not noted.
    private static let interval: UInt64 = 1 << 20

    private let fileSystem: any FileSystem
    private var file: OpenFile?
    private var record: WrittenRecord
    private var unnoted: UInt64 = 0

    /// `nil` for a file without a digest, which nobody could check, and where nobody can say how long the cache lives.
    init?(
        _ request: TransferRequest, of part: OpenFile, in folder: Path, holding held: RangeSet<UInt64>,
        fileSystem: any FileSystem
    ) {
        guard let digest = request.digest, let lifetime = fileSystem.cacheLifetime else { return nil }
        self.fileSystem = fileSystem
        do {
            let identity = try fileSystem.status(of: part).identity
            record = WrittenRecord(lifetime: lifetime, digest: digest, part: identity)
            file = try fileSystem.open(folder.appending(WrittenRecord.name), .readWrite)
        } catch {
            Log.write(.info, "delivery.transfer", "what is written is not noted: \(error)")
            return nil
        }
        note(held)
    }

    /// Bytes were written.
    /// - Parameter held: gives all that are.
    mutating func came(_ count: UInt64, held: () -> RangeSet<UInt64>) {
        unnoted += count
        if unnoted >= Self.interval { note(held()) }
    }

    private mutating func note(_ held: RangeSet<UInt64>) {
        do {
            try replace(with: held)
        } catch {
            // What it says stays true, and gets no longer.
            Log.write(.info, "delivery.transfer", "what is written is noted no more: \(error)")
            file = nil
        }
    }

    /// Takes everything back: what was written may not stay, or is not to be used.
    mutating func clear() throws { try replace(with: RangeSet()) }

    private mutating func replace(with held: RangeSet<UInt64>) throws {
        unnoted = 0
        guard let file else { return }
        record.written = held
        try record.encoded.withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
    }
}
