import Foundation
import HearthBase

/// Hashes a growing file on its own thread: each chunk as it becomes whole or, without an index, the whole from its
/// first byte on.
///
/// A chunk whose bytes come in order is hashed from memory; any other is read again once it is whole. A whole file is
/// read on its way to the disk, while it is still in memory. So only a resumed file takes a second pass, at the speed
/// of its disk.
final class PartVerifier: Sendable {
    /// A chunk to check: its number, place and expected digest.
    struct Check: Sendable {
        package let chunk: Int
        package let bytes: Range<UInt64>
        package let expected: SHA256Digest
    }

    fileprivate enum Job {
        case check(Check)
        case take(WriteRun, [PartLedger.Slice], isWhole: Bool)
        case forget
        case hash(Range<UInt64>)
        case reset
        case digest(CheckedContinuation<SHA256Digest, any Error>)
    }

    fileprivate struct State {
        /// Written bytes and whole chunks, in the order in which they were written.
        var queue: [Job] = []
        /// Whether some bytes may have been written past the page cache.
        var readsUncached = false
        var isBusy = false
        var mustReset = false
        /// How far the whole may be hashed (`frontier`) and is hashed (`position`).
        var frontier: UInt64 = 0
        var position: UInt64 = 0
        var failure: (any Error)?
        var isClosed = false
        var settling: [CheckedContinuation<Void, any Error>] = []
        var digesting: CheckedContinuation<SHA256Digest, any Error>?

        var isSettled: Bool { queue.isEmpty && !isBusy && !mustReset && position == frontier }
    }

    /// The bytes that may wait to be hashed before writing has to wait, too.
    private static let maximumLag: UInt64 = 32 << 20
    private static let longestQueue = 6
    fileprivate static let step = 256 << 10

    private let fileSystem: any FileSystem
    private let file: OpenFile
    /// The file opened to bypass the page cache, if it is written so. Reading through the cache could then load a
    /// stale page, which the system takes for a damaged file.
    private let uncached: OpenFile?
    private let pool: WriteBlockPool
    private let ledger: Locked<PartLedger>
    private let wanted: @Sendable (_ chunk: Int, Range<UInt64>) -> Void
    private let condition = NSCondition()
    // Touched with `condition` locked only.
    private nonisolated(unsafe) var state = State()

    /// - Parameter wanted: called on the verifier's thread for each wrong chunk, which has to be fetched again.
    init(
        _ file: OpenFile, uncached: OpenFile?, pool: WriteBlockPool, fileSystem: any FileSystem,
        ledger: Locked<PartLedger>,
        wanted: @escaping @Sendable (_ chunk: Int, Range<UInt64>) -> Void
    ) {
        self.file = file
        self.uncached = uncached
        self.pool = pool
        self.fileSystem = fileSystem
        self.ledger = ledger
        self.wanted = wanted
    }

    /// Starts the thread, which keeps the verifier alive until ``close()``.
    package func start() {
        Thread { [self] in
            ThreadName.current = "hearth.hash"
            run()
        }.start()
    }

    /// Ends the thread after its current reading step. Waiting tasks get a `CancellationError`, and writers wait for
    /// room no longer. Bytes written later are checked when the file is opened again.
    package func close() { change { $0.isClosed = true } }

    /// Queues the checks of written chunks.
    package func check(_ checks: [Check]) {
        if !checks.isEmpty { change { $0.queue += checks.map(Job.check) } }
    }

    /// Takes over the memory of written bytes, to hash them.
    package func take(_ run: WriteRun, _ slices: [PartLedger.Slice], isWhole: Bool) {
        change { state in
            // The thread hashes no more bytes, so their memory is not kept.
            guard state.failure == nil, !state.isClosed else { return }
            state.queue.append(.take(run, slices, isWhole: isWhole))
            state.readsUncached = true
        }
    }

    /// Allows hashing of the whole up to `frontier`.
    func extend(to frontier: UInt64) { change { $0.frontier = max($0.frontier, frontier) } }

    /// Clears the queue; if the hash covers bytes beyond `frontier`, it begins again. Waits for the step in progress.
    func restart(at frontier: UInt64) {
        change { state in
            while state.isBusy && !state.isClosed { condition.wait() }
            state.queue = [.forget]
            state.frontier = frontier
            // A hash of bytes that stay is still valid.
            guard state.position > frontier else { return }
            state.position = 0
            state.mustReset = true
        }
    }

    /// How far the whole is hashed.
    var position: UInt64 { change { $0.position } }

    /// Blocks the caller's thread while too many written bytes wait to be hashed.
    func waitForRoom() {
        condition.lock()
        defer { condition.unlock() }
        while state.frontier - min(state.frontier, state.position) > Self.maximumLag
            || state.queue.count > Self.longestQueue, state.failure == nil, !state.isClosed
        {
            condition.wait()
        }
    }

    /// Waits until every queued chunk is checked, and the whole is hashed up to the frontier.
    /// - Throws: the error of reading the file; `CancellationError` after ``close()``.
    package func settle() async throws {
        try await withCheckedThrowingContinuation { continuation in change { $0.settling.append(continuation) } }
    }

    /// The digest of the bytes up to ``position``, once no job waits. Call it once, at the end.
    /// - Throws: as ``settle()``.
    package func digest() async throws -> SHA256Digest {
        try await withCheckedThrowingContinuation { continuation in change { $0.digesting = continuation } }
    }

    /// Changes the state, wakes waiting threads and resumes waiting tasks.
    @discardableResult
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        condition.lock()
        let result = body(&state)
        let error = state.failure ?? (state.isClosed ? CancellationError() : nil)
        var settled: [CheckedContinuation<Void, any Error>] = []
        var digesting: CheckedContinuation<SHA256Digest, any Error>?
        if error != nil || state.isSettled { swap(&settled, &state.settling) }
        if error != nil { swap(&digesting, &state.digesting) }
        condition.broadcast()
        condition.unlock()
        for waiter in settled { waiter.resume(with: error.map { .failure($0) } ?? .success(())) }
        if let error { digesting?.resume(throwing: error) }
        return result
    }

    // MARK: On the thread

    private func run() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.step, alignment: OpenFile.uncachedAlignment)
        defer { buffer.deallocate() }
        var hasher = SHA256Hasher()
        var chunks = ChunkHashes()
        while let job = nextJob() {
            do {
                switch job {
                case .take(let run, let slices, let isWhole):
                    for slice in slices {
                        let bytes = isWhole ? run.memory(slice.bytes) : nil
                        chunks.update(slice.chunk, start: slice.start, bytes, at: slice.bytes)
                    }
                    pool.give(run.block)
                    change { $0.isBusy = false }
                case .forget:
                    chunks = ChunkHashes()
                    change { $0.isBusy = false }
                case .check(let check):
                    if let found = chunks.digest(check.chunk, endingAt: check.bytes.upperBound) {
                        end(check, isRight: found == check.expected)
                        continue
                    }
                    var single = SHA256Hasher()
                    let isWhole = try read(check.bytes, buffer) { single.update($0) }
                    let found = single.finalize()
                    end(check, isRight: isWhole && found == check.expected)
                case .hash(let bytes):
                    let isWhole = try read(bytes, buffer) { hasher.update($0) }
                    guard isWhole else { throw FileError(errno: EIO, doing: "read", path: file.path) }
                    change { state in
                        state.position = bytes.upperBound
                        state.isBusy = false
                    }
                case .reset:
                    hasher = SHA256Hasher()
                    change { $0.isBusy = false }
                case .digest(let continuation):
                    var ended = SHA256Hasher()
                    swap(&ended, &hasher)
                    continuation.resume(returning: ended.finalize())
                }
            } catch {
                change { state in
                    state.failure = error
                    state.isBusy = false
                }
            }
        }
    }

    private func end(_ check: Check, isRight: Bool) {
        let (bad, frontier) = ledger.withLock { ledger in
            let bad = ledger.checked(check.chunk, isRight: isRight)
            return (bad, ledger.frontier)
        }
        if let bad { wanted(check.chunk, bad) }
        change { state in
            state.frontier = max(state.frontier, frontier)
            state.isBusy = false
        }
    }

    /// The next job. Chunks come first, because a wrong one has to be fetched again.
    private func nextJob() -> Job? {
        condition.lock()
        defer { condition.unlock() }
        while !state.isClosed {
            if state.mustReset {
                state.mustReset = false
                state.isBusy = true
                return .reset
            }
            if state.failure == nil, let job = state.nextReading() { return job }
            if state.isSettled, let waiter = state.digesting {
                state.digesting = nil
                return .digest(waiter)
            }
            condition.wait()
        }
        return nil
    }

    private var isClosed: Bool {
        condition.lock()
        defer { condition.unlock() }
        return state.isClosed
    }

    /// Reads a range step by step; `false` if the file ends within it.
    private func read(
        _ range: Range<UInt64>, _ buffer: UnsafeMutableRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard !isClosed else { throw CancellationError() }
            let found = try read(offset, atMost: Int(clamping: range.upperBound - offset), buffer)
            guard !found.isEmpty else { return false }
            body(found)
            offset += UInt64(found.count)
        }
        return true
    }

    /// Reads at least one of the wanted bytes; none at the end of the file.
    private func read(
        _ offset: UInt64, atMost wanted: Int, _ buffer: UnsafeMutableRawBufferPointer
    ) throws -> UnsafeRawBufferPointer {
        if let uncached, change({ $0.readsUncached }) {
            let skipped = Int(offset % UInt64(OpenFile.uncachedAlignment))
            do {
                let count = try fileSystem.read(uncached, into: buffer, at: offset - UInt64(skipped))
                return UnsafeRawBufferPointer(rebasing: buffer[min(skipped, count)..<min(count, skipped + wanted)])
            } catch let error as FileError where error.isSystemError(EINVAL) {
                // This file system refuses uncached access, so nothing was written in that way either.
            }
        }
        let slice = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, wanted)])
        return UnsafeRawBufferPointer(rebasing: slice[..<(try fileSystem.read(file, into: slice, at: offset))])
    }
}

/// The hashes of chunks whose bytes come in order; the others are read again when they are whole.
private struct ChunkHashes {
    /// A class, because a dictionary cannot hold a noncopyable hasher.
    private final class Hash {
        var hasher = SHA256Hasher()
        var end: UInt64

        init(at start: UInt64) { end = start }

        func digest() -> SHA256Digest {
            var ended = SHA256Hasher()
            swap(&ended, &hasher)
            return ended.finalize()
        }
    }

    private var hashes: [Int: Hash] = [:]

    /// Hashes bytes of a chunk that begins at `start`; `nil` leaves the chunk to be read from the file.
    mutating func update(_ chunk: Int, start: UInt64, _ bytes: UnsafeRawBufferPointer?, at range: Range<UInt64>) {
        if range.lowerBound == start { hashes[chunk] = Hash(at: start) }
        guard let bytes, let hash = hashes[chunk], hash.end == range.lowerBound else {
            hashes[chunk] = nil
            return
        }
        hash.hasher.update(bytes)
        hash.end = range.upperBound
    }

    /// The digest of a chunk ending at `end`, if all its bytes came in order. Call it once.
    mutating func digest(_ chunk: Int, endingAt end: UInt64) -> SHA256Digest? {
        guard let hash = hashes.removeValue(forKey: chunk), hash.end == end else { return nil }
        return hash.digest()
    }
}

extension PartVerifier.State {
    fileprivate mutating func nextReading() -> PartVerifier.Job? {
        if !queue.isEmpty {
            isBusy = true
            return queue.removeFirst()
        }
        guard position < frontier else { return nil }
        isBusy = true
        return .hash(position..<min(frontier, position + UInt64(PartVerifier.step)))
    }
}
