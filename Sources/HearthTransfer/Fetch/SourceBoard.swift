import HearthBase

/// Chooses the source to ask next, by the pace and the failures of each. A source is one of the request's locations.
///
/// Each source is tried, then the one with the best pace per connection is used; when it becomes crowded, its pace
/// falls and others are used again. A source that failed is not asked for a while: longer each time, and for as long
/// as its `Retry-After` says. It is given up after several rounds without progress, or one permanent failure.
struct SourceBoard: Sendable {
    /// The source to ask now.
    enum Choice {
        case use(Int)
        /// No source may be asked for this time.
        case wait(Duration)
        /// No source is left; the error is the last one.
        case none(any Error)
    }

    private struct Source {
        var heldUntil = Duration.zero
        /// The time until which failures of other connections count as the same failure.
        var roundEnds = Duration.zero
        var madeProgress = false
        var connections = 0
        /// The pace of one connection in bytes a second; `nil` until it is measured.
        var pace: Double?
        var givenUp: (any Error)?
    }

    private var sources: [Source]
    /// Whether bytes of several sources may be combined: only if the file has a digest, and no combination was wrong.
    private let mayMix: Bool
    /// Whether the first source is asked alone, until its first failure.
    private let hasMirror: Bool
    private var lastError: (any Error)?

    init(count: Int, mayMix: Bool, hasMirror: Bool = false) {
        sources = Array(repeating: Source(), count: count)
        self.mayMix = mayMix
        self.hasMirror = hasMirror
    }

    /// Whether a source is asked alone, and never again after a failure.
    func isMirror(_ source: Int) -> Bool { hasMirror && source == 0 }

    /// Chooses the source of one more connection.
    package mutating func choose(at now: Duration) -> Choice {
        var usable = sources.indices.filter { sources[$0].givenUp == nil }
        if !mayMix || usable.first.map(isMirror) == true { usable = Array(usable.prefix(1)) }
        let free = usable.filter { sources[$0].heldUntil <= now }
        // An untried source comes first, then the fastest.
        if let unknown = free.first(where: { sources[$0].pace == nil && sources[$0].connections == 0 }) {
            return .use(take(unknown))
        }
        if let best = free.max(by: { (sources[$0].pace ?? 0) < (sources[$1].pace ?? 0) }) {
            return .use(take(best))
        }
        if let first = usable.map({ sources[$0].heldUntil }).min() { return .wait(first - now) }
        return .none(lastError ?? CancellationError())
    }

    /// Whether any source is left.
    var hasAny: Bool { sources.contains { $0.givenUp == nil } }

    /// Whether another source can replace this one.
    func hasOther(than source: Int) -> Bool {
        (mayMix || isMirror(source)) && sources.indices.contains { $0 != source && sources[$0].givenUp == nil }
    }

    private mutating func take(_ source: Int) -> Int {
        sources[source].connections += 1
        return source
    }

    /// Notes the end of a connection, successful or not, and its bytes.
    package mutating func left(_ source: Int, bytes: UInt64, after time: Duration) {
        sources[source].connections -= 1
        guard bytes > 0, time > .zero else { return }
        let pace = Double(bytes) / time.seconds
        sources[source].pace = sources[source].pace.map { ($0 + pace) / 2 } ?? pace
    }

    /// Notes that a source brought new bytes.
    mutating func progressed(_ source: Int) { sources[source].madeProgress = true }

    /// Notes a temporary failure of a source.
    ///
    /// If a connection breaks after progress and no other source is left, only that connection pauses. Otherwise no
    /// connection asks the source until the pause ends.
    /// - Parameters:
    ///   - requested: the pause that the source asked for.
    ///   - jitter: a random number in [0, 1).
    ///   - budget: gives the pause, or gives the source up.
    /// - Returns: the pause before the failed connection asks any source again.
    package mutating func failed(
        _ source: Int, _ error: any Error, requested: Duration?, jitter: Double, at now: Duration,
        _ budget: inout RetryBudget
    ) -> Duration {
        lastError = error
        if isMirror(source) {
            sources[source].givenUp = error
            return .zero
        }
        var place = sources[source]
        defer { sources[source] = place }
        // Several connections that fail at once count as one failure.
        if now < place.roundEnds { return .zero }
        let madeProgress = place.madeProgress
        place.madeProgress = false
        guard let delay = budget.failed(source, madeProgress: madeProgress, jitter: jitter) else {
            place.givenUp = error
            return .zero
        }
        if madeProgress && requested == nil && !hasOther(than: source) { return delay }
        place.heldUntil = now + delay + (requested ?? .zero)
        place.roundEnds = place.heldUntil
        return .zero
    }

    /// Gives a source up for this file.
    mutating func giveUp(_ source: Int, _ error: any Error) {
        lastError = error
        sources[source].givenUp = error
    }

    /// Stops asking a source for a while, because it sent wrong bytes.
    package mutating func hold(_ source: Int, for pause: Duration, at now: Duration) {
        sources[source].heldUntil = max(sources[source].heldUntil, now + pause)
    }
}

/// The source that each byte range was last requested from.
struct ByteOrigins: Sendable {
    private var origins: [(range: Range<UInt64>, source: Int)] = []

    /// Notes a request for bytes to a source.
    package mutating func asked(_ range: Range<UInt64>, of source: Int) { origins.append((range, source)) }

    /// The sources that these bytes were last requested from; none if they were on the disk before.
    package func sources(of range: Range<UInt64>) -> Set<Int> {
        var left = RangeSet(range)
        var found: Set<Int> = []
        for origin in origins.reversed() where !left.isEmpty {
            guard left.ranges.contains(where: { $0.overlaps(origin.range) }) else { continue }
            found.insert(origin.source)
            left.remove(contentsOf: origin.range)
        }
        return found
    }
}
