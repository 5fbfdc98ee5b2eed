import HearthBase

/// What is known of each place a file can be had from, and which one to ask next.
///
/// Places are raced: each is tried, then the one with the best pace per connection is asked, which takes the others in
/// again as soon as it is crowded. A place that failed is left alone for a while, longer each time, and for as long as it
/// asked for with `Retry-After`; after several fruitless rounds, or one failure that time does not mend, it is given up.
struct SourceBoard: Sendable {
    /// Whom to ask now.
    enum Choice {
        case use(Int)
        /// Nobody may be asked for so long.
        case wait(Duration)
        /// Nobody is left; this is why.
        case none(any Error)
    }

    private struct Source {
        var schedule = RetrySchedule()
        var heldUntil = Duration.zero
        /// Until when further failures are the same failure, seen by other connections.
        var roundEnds = Duration.zero
        var madeProgress = false
        var connections = 0
        /// The pace of one connection in bytes a second; `nil` until it was seen.
        var pace: Double?
        var givenUp: (any Error)?
    }

    private var sources: [Source]
    /// Whether bytes of several places may make up one file: only if the file has a digest, and they made up the right one.
    private let mayMix: Bool
    private var lastError: (any Error)?

    init(count: Int, mayMix: Bool) {
        sources = Array(repeating: Source(), count: count)
        self.mayMix = mayMix
    }

    /// The place for one more connection.
    mutating func choose(at now: Duration) -> Choice {
        var usable = sources.indices.filter { sources[$0].givenUp == nil }
        if !mayMix { usable = Array(usable.prefix(1)) }
        let free = usable.filter { sources[$0].heldUntil <= now }
        // One that nobody knows yet first, then the quickest.
        if let unknown = free.first(where: { sources[$0].pace == nil && sources[$0].connections == 0 }) {
            return .use(take(unknown))
        }
        if let best = free.max(by: { (sources[$0].pace ?? 0) < (sources[$1].pace ?? 0) }) {
            return .use(take(best))
        }
        if let first = usable.map({ sources[$0].heldUntil }).min() { return .wait(first - now) }
        return .none(lastError ?? CancellationError())
    }

    /// Whether there is anybody left to ask.
    var hasAny: Bool { sources.contains { $0.givenUp == nil } }

    /// Whether another place could take the part of this one.
    func hasOther(than source: Int) -> Bool {
        mayMix && sources.indices.contains { $0 != source && sources[$0].givenUp == nil }
    }

    private mutating func take(_ source: Int) -> Int {
        sources[source].connections += 1
        return source
    }

    /// A connection ended, well or not, after bringing so many bytes.
    mutating func left(_ source: Int, bytes: UInt64, after time: Duration) {
        sources[source].connections -= 1
        guard bytes > 0, time > .zero else { return }
        let pace = Double(bytes) / time.seconds
        sources[source].pace = sources[source].pace.map { ($0 + pace) / 2 } ?? pace
    }

    /// A place brought bytes that were not here before.
    mutating func progressed(_ source: Int) { sources[source].madeProgress = true }

    /// A place failed in a way that time may mend.
    ///
    /// One connection that breaks while bytes come is that connection's misfortune: only it pauses. A place that brings
    /// nothing, or asks to be left alone, is left alone by everybody.
    /// - Parameters:
    ///   - requested: how long it asked to be left alone.
    ///   - jitter: a random number in [0, 1).
    /// - Returns: the pause before whoever failed asks anybody again.
    mutating func failed(
        _ source: Int, _ error: any Error, requested: Duration?, jitter: Double, at now: Duration
    ) -> Duration {
        lastError = error
        var place = sources[source]
        defer { sources[source] = place }
        // Several connections that fail at once are one failure.
        if now < place.roundEnds { return .zero }
        let madeProgress = place.madeProgress
        place.madeProgress = false
        guard let delay = place.schedule.delay(afterFailureWith: madeProgress, jitter: jitter) else {
            place.givenUp = error
            return .zero
        }
        if madeProgress && requested == nil && !hasOther(than: source) { return delay }
        place.heldUntil = now + delay + (requested ?? .zero)
        place.roundEnds = place.heldUntil
        return .zero
    }

    /// A place is of no use for this file.
    mutating func giveUp(_ source: Int, _ error: any Error) {
        lastError = error
        sources[source].givenUp = error
    }

    /// A place sent bytes that were not the promised ones: it is not asked for a while, others are.
    mutating func hold(_ source: Int, for pause: Duration, at now: Duration) {
        sources[source].heldUntil = max(sources[source].heldUntil, now + pause)
    }
}
