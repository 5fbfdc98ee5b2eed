import Foundation
import HearthBase

/// Hashes a growing file on a thread of its own: the whole of it from its first byte on, and single chunks as they are
/// completed in any order. It reads what is on its way to the disk, which is still in memory then, so there is no second
/// pass, and a resumed file is read again at the speed of its disk.
final class PartVerifier: Sendable {
    /// A chunk of the index: its number, its place, and what it has to hash to.
    struct Check: Sendable {
        let chunk: Int
        let bytes: Range<UInt64>
        let expected: SHA256Digest
    }

    fileprivate enum Job {
        case check(Check)
        case hash(Range<UInt64>)
        case reset
        case digest(CheckedContinuation<SHA256Digest, any Error>)
    }

    fileprivate struct State {
        var checks: [Check] = []
        var isBusy = false
        var mustReset = false
        /// The bytes from the first on that may be hashed, and those that have been.
        var frontier: UInt64 = 0
        var position: UInt64 = 0
        var failure: (any Error)?
        var isClosed = false
        var settling: [CheckedContinuation<Void, any Error>] = []
        var digesting: CheckedContinuation<SHA256Digest, any Error>?

        var isSettled: Bool { checks.isEmpty && !isBusy && !mustReset && position == frontier }
    }

    /// The bytes that may wait to be hashed before whoever writes has to wait, too.
    private static let maximumLag: UInt64 = 32 << 20
    private static let maximumChecks = 8
    fileprivate static let step = 256 << 10

    private let fileSystem: any FileSystem
    private let file: OpenFile
    private let ledger: Locked<PartLedger>
    private let wanted: @Sendable (_ chunk: Int, Range<UInt64>) -> Void
    private let condition = NSCondition()
    // Touched with `condition` locked only.
    private nonisolated(unsafe) var state = State()

    /// - Parameter wanted: told on the verifier's thread of a chunk that is wrong and has to be fetched again.
    init(
        _ file: OpenFile, fileSystem: any FileSystem, ledger: Locked<PartLedger>,
        wanted: @escaping @Sendable (_ chunk: Int, Range<UInt64>) -> Void
    ) {
        self.file = file
        self.fileSystem = fileSystem
        self.ledger = ledger
        self.wanted = wanted
    }

    /// Starts the thread, which keeps the verifier alive until ``close()``.
    func start() {
        Thread { [self] in
            Thread.current.name = "hearth.hash"
            run()
        }.start()
    }

    /// Ends the thread after what it is doing; whoever waits is told of a cancellation.
    func close() { change { $0.isClosed = true } }

    /// Has chunks checked that are written.
    func check(_ checks: [Check]) {
        if !checks.isEmpty { change { $0.checks += checks } }
    }

    /// Lets the hash of the whole go on up to here.
    func extend(to frontier: UInt64) { change { $0.frontier = max($0.frontier, frontier) } }

    /// Forgets what is waiting and hashes the whole again, up to here. Waits for the piece that is being read.
    func restart(at frontier: UInt64) {
        change { state in
            while state.isBusy && !state.isClosed { condition.wait() }
            state.checks = []
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
            || state.checks.count > Self.maximumChecks, state.failure == nil, !state.isClosed
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
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.step, alignment: 4096)
        defer { buffer.deallocate() }
        var hasher = SHA256Hasher()
        while let job = nextJob() {
            do {
                switch job {
                case .check(let check):
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

    /// Reads a range step by step; `false` if the file ends within it.
    private func read(
        _ range: Range<UInt64>, _ buffer: UnsafeMutableRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = min(buffer.count, Int(range.upperBound - offset))
            let slice = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            let count = try fileSystem.read(file, into: slice, at: offset)
            guard count > 0 else { return false }
            body(UnsafeRawBufferPointer(rebasing: slice[..<count]))
            offset += UInt64(count)
        }
        return true
    }
}

extension PartVerifier.State {
    fileprivate mutating func nextReading() -> PartVerifier.Job? {
        if !checks.isEmpty {
            isBusy = true
            return .check(checks.removeFirst())
        }
        guard position < frontier else { return nil }
        isBusy = true
        return .hash(position..<min(frontier, position + UInt64(PartVerifier.step)))
    }
}
