import HearthBase

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Memory in which bytes wait until there are enough of them to be written at once, aligned as a disk wants it.
///
/// `@unchecked Sendable`: it owns its memory, which one thread has at a time. Who fills and writes it hands it over to who
/// hashes it.
final class WriteBlock: @unchecked Sendable {
    static let size = 512 << 10

    let memory: UnsafeMutableRawBufferPointer

    /// Memory straight from the system: the heap would keep what one thread frees from what another one asks for.
    /// - Throws: `FileError` where there is none; `path` is the file it was for.
    init(for path: Path) throws {
        let start = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start, start != MAP_FAILED else {
            throw FileError(errno: errno, doing: "find memory for", path: path)
        }
        memory = UnsafeMutableRawBufferPointer(start: start, count: Self.size)
    }

    deinit { munmap(memory.baseAddress, memory.count) }
}

/// Blocks to be used again: memory the system has to find first costs more than filling it.
final class WriteBlockPool: Sendable {
    /// What is kept for the next time; more than that is rarely under way.
    private static let kept = 16

    private let path: Path
    private let free = Locked<[WriteBlock]>([])

    init(for path: Path) { self.path = path }

    func take() throws -> WriteBlock {
        if let block = free.withLock({ $0.popLast() }) { return block }
        return try WriteBlock(for: path)
    }

    func give(_ block: WriteBlock) {
        free.withLock { if $0.count < Self.kept { $0.append(block) } }
    }
}

/// Bytes of one connection that follow one another, on their way to the disk.
struct WriteRun: Sendable {
    let block: WriteBlock
    /// Where the block's first byte belongs in the file: its address and its place are aligned alike.
    private let base: UInt64
    /// What of the file is here.
    private(set) var bytes: Range<UInt64>
    /// When the first of them came.
    let began: Duration

    init(at offset: UInt64, in block: WriteBlock, at now: Duration) {
        self.block = block
        began = now
        base = offset / Self.alignment * Self.alignment
        bytes = offset..<offset
    }

    private static let alignment = UInt64(OpenFile.uncachedAlignment)

    var isFull: Bool { bytes.upperBound - base == UInt64(WriteBlock.size) }

    /// Takes bytes that follow; returns how many of them fit.
    mutating func append(_ source: Slice<UnsafeRawBufferPointer>) -> Int {
        let filled = Int(bytes.upperBound - base)
        let count = min(source.count, WriteBlock.size - filled)
        let target = UnsafeMutableRawBufferPointer(rebasing: block.memory[filled..<filled + count])
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(count)))
        bytes = bytes.lowerBound..<bytes.upperBound + UInt64(count)
        return count
    }

    /// The memory of a part of ``bytes``.
    func memory(_ part: Range<UInt64>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: block.memory[Int(part.lowerBound - base)..<Int(part.upperBound - base)])
    }

    /// What of a part can go past the page cache: whole multiples of the alignment, behind `cachedEnd`.
    static func uncachedPart(of part: Range<UInt64>, behind cachedEnd: UInt64) -> Range<UInt64>? {
        let first = max(part.lowerBound, cachedEnd)
        let start = first / alignment * alignment + (first % alignment == 0 ? 0 : alignment)
        let end = part.upperBound / alignment * alignment
        return start < end ? start..<end : nil
    }
}

/// Gathers what several connections bring into runs of a block's size.
struct WriteGatherer: Sendable {
    /// The runs that may wait, for memory's sake. More come of many slow connections, and are left behind by connections that
    /// went on elsewhere.
    private static let most = 8

    let pool: WriteBlockPool
    /// By where the next byte of each belongs.
    private var runs: [UInt64: WriteRun] = [:]

    init(for path: Path) { pool = WriteBlockPool(for: path) }

    /// How many bytes wait.
    var byteCount: UInt64 { runs.values.reduce(0) { $0 + UInt64($1.bytes.count) } }

    /// Takes bytes in; returns the runs that are to be written now: full ones, and those that have waited for `patience`.
    mutating func add(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64, now: Duration, patience: Duration
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
        for (end, run) in runs where now - run.began >= patience {
            runs[end] = nil
            ready.append(run)
        }
        return ready
    }

    /// Everything that waits, in the file's order.
    mutating func takeAll() -> [WriteRun] {
        defer { runs = [:] }
        return runs.values.sorted { $0.bytes.lowerBound < $1.bytes.lowerBound }
    }
}

/// Whether writing past the page cache pays on this disk.
///
/// On a quick disk the processor is what a transfer waits for, and a copy less of every byte counts. A slow one is better
/// served by the system, which puts what it writes in the disk's order.
struct UncachedTrial: Sendable {
    /// The bytes that are judged at a time.
    private static let window = 32 << 20
    /// What a disk has to take in, in bytes a second: a share of what the rest of a transfer can do.
    private static let worthwhileRate = 200e6

    private var bytes = 0
    private var seconds = 0.0
    private(set) var pays = true

    /// Notes what one write took.
    mutating func wrote(_ count: Int, in duration: Duration) {
        bytes += count
        seconds += duration.seconds
        guard bytes >= Self.window else { return }
        if Double(bytes) < seconds * Self.worthwhileRate { pays = false }
        (bytes, seconds) = (0, 0)
    }
}
