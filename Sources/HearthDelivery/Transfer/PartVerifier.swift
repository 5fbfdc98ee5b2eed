import Foundation
import HearthBase

/// Hashes a growing file on a thread of its own: the whole of it from its first byte on, and single chunks as they are
/// completed in any order.
///
/// Chunks are hashed from the memory they are written from, as far as their bytes come in order; another chunk is read again
/// once it is whole. The whole is read while it is on its way to the disk, and still in memory. So there is no second pass,
/// and only a resumed file is read again, at the speed of its disk.
final class PartVerifier: Sendable {
    /// A chunk of the index: its number, its place, and what it has to hash to.
    struct Check: Sendable {
        let chunk: Int
        let bytes: Range<UInt64>
        let expected: SHA256Digest
    }

    /// Bytes that have just been written, and the chunks they are part of.
    fileprivate struct Taking {
        let run: WriteRun
        let slices: [PartLedger.Slice]
        /// Whether the file holds just these bytes: some may have stayed as they were.
        let isWhole: Bool
    }

    fileprivate enum Job {
        case check(Check)
        case take(Taking)
        case forget
        case hash(Range<UInt64>)
        case reset
        case digest(CheckedContinuation<SHA256Digest, any Error>)
    }

    fileprivate struct State {
        /// Bytes, chunks that are whole, in the order in which they were written.
        var queue: [Job] = []
        /// Whether somebody writes past the page cache.
        var readsUncached = false
        var isBusy = false
        var mustReset = false
        /// The bytes from the first on that may be hashed, and those that have been.
        var frontier: UInt64 = 0
        var position: UInt64 = 0
        var failure: (any Error)?
        var isClosed = false
        var settling: [CheckedContinuation<Void, any Error>] = []
        var digesting: CheckedContinuation<SHA256Digest, any Error>?

        var isSettled: Bool { queue.isEmpty && !isBusy && !mustReset && position == frontier }
    }

    /// The bytes that may wait to be hashed before whoever writes has to wait, too.
    private static let maximumLag: UInt64 = 32 << 20
    private static let longestQueue = 6
    fileprivate static let step = 256 << 10

    private let fileSystem: any FileSystem
    private let file: OpenFile
    /// Where something is written past the page cache, it has to be read so, too: a page that comes into the cache at that
    /// moment would be a stale one, and the system takes that for a damaged file.
    private let uncached: OpenFile?
    private let pool: WriteBlockPool
    private let ledger: Locked<PartLedger>
    private let wanted: @Sendable (_ chunk: Int, Range<UInt64>) -> Void
    private let condition = NSCondition()
    // Touched with `condition` locked only.
    private nonisolated(unsafe) var state = State()

    /// - Parameter wanted: told on the verifier's thread of a chunk that is wrong and has to be fetched again.
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
    func start() {
        Thread { [self] in
            ThreadName.current = "hearth.hash"
            run()
        }.start()
    }

    /// Ends the thread within a step of its reading; whoever waits is told of a cancellation, and nobody waits for room any
    /// more. What is written from now on is checked by whoever opens the file next.
    func close() { change { $0.isClosed = true } }

    /// Has chunks checked that are written.
    func check(_ checks: [Check]) {
        if !checks.isEmpty { change { $0.queue += checks.map(Job.check) } }
    }

    /// Takes over the memory of bytes that were written.
    func take(_ run: WriteRun, _ slices: [PartLedger.Slice], isWhole: Bool) {
        change { state in
            // Nobody would hash them any more, and memory is not to be held for that.
            guard state.failure == nil, !state.isClosed else { return }
            state.queue.append(.take(Taking(run: run, slices: slices, isWhole: isWhole)))
            state.readsUncached = true
        }
    }

    /// Lets the hash of the whole go on up to here.
    func extend(to frontier: UInt64) { change { $0.frontier = max($0.frontier, frontier) } }

    /// Forgets what is waiting and hashes the whole again, up to here. Waits for the piece that is being read.
    func restart(at frontier: UInt64) {
        change { state in
            while state.isBusy && !state.isClosed { condition.wait() }
            state.queue = [.forget]
            state.frontier = frontier
            // What was hashed of bytes that stay is still true.
            guard state.position > frontier else { return }
            state.position = 0
            state.mustReset = true
        }
    }

    /// The bytes from the first on that are hashed.
    var position: UInt64 { change { $0.position } }

    /// Waits on the caller's thread while much has been written that is not hashed yet.
    func waitForRoom() {
        condition.lock()
        defer { condition.unlock() }
        while state.frontier - min(state.frontier, state.position) > Self.maximumLag
            || state.queue.count > Self.longestQueue, state.failure == nil, !state.isClosed
        {
            condition.wait()
        }
    }

    /// Waits until every chunk given so far is checked and the whole is hashed as far as it may be.
    /// - Throws: what reading the file threw; `CancellationError` once it is closed.
    func settle() async throws {
        try await withCheckedThrowingContinuation { continuation in change { $0.settling.append(continuation) } }
    }

    /// What the bytes up to ``position`` hash to, once nothing is waiting. To be asked once, at the end.
    /// - Throws: as ``settle()``.
    func digest() async throws -> SHA256Digest {
        try await withCheckedThrowingContinuation { continuation in change { $0.digesting = continuation } }
    }

    /// Changes the state, tells everybody who waits for it on a thread, and answers whoever waits in a task.
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
                case .take(let taking):
                    for slice in taking.slices {
                        let bytes = taking.isWhole ? taking.run.memory(slice.bytes) : nil
                        chunks.update(slice.chunk, start: slice.start, bytes, at: slice.bytes)
                    }
                    pool.give(taking.run.block)
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

    /// Chunks first: somebody may have to fetch them again.
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

    /// Reads some of the bytes that are wanted, at least one; none at the end of the file.
    private func read(
        _ offset: UInt64, atMost wanted: Int, _ buffer: UnsafeMutableRawBufferPointer
    ) throws -> UnsafeRawBufferPointer {
        if let uncached, change({ $0.readsUncached }) {
            let skipped = Int(offset % UInt64(OpenFile.uncachedAlignment))
            do {
                let count = try fileSystem.read(uncached, into: buffer, at: offset - UInt64(skipped))
                return UnsafeRawBufferPointer(rebasing: buffer[min(skipped, count)..<min(count, skipped + wanted)])
            } catch let error as FileError where error.context.found == "errno \(EINVAL)" {
                // This file system does not mean it: then nothing is written so either.
            }
        }
        let slice = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, wanted)])
        return UnsafeRawBufferPointer(rebasing: slice[..<(try fileSystem.read(file, into: slice, at: offset))])
    }
}

/// The hashes of chunks whose bytes come in order; the others are read again when they are whole.
private struct ChunkHashes {
    /// A class: what cannot be copied has no place in a dictionary.
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

    /// Takes bytes of a chunk that begins at `start`; `nil` where nobody knows what the file holds of them.
    mutating func update(_ chunk: Int, start: UInt64, _ bytes: UnsafeRawBufferPointer?, at range: Range<UInt64>) {
        if range.lowerBound == start { hashes[chunk] = Hash(at: start) }
        guard let bytes, let hash = hashes[chunk], hash.end == range.lowerBound else {
            hashes[chunk] = nil
            return
        }
        hash.hasher.update(bytes)
        hash.end = range.upperBound
    }

    /// What a chunk that ends there hashes to, if it all came in order. To be asked once.
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
