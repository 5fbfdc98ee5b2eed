/// Decides which engine answers: a pure value, to which all times come from outside.
///
/// The rules, in this order:
/// 1. `forceLocal`, a private conversation or a local preference: local.
/// 2. A named local model, unless the cloud is preferred or allowed beside it: local.
/// 3. No cloud set up, a tier without cloud, or no credits: local.
/// 4. Offline, a connection that is not stable yet, or a cloud that is not reachable: local.
/// 5. Otherwise: cloud.
package struct Route: Sendable, Hashable {
    package private(set) var policy: RoutePolicy
    package private(set) var link: RouteLink
    package private(set) var health = RouteHealth()
    package private(set) var breaker = CircuitBreaker()
    package private(set) var retries = RepetitionBudget()
    /// The end of a pause that the endpoint asked for, and the code of its error.
    package private(set) var pause: Pause?
    /// The engine of requests without needs of their own.
    package private(set) var source = RouteSource.local
    /// Whether the cloud has answered since the last switch to it.
    package private(set) var isConfirmed = false
    /// The time at which local models are evicted; `nil` if they stay.
    package private(set) var evictionDue: Duration?
    /// The local answers under way.
    package private(set) var localAnswers = 0
    /// Whether local models may be loaded.
    private var mayHoldModels = true
    /// Whether a connection was stable before.
    private var hasBeenStable = false
    /// Whether the network monitor has reported.
    private var hasReport = false

    /// A time without requests to the cloud.
    package struct Pause: Sendable, Hashable {
        package var until: Duration
        package var code: String
    }

    /// The route at the start of the process.
    /// - Parameters:
    ///   - isStable: an earlier process has waited for the connection to be stable.
    ///   - breaker, health: the state that an earlier process left, in times of this one.
    package init(
        policy: RoutePolicy, at now: Duration = .zero,
        isStable: Bool = false,
        breaker: CircuitBreaker = CircuitBreaker(), health: RouteHealth.Answer? = nil
    ) {
        self.policy = policy
        self.breaker = breaker
        self.health.last = health
        hasBeenStable = isStable || policy.isThisMachine
        link =
            hasBeenStable
            ? .stable : .settling(since: now, window: Self.firstWindow, isReconnect: false)
        source = assess(RouteRequest(), at: now).source
    }

    // MARK: Events

    /// Changes the state by an event.
    /// - Returns: the actions to perform, in order.
    package mutating func handle(_ event: RouteEvent, at now: Duration) -> [RouteEffect] {
        switch event {
        case .tick: break
        case .network(let isOnline): takeNetwork(isOnline, at: now)
        case .policy(let policy): take(policy, at: now)
        case .health(let check, let isHealthy):
            guard health.running == check else { break }
            health.take(isHealthy: isHealthy, at: now)
        case .cloudToken: takeAnswer(at: now)
        case .cloudEnded(let outcome): takeEnd(outcome, at: now)
        case .localBegan:
            localAnswers += 1
            mayHoldModels = true
        case .localEnded:
            localAnswers = max(0, localAnswers - 1)
            // A model that has just answered is idle from now on.
            if evictionDue != nil { evictionDue = now + Self.evictionDelay }
        }
        return advance(to: now)
    }

    /// Notes the answer to a health check that the route has not asked for.
    package mutating func noteCheck(isHealthy: Bool, at now: Duration) {
        health.require(at: now)
        _ = health.begin()
        health.take(isHealthy: isHealthy, at: now)
    }

    /// The time of the next change without an event; `nil` if none is due.
    package func nextWake(after now: Duration) -> Duration? {
        var times = [evictionDue.flatMap { localAnswers == 0 ? $0 : nil }, pause?.until]
        if case .settling(let since, let window, _) = link { times.append(since + window) }
        if canCheck { times.append(health.nextCheck) }
        if !breaker.isProbing { times.append(breaker.openUntil.flatMap { source == .local ? $0 : nil }) }
        return times.compactMap { $0 }.filter { $0 > now }.min()
    }

    /// Takes over the state of the connection from an earlier route, so that its windows go on; without one, the connection
    /// counts as stable.
    package mutating func continueLink(of earlier: Route?) {
        guard !policy.isThisMachine else { return }
        (link, hasBeenStable, hasReport) =
            earlier.map { ($0.link, $0.hasBeenStable, $0.hasReport) } ?? (.stable, true, false)
    }

    private mutating func takeNetwork(_ isOnline: Bool, at now: Duration) {
        guard !policy.isThisMachine else { return }
        // An earlier process saw another connection: the first one of this process is still to come.
        if !hasReport, !isOnline { hasBeenStable = false }
        hasReport = true
        switch (link, isOnline) {
        case (_, false):
            link = .offline
            // The answer to a running check belongs to the lost connection.
            (health.running, health.nextCheck) = (nil, nil)
        case (.offline, true):
            link = .settling(
                since: now, window: hasBeenStable ? Self.reconnectWindow : Self.firstWindow,
                isReconnect: hasBeenStable)
        case (_, true): break
        }
    }

    private mutating func take(_ new: RoutePolicy, at now: Duration) {
        let old = policy
        policy = new
        if new.endpoint != old.endpoint || new.isThisMachine != old.isThisMachine {
            // What is known of one endpoint says nothing about another one.
            (breaker, retries, pause) = (CircuitBreaker(), RepetitionBudget(), nil)
            // An answer to a check of the old endpoint must not pass for one of the new.
            let number = health.number
            health = RouteHealth()
            health.number = number
            if new.isThisMachine { (link, hasBeenStable) = (.stable, true) }
        }
        // The refusal was for the old tier.
        if new.tier != old.tier { pause = nil }
        let isRecent = health.last.map { $0.isHealthy && now - $0.time <= Self.healthAge } ?? false
        // Credits that are back say nothing about the endpoint; a running check answers this question too.
        if new.includesCloud, !old.includesCloud, !isRecent, health.running == nil { health.require(at: now) }
    }

    /// Notes that the cloud gave the first part of an answer.
    private mutating func takeAnswer(at now: Duration) {
        breaker.succeed()
        health.confirm(at: now)
    }

    private mutating func takeEnd(_ outcome: CloudOutcome, at now: Duration) {
        switch outcome {
        case .succeeded:
            takeAnswer(at: now)
            retries.succeed()
        case .cancelled: breaker.cancel()
        case .failed(let failure):
            switch failure.kind {
            case .unreachable:
                breaker.fail(at: now)
                health.last = RouteHealth.Answer(time: now, isHealthy: false)
                (isConfirmed, evictionDue) = (false, nil)
            case .rateLimited, .refused, .noCredits:
                // The endpoint answered, so that it is reachable.
                breaker.succeed()
                pause = Pause(until: now + (failure.retryAfter ?? Self.refusalPause), code: failure.code)
            case .request: breaker.succeed()
            }
        }
    }

    /// Performs what is due, and compares the engine of ordinary requests with the last one.
    private mutating func advance(to now: Duration) -> [RouteEffect] {
        var effects: [RouteEffect] = []
        if case .settling(let since, let window, let isReconnect) = link, now >= since + window {
            link = .stable
            hasBeenStable = true
            if isReconnect { health.require(at: now) }
        }
        if let until = pause?.until, now >= until { pause = nil }
        if link == .stable, health.isRequired, health.running == nil, health.nextCheck == nil {
            // The connection was lost during a check and is stable again.
            health.require(at: now)
        }
        if canCheck, let next = health.nextCheck, now >= next { effects.append(.checkHealth(health.begin())) }

        let decision = assess(RouteRequest(), at: now)
        if decision.source != source {
            source = decision.source
            isConfirmed = false
            evictionDue = nil
            effects.append(.switched(decision))
        }
        if source == .cloud, !isConfirmed, let last = health.last, last.isHealthy,
            now - last.time <= Self.healthAge
        {
            isConfirmed = true
        }
        if source == .cloud, isConfirmed, mayHoldModels, evictionDue == nil {
            evictionDue = now + Self.evictionDelay
        }
        if let due = evictionDue, now >= due, localAnswers == 0 {
            (evictionDue, mayHoldModels) = (nil, false)
            effects.append(.evictLocalModels)
        }
        return effects
    }

    private var canCheck: Bool { policy.allowsCloud && link == .stable && health.isRequired && health.running == nil }

    // MARK: Requests

    /// The answer to a request.
    package enum Answer: Sendable, Hashable {
        case go(RouteDecision)
        /// The connection is new: ask again at this time, or after the next change.
        case wait(until: Duration)
    }

    /// Decides a request and, if the cloud answers it, notes that it goes out; its end is ``RouteEvent/cloudEnded(_:)``.
    package mutating func begin(_ request: RouteRequest, at now: Duration) -> Answer {
        let decision = assess(request, at: now)
        if case .settling(_, isReconnect: false) = decision.reason,
            case .settling(let since, let window, _) = link, request.preference == nil
        {
            return .wait(until: since + window)
        }
        if decision.source == .cloud { breaker.begin() }
        return .go(decision)
    }

    /// The wait before a failed request is sent again; `nil` if it is not. No part of an answer may have come.
    package mutating func retry(after failure: RouteFailure) -> Duration? { retries.retry(after: failure) }

    /// Applies the rules to a request, without consequences.
    package func assess(_ request: RouteRequest, at now: Duration) -> RouteDecision {
        var trace: [String] = []
        for rule in rules(request, at: now) {
            trace.append("\(rule.name): \(rule.finding)")
            if let reason = rule.reason { return RouteDecision(.local, reason, trace: trace) }
        }
        return RouteDecision(.cloud, .cloud, trace: trace)
    }

    /// A rule applied to a request: with a reason, it decides for the local engine.
    private typealias Rule = (name: String, finding: String, reason: RouteReason?)

    private func rule(_ name: String, _ finding: String, _ reason: RouteReason?) -> Rule { (name, finding, reason) }

    private func rules(_ request: RouteRequest, at now: Duration) -> [Rule] {
        let prefersCloud = request.preference == .cloud
        return [
            rule("forceLocal", policy.forceLocal ? "on" : "off", policy.forceLocal ? .forceLocal : nil),
            rule("private", request.isPrivate ? "yes" : "no", request.isPrivate ? .privateConversation : nil),
            rule(
                "preference", request.preference?.rawValue ?? "automatic",
                request.preference == .local ? .localPreferred : nil),
            rule(
                "named model", request.model == nil ? "no" : "yes",
                request.model != nil && !prefersCloud && !request.allowsCloud ? .modelNamed : nil),
            rule("cloud", policy.endpoint ?? "not set up", policy.endpoint == nil ? .cloudMissing : nil),
            rule("tier", policy.tier, policy.canUseCloudAI ? nil : .tier(policy.tier)),
            rule(
                "credits", policy.credits.map(String.init) ?? "not counted",
                policy.credits.map { $0 <= 0 } ?? false ? .noCredits : nil),
            linkRule(at: now, prefersCloud),
            healthRule(prefersCloud),
            breakerRule(at: now),
            rule(
                "pause", pause.map { "until the endpoint takes requests again (\($0.code))" } ?? "none",
                pause.flatMap {
                    $0.until > now ? .paused(code: $0.code, seconds: ($0.until - now).wholeSeconds) : nil
                }),
        ]
    }

    private func linkRule(at now: Duration, _ prefersCloud: Bool) -> Rule {
        switch link {
        case .offline: rule("network", "offline", .offline)
        case .settling(let since, let window, let isReconnect):
            rule(
                "network", "online since \((now - since).wholeSeconds) s",
                // A caller who prefers the cloud does not wait for a stable connection.
                prefersCloud || now >= since + window
                    ? nil : .settling(seconds: (since + window - now).wholeSeconds, isReconnect: isReconnect))
        case .stable: rule("network", policy.isThisMachine ? "this machine" : "stable", nil)
        }
    }

    private func healthRule(_ prefersCloud: Bool) -> Rule {
        guard health.isRequired else { return rule("health", health.last == nil ? "not needed" : "healthy", nil) }
        // The request of a caller who prefers the cloud is itself the test.
        let reason: RouteReason? = prefersCloud ? nil : health.hasFailed ? .unhealthy : .checking
        return rule("health", health.hasFailed ? "failed" : "not checked yet", reason)
    }

    private func breakerRule(at now: Duration) -> Rule {
        let rest = breaker.openUntil.map { max(.zero, $0 - now).wholeSeconds } ?? 0
        return rule(
            "breaker", breaker.openUntil == nil ? "closed" : rest > 0 ? "open" : "half open",
            breaker.allows(at: now) ? nil : .failing(seconds: rest))
    }
}

extension Duration {
    /// The seconds, rounded up.
    var wholeSeconds: Int { Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0) }
}
