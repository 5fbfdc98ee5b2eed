import Foundation
import HearthBase
import HearthHTTP

/// The network half of one transfer: as many connections as pay, until the file is whole or there is no use in going on.
///
/// ``SessionState`` decides; this carries out. One task per connection takes job after job; another starts them as the
/// number that is wanted grows.
final class TransferSession: Sendable {
    let request: TransferRequest
    let http: any HTTPClient
    let time: TimeSource
    let part: PartFile
    let addresses: SourceAddresses
    let reporter: ProgressReporter
    let stopwatch: Stopwatch
    private let tuning: TransferTuning
    let state: Locked<SessionState>
    /// The strong entity tags the places gave, and what the part file was told last.
    let tags = Locked(EntityTags())
    private let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// How often an idle connection looks whether another one has fallen behind, before it goes.
    private static let idleLooks = 20

    init(
        request: TransferRequest, http: any HTTPClient, time: TimeSource, part: PartFile, addresses: SourceAddresses,
        state: Locked<SessionState>, tuning: TransferTuning, reporter: ProgressReporter
    ) {
        self.request = request
        self.http = http
        self.time = time
        self.part = part
        self.addresses = addresses
        self.state = state
        self.tuning = tuning
        self.reporter = reporter
        stopwatch = time.stopwatch()
    }

    /// The bytes of body taken from the network so far.
    var fetchedBytes: UInt64 { state.withLock { $0.fetched } }

    /// Fetches what is missing; returns the file's length.
    func run() async throws -> UInt64 {
        guard !request.locations.isEmpty else {
            throw TransferError(
                .missing, "nobody says where \(request.label) is", context: ErrorContext(file: request.label))
        }
        let first = request.locations[0]
        if let tag = await part.entityTag(of: first.withoutQuery) { tags.withLock { $0.note(tag, of: 0) } }
        try await withThrowingDiscardingTaskGroup { group in
            // Whoever is still there at the end waits for work that will not come.
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

    /// A chunk that was here turned out to be wrong.
    func want(_ range: Range<UInt64>, chunk: Int) {
        let now = stopwatch.elapsed
        Log.write(.warning, "delivery.transfer", "\(request.label): chunk \(chunk) is damaged and comes again")
        state.withLock { state in
            state.wanted(
                range, chunk: chunk, error: FileTransfer.corrupted(request, expected: request.digest, found: nil),
                at: now)
        }
        noteChange()
    }

    /// Writes bytes a job received, and says so if they were the last.
    func write(_ bytes: [UInt8], at offset: UInt64, epoch: Int) async throws {
        try await part.write(bytes, at: offset, epoch: epoch)
        if state.withLock({ $0.isComplete }) { noteChange() }
    }

    /// Something happened that may ask for other connections.
    func noteChange() { changed.yield() }

    /// Whether every byte is here, and every chunk of it checked.
    /// - Throws: why it will never be.
    private func isWhole() async throws -> Bool {
        func ask() throws -> Bool {
            try state.withLock { state in
                if let failure = state.failure { throw failure }
                return state.isComplete
            }
        }
        // The last bytes may still be on their way to the disk; whoever writes them says so.
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
            let now = stopwatch.elapsed
            switch try state.withLock({ try $0.next(worker, at: now) }) {
            case .fetch(let job):
                looks = 0
                try await perform(job)
            case .wait(let pause):
                try await rest(pause)
            case .idle:
                guard let interval = tuning.stragglerInterval, looks < Self.idleLooks else { return }
                looks += 1
                // Cancelled once the others have brought everything.
                do { try await time.sleep(for: interval) } catch { return }
            case .end:
                return
            }
        }
    }

    private func rest(_ pause: Duration) async throws {
        Log.write(.info, "delivery.transfer", "\(request.label): next attempt after \(pause)")
        try await part.record()
        try await time.sleep(for: pause)
    }

    /// One job, and what its failure means for the next ones.
    private func perform(_ job: SessionState.Job) async throws {
        let before = fetchedBytes
        var requested: Duration?
        let outcome: Result<Void, any Error>
        do {
            try await fetch(job, &requested)
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        let now = stopwatch.elapsed
        let bytes = fetchedBytes - before
        state.withLock { $0.finish(job, bytes: bytes, at: now) }
        // Only now, and after the pause, may somebody else take what is left.
        defer {
            let now = stopwatch.elapsed
            state.withLock { $0.release(job, at: now) }
        }
        guard case .failure(let error) = outcome else { return }
        guard error is any HearthFailure, !(error is FileError), !(error is DeliveryError) else { throw error }
        Log.write(.info, "delivery.transfer", "\(request.label): \(error)")
        let isUnknown = request.digest == nil && tags.withLock({ $0.tag(of: job.source) }) == nil
        if isUnknown, state.withLock({ $0.claimRestart(job) }) {
            // Nothing would tell whether the rest belongs to the same file.
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
