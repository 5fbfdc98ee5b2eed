import Foundation
import HearthBase

/// The decisions of a ``TransferSession``, as a value: which worker fetches which bytes from which source, and what a
/// failure leads to.
struct SessionState: Sendable {
    /// Whether the server can send parts of the file.
    enum Mode: Sendable {
        /// Not known yet: one connection finds out.
        case probing
        /// It sends parts: several connections pay.
        case parts
        /// It sends the whole file only.
        case whole
    }

    /// One request to make.
    struct Job: Sendable {
        let worker: Int
        package let source: Int
        /// The wanted bytes.
        package let range: Range<UInt64>
        /// The requested bytes: the wanted ones, or all from the first of them on; `nil` for the whole file.
        package let asked: Range<UInt64>?
        /// Whether the request leaves the end open.
        package let isOpen: Bool
        let epoch: Int
        let began: Duration
    }

    /// The next step of a worker.
    package enum Step: Sendable {
        case fetch(Job)
        case wait(Duration)
        /// Nothing to do now, but another worker may need help later.
        case idle
        case end
    }

    private(set) var mode = Mode.probing
    private(set) var schedule: PieceSchedule
    package var board: SourceBoard
    private var governor: ConnectionGovernor
    private var limiter: RateLimiter?
    private var budget: RetryBudget
    var restarts = RestartRecord()
    /// Counts restarts: bytes requested before the last one are void.
    private(set) var epoch = 0
    /// Set during a restart: no worker gets a job then.
    private var isRestarting = false
    private var isIndivisible = false
    private var workers: Set<Int> = []
    /// The workers whose connection has made the file longer.
    private var fruitful: Set<Int> = []
    private var lastWorker = 0
    /// The number of bytes received of the file, written or not.
    package private(set) var here: UInt64
    /// The highest value of `here`: only bytes beyond it are progress.
    private var highWater: UInt64
    /// The body bytes received, including those removed later.
    package private(set) var fetched: UInt64 = 0
    /// The error that ends the transfer.
    package private(set) var failure: (any Error)?
    private var origins = ByteOrigins()
    /// Wrong bytes to fetch again, but not before a time.
    private var postponed: [(range: Range<UInt64>, until: Duration)] = []
    private let size: FileSize
    private let hasDigest: Bool
    private let hasIndex: Bool
    private let tuning: TransferTuning

    init(
        _ request: TransferRequest, held: RangeSet<UInt64>, tuning: TransferTuning, isRaced: Bool = true,
        budget: RetryBudget = RetryBudget()
    ) {
        self.budget = budget
        size = request.size
        hasDigest = request.digest != nil
        hasIndex = request.index != nil
        self.tuning = tuning
        schedule = PieceSchedule(
            total: request.size.exact, limit: request.size.limit, held: held, tuning: tuning)
        board = SourceBoard(
            count: request.locations.count, mayMix: isRaced && request.digest != nil,
            hasMirror: request.hasMirror)
        governor = ConnectionGovernor(tuning)
        limiter = request.bytesPerSecond.map(RateLimiter.init)
        here = held.byteCount
        highWater = here
    }

    /// Whether every byte was received.
    package var isComplete: Bool { schedule.isComplete && postponed.isEmpty }
    /// Whether no byte was received, and no parts are arriving.
    var hasNothing: Bool { here == 0 && mode != .parts }
    /// The number of connections in use.
    package var connections: Int { schedule.assignments.count }

    // MARK: Workers

    /// The number of connections wanted.
    var capacity: Int { mode == .parts ? governor.target : 1 }

    /// Whether parts of the file have already come.
    var isFlowing: Bool { mode == .parts && fetched > 0 }

    /// The new workers to start now.
    mutating func newWorkers() -> [Int] {
        guard failure == nil, !isRestarting else { return [] }
        let bytes = schedule.missing.byteCount
        let pieces = bytes / tuning.pieceLength + (bytes % tuning.pieceLength == 0 ? 0 : 1)
        let waiting = workers.isEmpty && !postponed.isEmpty ? 1 : 0
        let count = min(capacity - workers.count, max(Int(clamping: pieces), waiting))
        guard count > 0 else { return [] }
        let new = (1...count).map { lastWorker + $0 }
        lastWorker += count
        workers.formUnion(new)
        return new
    }

    package mutating func ended(_ worker: Int) { workers.remove(worker) }

    /// Ends a worker at once, so that the next worker that asks does not end for the same reason.
    private mutating func end(_ worker: Int) -> Step {
        ended(worker)
        return .end
    }

    /// The next step of a worker without a job.
    package mutating func next(_ worker: Int, at now: Duration) throws -> Step {
        if let failure { throw failure }
        guard !isRestarting else { return end(worker) }
        for (range, _) in postponed.filter({ $0.until <= now }) { schedule.putBack(range) }
        postponed.removeAll { $0.until <= now }
        guard workers.count <= capacity else { return end(worker) }
        if !schedule.hasUnassigned, let next = postponed.map(\.until).min() { return .wait(next - now) }
        guard schedule.hasUnassigned || connections > 0 else { return end(worker) }
        let source: Int
        switch board.choose(at: now) {
        case .use(let chosen): source = chosen
        case .wait(let pause):
            guard schedule.hasUnassigned else { return end(worker) }
            // Our own pauses are short and count as lack of progress; only a server asks for longer ones.
            if pause > RetrySchedule.longest { budget.standstill.reset(at: now + pause) }
            return .wait(pause)
        case .none(let error): throw error
        }
        let isCut = !isIndivisible && (mode == .parts || (mode == .probing && size.estimate > tuning.pieceLength))
        guard let range = schedule.assign(worker, whole: !isCut, at: now) else {
            board.left(source, bytes: 0, after: .zero)
            return .idle
        }
        // The missing bytes may be a gap before held ones: then the request names its end.
        let isOpen = range.upperBound == schedule.total || (schedule.total == nil && !isCut)
        let end = isOpen && schedule.total == nil ? UInt64.max : range.upperBound
        let isWhole = range.lowerBound == 0 && isOpen
        origins.asked(range, of: source)
        fruitful.remove(worker)
        return .fetch(
            Job(
                worker: worker, source: source, range: range, asked: isWhole ? nil : range.lowerBound..<end,
                isOpen: isOpen, epoch: epoch, began: now))
    }

    // MARK: Responses

    /// Notes the response to a job: the whole file or the requested part.
    package mutating func opened(_ job: Job, isPart: Bool, total: UInt64?) {
        guard job.epoch == epoch else { return }
        if let total { schedule.settle(total: total) }
        if isPart {
            mode = .parts
        } else if mode != .parts {
            mode = .whole
            schedule.widen(job.worker)
        }
    }

    /// Whether a job's response may be used: there was no restart since the request.
    package func isCurrent(_ job: Job) -> Bool { job.epoch == epoch }

    /// Accepts a server's statement that the file ends where a job begins; `false` if that cannot be.
    mutating func ends(_ job: Job) -> Bool {
        guard isCurrent(job), schedule.total == nil, here == job.range.lowerBound else { return false }
        schedule.settle(total: here)
        return true
    }

    /// Whether to restart because a source lacks the requested bytes: once for each source, and only if no other is
    /// left. With a digest, a restart is useless after the source sent parts, or if an index keeps proven bytes: the
    /// same bytes would be requested again.
    mutating func mayAskFromStart(_ job: Job) -> Bool {
        guard !board.hasOther(than: job.source), !hasDigest || (mode != .parts && !hasIndex) else { return false }
        return restarts.takeUnsatisfied(job.source)
    }

    /// Begins a restart for a job, and blocks new jobs until it is done; `false` if another job was first.
    mutating func claimRestart(_ job: Job) -> Bool {
        guard isCurrent(job) else { return false }
        epoch += 1
        isRestarting = true
        return true
    }

    /// Fetches the file in one request only, because nothing tells whether parts belong together.
    mutating func forbidParts() { isIndivisible = true }

    /// Completes a restart that keeps the bytes of `held`. A given worker already receives the whole file; then
    /// nothing is kept.
    mutating func restart(held: RangeSet<UInt64>, total: UInt64?, giving worker: Int?, at now: Duration) {
        epoch += 1
        isRestarting = false
        // Postponed bytes are among the missing ones now.
        postponed = []
        here = held.byteCount
        mode = worker == nil ? .probing : .whole
        let length = total ?? size.exact
        if let worker {
            schedule = PieceSchedule(total: length, limit: size.limit, held: RangeSet(), tuning: tuning)
            schedule.rewind(worker, limit: size.limit, at: now)
            here = 0
        } else {
            schedule = PieceSchedule(total: length, limit: size.limit, held: held, tuning: tuning)
        }
    }

    /// Takes the end of a body of unknown length as the end of the file, unless there was a restart.
    package mutating func settle(total: UInt64, by job: Job) {
        guard isCurrent(job) else { return }
        schedule.settle(total: total)
    }

    /// Counts bytes that a job received.
    /// - Returns: how many of them are wanted, the pause that the rate limit asks for, and whether the number of
    ///   wanted connections changed.
    package mutating func received(_ count: Int, by job: Job, at now: Duration) -> (
        accepted: Int, pause: Duration, grows: Bool
    ) {
        let accepted = job.epoch == epoch ? schedule.accept(job.worker, count, at: now) : 0
        here += UInt64(accepted)
        fetched += UInt64(accepted)
        if here > highWater {
            highWater = here
            restarts.progressed()
            board.progressed(job.source)
            fruitful.insert(job.worker)
        }
        budget.standstill.received(accepted, at: now)
        let pause = limiter?.take(count, at: now) ?? .zero
        if pause > .zero { budget.standstill.reset(at: now + pause) }
        let grows = limiter == nil && governor.received(count, inUse: connections, at: now)
        return (accepted, pause, grows)
    }

    /// Whether a job has no bytes left to fetch.
    package func isDone(_ job: Job) -> Bool {
        guard job.epoch == epoch, let assignment = schedule.assignments[job.worker] else { return true }
        return assignment.left.isEmpty
    }

    /// Notes the end of a job, successful or not, and its bytes.
    package mutating func finish(_ job: Job, bytes: UInt64, at now: Duration) {
        board.left(job.source, bytes: bytes, after: now - job.began)
    }

    /// Makes a job's remaining bytes missing again, for any worker.
    package mutating func release(_ job: Job, at now: Duration) { schedule.release(job.worker, at: now) }

    // MARK: Failures

    /// Ends the transfer with an error; the first one counts.
    package mutating func fail(_ error: any Error) { failure = failure ?? error }

    /// Ends the transfer if a source broke the rules and no other is left, even if every byte was received.
    package mutating func refuse(_ job: Job, _ error: any Error) {
        if !board.hasOther(than: job.source) { fail(error) }
    }

    /// Handles the failure of a job.
    /// - Returns: the pause before this worker continues.
    /// - Throws: the error, if neither a retry nor another source can help.
    package mutating func failed(
        _ job: Job, _ error: any Error, requested: Duration?, jitter: Double, at now: Duration
    ) throws -> Duration {
        let isTemporary = (error as? any HearthFailure)?.disposition == .tryLater
        guard isTemporary else {
            board.giveUp(job.source, error)
            // Without another source the transfer ends, even if other connections still bring bytes.
            if !board.hasAny { throw error }
            return .zero
        }
        if (error as? TransferError)?.code == .serverBusy { governor.refused(at: now) }
        if budget.standstill.isExhausted(afterFailureAt: now) { throw error }
        // Another connection's failure may have counted this one's bytes already.
        if fruitful.remove(job.worker) != nil { board.progressed(job.source) }
        return board.failed(job.source, error, requested: requested, jitter: jitter, at: now, &budget)
    }

    /// Requests a wrong chunk again: at once if another source is left, otherwise after a pause.
    package mutating func wanted(
        _ range: Range<UInt64>, chunk: Int, error: @autoclosure () -> any Error, at now: Duration
    ) {
        here -= min(here, UInt64(range.count))
        let sources = origins.sources(of: range)
        if !sources.isEmpty, !sources.contains(where: { board.hasOther(than: $0) }) {
            postponed.append((range, now + RetryBudget.corruptionPause))
        } else {
            schedule.putBack(range)
        }
        // If several sources sent the chunk, one of them sends all of it next time: that shows which one is wrong.
        let trusted = sources.count > 1 ? sources.max() : nil
        for source in sources where source != trusted || board.isMirror(source) {
            if board.isMirror(source) {
                board.giveUp(source, error())
                continue
            }
            if board.hasOther(than: source) { board.hold(source, for: RetryBudget.corruptionPause, at: now) }
            guard trusted == nil, !budget.wrongChunk(from: source), board.hasOther(than: source) else { continue }
            board.giveUp(source, error())
        }
        if !sources.isEmpty, !budget.wrongChunk(chunk) { failure = error() }
    }
}
