import Foundation
import HearthBase

/// A buffer that gathers bytes for one large write, aligned for writes past the page cache.
///
/// `@unchecked Sendable`: it owns its memory, which one thread uses at a time. The writer passes it on to the hasher.
final class WriteBlock: @unchecked Sendable {
    package static let size = 512 << 10

    package let memory: UnsafeMutableRawBufferPointer

    /// Allocates from the system, because the heap would not reuse memory that another thread freed.
    /// - Throws: `FileError` if there is no memory; `path` is the file it was for.
    init(for path: Path) throws {
        let start = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start, start != MAP_FAILED else {
            throw FileError(errno: errno, doing: "find memory for", path: path)
        }
        memory = UnsafeMutableRawBufferPointer(start: start, count: Self.size)
    }

    deinit { munmap(memory.baseAddress, memory.count) }
}

/// Reuses blocks, because getting memory from the system costs more than filling it.
final class WriteBlockPool: Sendable {
    /// The most blocks that are kept; more are rarely in use.
    private static let kept = 16

    private let path: Path
    private let free = Locked<[WriteBlock]>([])

    init(for path: Path) { self.path = path }

    package func take() throws -> WriteBlock {
        if let block = free.withLock({ $0.popLast() }) { return block }
        return try WriteBlock(for: path)
    }

    func give(_ block: WriteBlock) {
        free.withLock { if $0.count < Self.kept { $0.append(block) } }
    }
}

/// Consecutive bytes of one connection, to be written together.
struct WriteRun: Sendable {
    let block: WriteBlock
    /// The file offset of the block's first byte; it is aligned like the byte's address.
    private let base: UInt64
    /// The range of the file in this run.
    package private(set) var bytes: Range<UInt64>
    /// When the first bytes came.
    let began: Duration

    init(at offset: UInt64, in block: WriteBlock, at now: Duration) {
        self.block = block
        began = now
        base = offset / Self.alignment * Self.alignment
        bytes = offset..<offset
    }

    private static let alignment = UInt64(OpenFile.uncachedAlignment)

    var isFull: Bool { bytes.upperBound - base == UInt64(WriteBlock.size) }

    /// Appends bytes; returns how many of them fit.
    package mutating func append(_ source: Slice<UnsafeRawBufferPointer>) -> Int {
        let filled = Int(bytes.upperBound - base)
        let count = min(source.count, WriteBlock.size - filled)
        let target = UnsafeMutableRawBufferPointer(rebasing: block.memory[filled..<filled + count])
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(count)))
        bytes = bytes.lowerBound..<bytes.upperBound + UInt64(count)
        return count
    }

    /// The memory of a part of ``bytes``.
    package func memory(_ part: Range<UInt64>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: block.memory[Int(part.lowerBound - base)..<Int(part.upperBound - base)])
    }

    /// The part of a range that can bypass the page cache: aligned, and after `cachedEnd`.
    static func uncachedPart(of part: Range<UInt64>, behind cachedEnd: UInt64) -> Range<UInt64>? {
        let first = max(part.lowerBound, cachedEnd)
        let start = first / alignment * alignment + (first % alignment == 0 ? 0 : alignment)
        let end = part.upperBound / alignment * alignment
        return start < end ? start..<end : nil
    }
}

/// Gathers the bytes of several connections into runs of a block's size.
struct WriteGatherer: Sendable {
    /// The most runs that may wait, to save memory. Many slow connections, or runs left unfinished, could exceed it.
    private static let most = 8

    let pool: WriteBlockPool
    /// The waiting runs, by the file offset of their next byte.
    private var runs: [UInt64: WriteRun] = [:]

    init(for path: Path) { pool = WriteBlockPool(for: path) }

    /// Adds bytes; returns the runs to write now: full ones, those that have waited for `limit`, and one if too
    /// many wait.
    package mutating func add(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64, now: Duration, limit: Duration
    ) throws -> [WriteRun] {
        var ready: [WriteRun] = []
        var rest = bytes[...]
        var next = offset
        while !rest.isEmpty {
            var run = try runs.removeValue(forKey: next) ?? WriteRun(at: next, in: pool.take(), at: now)
            let count = run.append(rest)
            rest = rest.dropFirst(count)
            next += UInt64(count)
            if run.isFull {
                ready.append(run)
            } else if let other = runs.updateValue(run, forKey: next) {
                ready.append(other)
            }
        }
        if runs.count > Self.most, let longest = runs.max(by: { $0.value.bytes.count < $1.value.bytes.count }) {
            runs[longest.key] = nil
            ready.append(longest.value)
        }
        for (end, run) in runs where now - run.began >= limit {
            runs[end] = nil
            ready.append(run)
        }
        return ready
    }

    /// Removes and returns all waiting runs, in the file's order.
    mutating func takeAll() -> [WriteRun] {
        defer { runs = [:] }
        return runs.values.sorted { $0.bytes.lowerBound < $1.bytes.lowerBound }
    }
}

/// Measures whether writing past the page cache pays on this disk.
///
/// On a fast disk the processor limits a transfer, so one copy less of every byte counts. A slow disk does better with
/// the cache, because the system orders the writes.
struct UncachedTrial: Sendable {
    /// The bytes that are measured at a time.
    private static let window = 32 << 20
    /// The bytes a second that a disk must reach: a share of the speed of the rest of a transfer.
    private static let worthwhileRate = 200e6

    private var bytes = 0
    private var seconds = 0.0
    private(set) var pays = true

    /// Notes the duration of one write.
    mutating func wrote(_ count: Int, in duration: Duration) {
        bytes += count
        seconds += duration.seconds
        guard bytes >= Self.window else { return }
        if Double(bytes) < seconds * Self.worthwhileRate { pays = false }
        (bytes, seconds) = (0, 0)
    }
}
