/// Stops requests to an endpoint after repeated failures, then lets one through as a test.
package struct CircuitBreaker: Sendable, Hashable {
    /// Opens after this many failures…
    package static let limit = 3
    /// …within this time…
    package static let window: Duration = .seconds(60)
    /// …for this time.
    package static let pause: Duration = .seconds(30)

    /// The times of the last failures, the oldest first.
    package private(set) var failures: [Duration] = []
    /// The end of the pause; `nil` while closed.
    package private(set) var openUntil: Duration?
    /// Whether the one request after the pause is under way.
    package private(set) var isProbing = false

    /// A closed breaker, or one that an earlier process left in this state.
    package init(failures: [Duration] = [], openUntil: Duration? = nil) {
        self.failures = Array(failures.suffix(Self.limit))
        self.openUntil = openUntil
    }

    /// Whether a request may go out now.
    func allows(at now: Duration) -> Bool {
        guard let openUntil else { return true }
        return now >= openUntil && !isProbing
    }

    /// Notes that a request goes out.
    mutating func begin() { if openUntil != nil { isProbing = true } }

    /// Notes that a request failed.
    mutating func fail(at now: Duration) {
        isProbing = false
        failures.removeAll { now - $0 > Self.window }
        failures.append(now)
        failures = failures.suffix(Self.limit)
        if openUntil != nil || failures.count >= Self.limit { openUntil = now + Self.pause }
    }

    /// Notes that a request got no answer in time: the pause begins at once, because each further request would wait as long.
    mutating func open(at now: Duration) {
        isProbing = false
        openUntil = now + Self.pause
    }

    /// Notes that the endpoint answered.
    mutating func succeed() { self = CircuitBreaker() }

    /// Notes that a request ended without telling anything about the endpoint.
    mutating func cancel() { isProbing = false }
}

/// Limits repeated requests, so that a failing endpoint does not get a multiple of the usual load.
package struct RepetitionBudget: Sendable, Hashable {
    /// The repetitions left, in tenths; each success adds one.
    package private(set) var tenths = Self.maximum
    static let maximum = 30
    private static let repetition = 10
    /// The longest wait before a repetition; after a longer one, the local engine is quicker.
    static let longestWait: Duration = .seconds(2)

    mutating func succeed() { tenths = min(Self.maximum, tenths + 1) }

    /// Takes a repetition from the budget.
    /// - Returns: the wait before it; `nil` if the request is not repeated.
    mutating func retry(after failure: RouteFailure) -> Duration? {
        guard failure.isWorthRetrying, tenths >= Self.repetition else { return nil }
        let wait = failure.retryAfter ?? .milliseconds(250)
        guard wait <= Self.longestWait else { return nil }
        tenths -= Self.repetition
        return wait
    }
}
