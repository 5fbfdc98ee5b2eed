import Foundation
import HearthBase
import HearthHTTP

/// The network side of one transfer: runs as many connections as pay, until the file is whole or the transfer fails.
///
/// ``SessionState`` decides, and this type acts. One task per connection takes job after job; one more task starts
/// these as more connections are wanted.
final class TransferSession: Sendable {
    package let request: TransferRequest
    package let http: any HTTPClient
    package let time: TimeSource
    package let part: PartFile
    package let addresses: SourceAddresses
    package let reporter: ProgressReporter
    private let connections: ConnectionBudget.Share
    package let stopwatch: Stopwatch
    private let tuning: TransferTuning
    package let state: Locked<SessionState>
    /// The strong entity tags of the sources, and the facts last passed to the part file.
    let tags = Locked(EntityTags())
    private let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// How often an idle connection checks whether another one has fallen behind, before it ends.
    private static let idleLooks = 20

    init(
        request: TransferRequest, http: any HTTPClient, time: TimeSource, part: PartFile, addresses: SourceAddresses,
        state: Locked<SessionState>, tuning: TransferTuning, reporter: ProgressReporter, connections: ConnectionBudget
    ) {
        self.request = request
        self.http = http
        self.time = time
        self.part = part
        self.addresses = addresses
        self.state = state
        self.tuning = tuning
        self.reporter = reporter
        self.connections = ConnectionBudget.Share(of: connections)
        stopwatch = time.stopwatch()
    }

    /// The body bytes received so far.
    package var fetchedBytes: UInt64 { state.withLock { $0.fetched } }

    /// Fetches the missing bytes; returns the file's length.
    package func run() async throws -> UInt64 {
        guard !request.locations.isEmpty else {
            throw TransferError(
                .missing, "\(request.label) has no download URL", context: ErrorContext(file: request.label))
        }
        let first = request.locations[0]
        if let tag = await part.entityTag(of: first.withoutQuery) { tags.withLock { $0.note(tag, of: 0) } }
        try await withThrowingDiscardingTaskGroup { group in
            // Workers left at the end wait for jobs that will not come.
            defer { group.cancelAll() }
            var changes = changes.makeAsyncIterator()
            while try await !isWhole() {
                for worker in state.withLock({ $0.newWorkers() }) {
                    group.addTask { await self.work(worker) }
                }
                await changes.next()
                try Task.checkCancellation()
            }
        }
        return state.withLock { $0.schedule.total ?? 0 }
    }

    /// Requests a wrong chunk again.
    func want(_ range: Range<UInt64>, chunk: Int) {
        let now = stopwatch.elapsed
        Log.write(.warning, "\(request.label): chunk \(chunk) is damaged and comes again")
        state.withLock { state in
            state.wanted(
                range, chunk: chunk, error: FileTransfer.corrupted(request, (request.digest?.hex, nil)),
                at: now)
        }
        noteChange()
    }

    /// Writes bytes that a job received; wakes ``run()`` after the last ones.
    package func write(_ bytes: [UInt8], at offset: UInt64, epoch: Int) async throws {
        try await part.write(bytes, at: offset, epoch: epoch)
        if state.withLock({ $0.isComplete }) { noteChange() }
    }

    /// Wakes ``run()``, which may start connections.
    func noteChange() { changed.yield() }

    /// Whether every byte is written and every chunk checked.
    /// - Throws: the error that ends the transfer.
    private func isWhole() async throws -> Bool {
        func ask() throws -> Bool {
            try state.withLock { state in
                if let failure = state.failure { throw failure }
                return state.isComplete
            }
        }
        // The last bytes may not be written yet; the worker that writes them calls `noteChange()`.
        guard try ask() else { return false }
        try await part.flush()
        guard part.heldCount == state.withLock({ $0.schedule.total }) else { return false }
        try await part.settle()
        return try ask()
    }

    private func work(_ worker: Int) async {
        do {
            try await workOn(worker)
        } catch {
            state.withLock { $0.fail(error) }
        }
        state.withLock { $0.ended(worker) }
        noteChange()
    }

    private func workOn(_ worker: Int) async throws {
        var looks = 0
        while true {
            guard let connection = await connections.take(onWait: reportQueued) else { return }
            let now = stopwatch.elapsed
            switch try state.withLock({ try $0.next(worker, at: now) }) {
            case .fetch(let job):
                looks = 0
                try await perform(job, over: connection)
            case .wait(let pause):
                connection.release()
                try await rest(pause)
            case .idle:
                connection.release()
                guard let interval = tuning.stragglerInterval, looks < Self.idleLooks else { return }
                looks += 1
                // Cancelled once the other workers have fetched everything.
                do { try await time.sleep(for: interval) } catch { return }
            case .end:
                return
            }
        }
    }

    /// Reports that the transfer waits for its first connection.
    private func reportQueued() {
        let (isBegun, total) = state.withLock { ($0.fetched > 0 || $0.connections > 0, $0.schedule.total) }
        if !isBegun { reporter.report(.queued, holding: part.heldCount, of: total) }
    }

    private func rest(_ pause: Duration) async throws {
        Log.write(.info, "\(request.label): next attempt after \(pause)")
        try await part.record()
        try await time.sleep(for: pause)
    }

    /// Runs one job and handles its failure.
    private func perform(_ job: SessionState.Job, over connection: ConnectionBudget.Connection) async throws {
        let before = fetchedBytes
        var requested: Duration?
        let outcome: Result<Void, any Error>
        do {
            try await fetchBytes(of: job, &requested)
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        connection.release()
        let now = stopwatch.elapsed
        let bytes = fetchedBytes - before
        state.withLock { $0.finish(job, bytes: bytes, at: now) }
        // Only after the pause may another worker take over the rest.
        defer {
            let now = stopwatch.elapsed
            state.withLock { $0.release(job, at: now) }
        }
        guard case .failure(let error) = outcome else { return }
        guard error is any HearthFailure, !(error is FileError) else { throw error }
        Log.write(.info, "\(request.label): \(error)")
        let isUnknown = request.digest == nil && tags.withLock({ $0.tag(of: job.source) }) == nil
        if isUnknown, state.withLock({ $0.claimRestart(job) }) {
            // Without a digest or a tag, nothing tells whether the rest belongs to the same file.
            try await part.restart()
            state.withLock { $0.restart(held: RangeSet(), total: nil, giving: nil, at: now) }
        }
        let jitter = Double.random(in: 0..<1)
        let pause = try state.withLock { state in
            try state.failed(job, error, requested: requested, jitter: jitter, at: now)
        }
        if pause > .zero { try await rest(pause) }
    }
}
