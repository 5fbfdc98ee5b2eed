import HearthBase
import HearthInference

/// Decides whether a request may go to an upstream, from the ends of earlier ones. Times are those of one stopwatch.
struct UpstreamCircuit: Sendable, Hashable {
    /// What becomes of a request.
    enum Verdict: Sendable, Hashable {
        case go
        /// The server has to pass a check of its health first.
        case checkFirst
        /// The server failed a moment ago. The check of its health may begin if `checks`.
        case failing(retryAfter: Duration, checks: Bool)
        /// The server wants a pause.
        case paused(retryAfter: Duration)
    }

    /// What a request tells about the server.
    enum Outcome: Sendable, Hashable {
        case answered
        /// The server refused the connection, broke it off, or failed.
        case failed
        /// The server sent nothing in time.
        case silent
        /// The server wants a pause.
        case limited(retryAfter: Duration?)
        /// Nothing about the server.
        case other
    }

    /// The longest pause that a server is given, whatever it asks for.
    static let longestPause = Duration.seconds(60)
    /// The pause of a server that does not say how long it is.
    static let pause = Duration.seconds(1)

    private var breaker = CircuitBreaker()
    /// Whether the server has passed a check since its last failure.
    private var isHealthy = false
    /// The ends of pauses, by model.
    private var pauses: [String: Duration] = [:]

    /// Whether requests go out without a check.
    var isOpen: Bool { breaker.openUntil != nil }

    /// Decides a request.
    /// - Parameter hasOthers: whether another model answers if this one is not asked.
    func verdict(_ model: String, hasOthers: Bool, at now: Duration) -> Verdict {
        if let end = pauses[model], end > now { return .paused(retryAfter: end - now) }
        guard let openUntil = breaker.openUntil else { return .go }
        guard hasOthers else { return isHealthy ? .go : .checkFirst }
        guard now >= openUntil, isHealthy else {
            return .failing(retryAfter: max(.seconds(1), openUntil - now), checks: now >= openUntil)
        }
        return breaker.allows(at: now) ? .go : .failing(retryAfter: .seconds(1), checks: false)
    }

    /// Notes that a request goes out.
    mutating func begin() { breaker.begin() }

    /// Notes the result of a check.
    mutating func checked(isHealthy: Bool, at now: Duration) {
        self.isHealthy = isHealthy
        if !isHealthy { breaker.open(at: now) }
    }

    /// Notes what a request told about the server.
    mutating func end(_ model: String, _ outcome: Outcome, at now: Duration) {
        switch outcome {
        case .answered:
            pauses[model] = nil
            breaker.succeed()
        case .failed:
            isHealthy = false
            breaker.fail(at: now)
        case .silent:
            isHealthy = false
            breaker.open(at: now)
        case .limited(let wanted):
            breaker.cancel()
            pauses = pauses.filter { $0.value > now }
            pauses[model] = now + min(Self.longestPause, max(.zero, wanted ?? Self.pause))
        case .other: breaker.cancel()
        }
    }
}

extension UpstreamCircuit.Outcome {
    /// What the error of a request tells.
    init(_ error: any Error) {
        guard let error = error as? LLMError else {
            self = .other
            return
        }
        let failure = RouteFailure(error)
        self =
            switch (failure.kind, error.code) {
            case (.rateLimited, _): .limited(retryAfter: failure.retryAfter)
            // The server works; it failed at this request.
            case (.unreachable, _) where error.context.found == "status 500": .other
            case (.unreachable, .timedOut): .silent
            case (.unreachable, .busy), (.unreachable, .unusableAnswer): .other
            case (.unreachable, _): .failed
            default: .other
            }
    }
}
