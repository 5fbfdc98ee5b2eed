import Foundation
import HearthBase

/// Everything a ``TransferSession`` decides by, as a value: who fetches what from where, and what a failure means.
struct SessionState: Sendable {
    /// What is known of the server.
    enum Mode: Sendable {
        /// Nothing yet: one connection finds out.
        case probing
        /// It sends parts: several connections pay.
        case parts
        /// It sends the whole file and nothing else.
        case whole
    }

    /// One request to be made.
    struct Job: Sendable {
        let worker: Int
        let source: Int
        /// The bytes that are wanted.
        let range: Range<UInt64>
        /// What is asked for: the wanted bytes, or all from the first on; `nil` for the whole file.
        let asked: Range<UInt64>?
        /// Whether the request leaves the end open.
        let isOpen: Bool
        let epoch: Int
        let began: Duration
    }

    /// What a worker does next.
    enum Step: Sendable {
        case fetch(Job)
        case wait(Duration)
        /// Nothing to do now, but somebody may turn out to need help.
        case idle
        case end
    }

    private(set) var mode = Mode.probing
    private(set) var schedule: PieceSchedule
    var board: SourceBoard
    private var governor: ConnectionGovernor
    private var limiter: RateLimiter?
    private var patience = Patience()
    var restarts = RestartRecord()
    /// Counts restarts: bytes that were asked for before the last one are void.
    private(set) var epoch = 0
    /// Whether everything is being begun again.
    private var isRestarting = false
    private var isIndivisible = false
    private var workers: Set<Int> = []
    private var lastWorker = 0
    /// The bytes of the file that are here or on their way to the disk.
    private(set) var here: UInt64
    /// The most there ever were: only what goes beyond is progress.
    private var highWater: UInt64
    /// The bytes of body taken, those included that were thrown away later.
    private(set) var fetched: UInt64 = 0
    /// Why nothing more will come.
    private(set) var failure: (any Error)?
    private var corruption = CorruptionRecord()
    /// What is wanted again, but not before a time.
    private var postponed: [(range: Range<UInt64>, until: Duration)] = []
    private let size: FileSize
    private let hasDigest: Bool
    private let hasIndex: Bool
    private let tuning: TransferTuning

    init(_ request: TransferRequest, held: RangeSet<UInt64>, tuning: TransferTuning, isRaced: Bool = true) {
        size = request.size
        hasDigest = request.digest != nil
        hasIndex = request.index != nil
        self.tuning = tuning
        schedule = PieceSchedule(
            total: request.size.exact, limit: request.size.limit, held: held, tuning: tuning)
        board = SourceBoard(count: request.locations.count, mayMix: isRaced && request.digest != nil)
        governor = ConnectionGovernor(tuning)
        limiter = request.bytesPerSecond.map(RateLimiter.init)
        here = held.byteCount
        highWater = here
    }

    /// Whether every byte is here.
    var isComplete: Bool { schedule.isComplete && postponed.isEmpty }
    /// Whether no byte is here, nor on its way in parts.
    var hasNothing: Bool { here == 0 && mode != .parts }
    /// The connections there are.
    var connections: Int { schedule.assignments.count }

    // MARK: Workers

    /// The connections there should be.
    var capacity: Int { mode == .parts ? governor.target : 1 }

    /// Whether bytes are coming over other connections than this job's.
    var isFlowing: Bool { mode == .parts && fetched > 0 }

    /// New workers to be started now.
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

    mutating func ended(_ worker: Int) { workers.remove(worker) }

    /// At once, so that the next one who asks does not leave for the same reason.
    private mutating func end(_ worker: Int) -> Step {
        ended(worker)
        return .end
    }

    /// What a worker without a job does next.
    mutating func next(_ worker: Int, at now: Duration) throws -> Step {
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
            // Our own pauses are short and part of not getting anywhere; longer ones somebody asked for.
            if pause > RetrySchedule.longest { patience.reset(at: now + pause) }
            return .wait(pause)
        case .none(let error): throw error
        }
        let isCut = !isIndivisible && (mode == .parts || (mode == .probing && size.estimate > tuning.pieceLength))
        guard let range = schedule.assign(worker, whole: !isCut, at: now) else {
            board.left(source, bytes: 0, after: .zero)
            return .idle
        }
        // What is missing may also be a hole: then its end is told.
        let isOpen = range.upperBound == schedule.total || (schedule.total == nil && !isCut)
        let end = isOpen && schedule.total == nil ? UInt64.max : range.upperBound
        let isWhole = range.lowerBound == 0 && isOpen
        corruption.asked(range, of: source)
        return .fetch(
            Job(
                worker: worker, source: source, range: range, asked: isWhole ? nil : range.lowerBound..<end,
                isOpen: isOpen, epoch: epoch, began: now))
    }

    // MARK: Responses

    /// A response to a job has come: the whole file or the part that was asked for.
    mutating func opened(_ job: Job, isPart: Bool, total: UInt64?) {
        guard job.epoch == epoch else { return }
        if let total { schedule.settle(total: total) }
        if isPart {
            mode = .parts
        } else if mode != .parts {
            mode = .whole
            schedule.widen(job.worker)
        }
    }

    /// Whether a job's answer may be used: nothing has begun again since it was asked for.
    func isCurrent(_ job: Job) -> Bool { job.epoch == epoch }

    /// Takes a server's word that the file ends where a job begins; `false` where that cannot be.
    mutating func ends(_ job: Job) -> Bool {
        guard isCurrent(job), schedule.total == nil, here == job.range.lowerBound else { return false }
        schedule.settle(total: here)
        return true
    }

    /// Whether to begin again because a place does not know the bytes it was asked for: once, and not where bytes would stay
    /// or be lost in vain. A place that has sent parts knows some of them; proven bytes stay, and the same would be asked again.
    mutating func mayAskFromStart(_ job: Job) -> Bool {
        guard !board.hasOther(than: job.source), !hasDigest || (mode != .parts && !hasIndex) else { return false }
        return restarts.takeUnsatisfied(job.source)
    }

    /// Lets a job begin everything again, and nobody take another one until that is done; `false` if somebody else was first.
    mutating func claimRestart(_ job: Job) -> Bool {
        guard isCurrent(job) else { return false }
        epoch += 1
        isRestarting = true
        return true
    }

    /// Has the file fetched in one request only: nothing would tell whether parts of it belong together.
    mutating func forbidParts() { isIndivisible = true }

    /// Everything begins again; the bytes of `held` stay. With a worker, it gets the whole file, which is coming already.
    mutating func restart(held: RangeSet<UInt64>, total: UInt64?, giving worker: Int?, at now: Duration) {
        epoch += 1
        isRestarting = false
        // What was to come later is among what is missing now.
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

    /// The end of a body whose length nobody had told is the end of the file, unless everything has begun again meanwhile.
    mutating func settle(total: UInt64, by job: Job) {
        guard isCurrent(job) else { return }
        schedule.settle(total: total)
    }

    /// Takes bytes a job received.
    /// - Returns: how many of them are wanted, the pause that the limit on the rate asks for, and whether more connections
    ///   may be used than before.
    mutating func received(_ count: Int, by job: Job, at now: Duration) -> (accepted: Int, pause: Duration, grows: Bool)
    {
        let accepted = job.epoch == epoch ? schedule.accept(job.worker, count, at: now) : 0
        here += UInt64(accepted)
        fetched += UInt64(accepted)
        if here > highWater {
            highWater = here
            restarts.progressed()
            board.progressed(job.source)
        }
        patience.received(accepted, at: now)
        let pause = limiter?.take(count, at: now) ?? .zero
        if pause > .zero { patience.reset(at: now + pause) }
        let grows = limiter == nil && governor.received(count, inUse: connections, at: now)
        return (accepted, pause, grows)
    }

    /// Whether a job has brought all it still should.
    func isDone(_ job: Job) -> Bool {
        guard job.epoch == epoch, let assignment = schedule.assignments[job.worker] else { return true }
        return assignment.left.isEmpty
    }

    /// A job ended, well or not, after so many bytes.
    mutating func finish(_ job: Job, bytes: UInt64, at now: Duration) {
        board.left(job.source, bytes: bytes, after: now - job.began)
    }

    /// What a job did not bring is missing again, for anybody.
    mutating func release(_ job: Job, at now: Duration) { schedule.release(job.worker, at: now) }

    // MARK: Failures

    /// Nothing more will come; the first reason counts.
    mutating func fail(_ error: any Error) { failure = failure ?? error }

    /// A place breaks the rules: without another one that is the end, even if the bytes should be all there.
    mutating func refuse(_ job: Job, _ error: any Error) {
        if !board.hasOther(than: job.source) { fail(error) }
    }

    /// A job failed in a way that time, or another place, may mend.
    /// - Returns: the pause before this worker goes on.
    /// - Throws: the error, where there is no use in going on.
    mutating func failed(
        _ job: Job, _ error: any Error, requested: Duration?, jitter: Double, at now: Duration
    ) throws -> Duration {
        let isTemporary = (error as? any HearthFailure)?.disposition == .tryLater
        guard isTemporary else {
            board.giveUp(job.source, error)
            // Without anybody else this is the end, whatever else is on its way.
            if !board.hasAny { throw error }
            return .zero
        }
        if (error as? TransferError)?.code == .serverBusy { governor.refused(at: now) }
        if patience.isExhausted(afterFailureAt: now) { throw error }
        let pause = board.failed(job.source, error, requested: requested, jitter: jitter, at: now)
        return pause
    }

    /// A chunk of the index turned out to be wrong: it is wanted again, from somebody else if there is anybody, else after
    /// a pause.
    mutating func wanted(_ range: Range<UInt64>, chunk: Int, error: @autoclosure () -> any Error, at now: Duration) {
        here -= min(here, UInt64(range.count))
        let sources = corruption.sources(of: range)
        if !sources.isEmpty, !sources.contains(where: { board.hasOther(than: $0) }) {
            postponed.append((range, now + Download.corruptionPause))
        } else {
            schedule.putBack(range)
        }
        // If it came from several places, one of them brings all of it the next time: then it is known whose fault it is.
        let trusted = sources.count > 1 ? sources.max() : nil
        for source in sources where source != trusted {
            if board.hasOther(than: source) { board.hold(source, for: Download.corruptionPause, at: now) }
            if trusted == nil, corruption.blame(source), board.hasOther(than: source) { board.giveUp(source, error()) }
        }
        if !sources.isEmpty, corruption.isBeyondHope(chunk) { failure = error() }
    }
}

/// Who brought which bytes, and how often they were wrong.
struct CorruptionRecord: Sendable {
    private var origins: [(range: Range<UInt64>, source: Int)] = []
    private var blames: [Int: Int] = [:]
    private var attempts: [Int: Int] = [:]

    /// Notes that bytes were asked of a source.
    mutating func asked(_ range: Range<UInt64>, of source: Int) { origins.append((range, source)) }

    /// Whoever was asked last for bytes that are wrong; nobody if they were here before.
    func sources(of range: Range<UInt64>) -> Set<Int> {
        var left = RangeSet(range)
        var found: Set<Int> = []
        for origin in origins.reversed() where !left.isEmpty {
            guard left.ranges.contains(where: { $0.overlaps(origin.range) }) else { continue }
            found.insert(origin.source)
            left.remove(contentsOf: origin.range)
        }
        return found
    }

    /// Notes a wrong chunk of a source; `true` once it has sent too many to be asked again.
    mutating func blame(_ source: Int) -> Bool {
        blames[source, default: 0] += 1
        return blames[source, default: 0] >= Download.maximumAttempts
    }

    /// Notes a failed attempt at a chunk; `true` once there were too many.
    mutating func isBeyondHope(_ chunk: Int) -> Bool {
        attempts[chunk, default: 0] += 1
        return attempts[chunk, default: 0] >= Download.maximumAttempts
    }
}

/// Whether a transfer as a whole gets anywhere: connections that each bring a trickle and are replaced would go on for ever.
///
/// Only time in which somebody tried counts. The clock goes on while the machine sleeps or the process is stopped; what broke
/// meanwhile is tried again.
struct Patience: Sendable {
    static let window = Duration.seconds(120)
    static let minimumBytes = 8 * StallWatch.minimumBytes
    /// What a longer time without bytes and without a failure counts as: whoever tries hears of one or the other before.
    static let longestGap = Duration.seconds(30)

    private var start = Duration.zero
    /// The last time anything happened.
    private var last = Duration.zero
    private var bytes = 0

    mutating func received(_ count: Int, at now: Duration) {
        note(now)
        bytes += count
        if bytes >= Self.minimumBytes { reset(at: now) }
    }

    /// Begins again, after a wait that somebody asked for.
    mutating func reset(at now: Duration) {
        start = max(start, now)
        last = max(last, start)
        bytes = 0
    }

    /// Takes a failed attempt; returns whether it was the last one.
    mutating func isExhausted(afterFailureAt now: Duration) -> Bool {
        note(now)
        return isExhausted(at: now)
    }

    private mutating func note(_ now: Duration) {
        start += max(.zero, now - last - Self.longestGap)
        last = max(last, now)
    }

    func isExhausted(at now: Duration) -> Bool { now - start >= Self.window }
}
