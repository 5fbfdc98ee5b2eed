import HearthBase

/// Decides which failures of a file are retried, and after which pause. A transfer has no other retry policy.
///
/// | failure | answer |
/// | --- | --- |
/// | a source fails without progress | again after at most 0.5, 1 and 2 s; at the fourth time in a row it is given up |
/// | a source fails after it made the file longer | again after at most 0.5 s |
/// | all connections together bring almost nothing for two minutes | the transfer ends |
/// | the whole file has a wrong digest (SHA-256 or git blob) | again after 1.5 s, three attempts in all |
/// | a chunk has a wrong digest | again, from another source or after 1.5 s, three attempts in all |
/// | a source sent three wrong chunks | it is given up |
package struct RetryBudget: Sendable {
    /// How often the same bytes are fetched before they count as corrupted at their source.
    static let maximumAttempts = 3
    /// The pause after wrong bytes.
    static let corruptionPause = Duration.milliseconds(1500)

    /// Ends a transfer whose connections bring almost nothing.
    var standstill = Standstill()
    private var places: [Int: RetrySchedule] = [:]
    /// The number of whole files that had wrong bytes.
    private(set) var wrongFiles = 0
    private var wrongChunks: [Int: Int] = [:]
    private var wrongChunksByPlace: [Int: Int] = [:]

    /// A budget without failures so far.
    package init() {}

    /// Counts a whole file with wrong bytes; returns the pause before it is fetched again, `nil` to give up.
    mutating func wrongFile() -> Duration? {
        let count = wrongFiles + 1
        // Every byte came, so the connections work: earlier failures no longer count.
        self = RetryBudget()
        wrongFiles = count
        return count < Self.maximumAttempts ? Self.corruptionPause : nil
    }

    /// Counts a chunk with wrong bytes; `true` if it may be fetched again.
    mutating func wrongChunk(_ chunk: Int) -> Bool {
        wrongChunks[chunk, default: 0] += 1
        return wrongChunks[chunk, default: 0] < Self.maximumAttempts
    }

    /// Counts a wrong chunk from one source; `true` if that source may be asked again.
    mutating func wrongChunk(from place: Int) -> Bool {
        wrongChunksByPlace[place, default: 0] += 1
        return wrongChunksByPlace[place, default: 0] < Self.maximumAttempts
    }

    /// Counts a failed connection; returns the pause before the source is asked again, `nil` to give it up.
    /// - Parameters:
    ///   - madeProgress: whether the source made the file longer since its last failure.
    ///   - jitter: a random number in [0, 1).
    package mutating func failed(_ place: Int, madeProgress: Bool, jitter: Double) -> Duration? {
        places[place, default: RetrySchedule()].delay(afterFailureWith: madeProgress, jitter: jitter)
    }
}

/// Detects a transfer without progress. Otherwise connections that each bring a trickle and are replaced would go on
/// for ever.
///
/// Only time spent trying counts. The clock runs while the machine sleeps or the process is stopped; connections that
/// broke meanwhile are retried.
struct Standstill: Sendable {
    package static let window = Duration.seconds(120)
    static let minimumBytes = 8 * StallWatch.minimumBytes
    /// The most that a time without bytes and failures counts: an active connection reports one of them sooner.
    static let longestGap = Duration.seconds(30)

    private var start = Duration.zero
    /// The time of the last bytes or failure.
    private var last = Duration.zero
    private var bytes = 0

    package mutating func received(_ count: Int, at now: Duration) {
        note(now)
        bytes += count
        if bytes >= Self.minimumBytes { reset(at: now) }
    }

    /// Begins again, after a wait for a rate limit or a server's request.
    package mutating func reset(at now: Duration) {
        start = max(start, now)
        last = max(last, start)
        bytes = 0
    }

    /// Counts a failed attempt; returns whether to give up.
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
