import HearthBase
import Testing

@testable import HearthRouting

/// Every combination of request, settings and state gets the engine and the reason that the rules name.
@Suite struct RouteTableTests {
    private enum Link: CaseIterable { case offline, firstWindow, reconnectWindow, stable }
    private enum Health: CaseIterable { case notRequired, checking, failed }
    private enum Breaker: CaseIterable { case closed, open, halfOpen, probing }

    private struct State {
        var link: Link
        var health: Health
        var breaker: Breaker
        var isPaused: Bool
    }

    private static let allowed = RoutePolicy(endpoint: "https://cloud.example", tier: "pro", canUseCloudAI: true)
    private static let down = CloudOutcome.failed(RouteFailure(.unreachable, code: "unreachable"))

    /// A route in that state, and the time.
    private func route(_ state: State) -> (Route, Duration)? {
        var now = Duration.zero
        var route = Route(policy: Self.allowed, at: now, isStable: true)
        func handle(_ event: RouteEvent) -> [RouteEffect] { route.handle(event, at: now) }
        if state.link != .firstWindow { _ = handle(.network(isOnline: true)) }
        if state.breaker != .closed {
            for _ in 1...3 { _ = handle(.cloudEnded(Self.down)) }
            if state.breaker != .open { now += .seconds(30) }
            if state.breaker == .probing { _ = route.begin(RouteRequest(preference: .cloud), at: now) }
        }
        if state.isPaused {
            // An endpoint that asks for a pause has answered, which closes the breaker.
            guard state.breaker == .closed else { return nil }
            let busy = RouteFailure(.rateLimited, code: "rate-limited", retryAfter: .seconds(100))
            _ = handle(.cloudEnded(.failed(busy)))
        }
        if state.health != .notRequired {
            // The last answer is unknown or unhealthy, so that a return to the cloud is checked.
            var forced = Self.allowed
            forced.forceLocal = true
            _ = handle(.policy(forced))
            let checks = handle(.policy(Self.allowed)).compactMap {
                if case .checkHealth(let number) = $0 { number } else { nil }
            }
            guard let check = checks.first else { return nil }
            if state.health == .failed { _ = handle(.health(check: check, isHealthy: false)) }
        }
        if state.link != .stable { _ = handle(.network(isOnline: false)) }
        if state.link == .firstWindow || state.link == .reconnectWindow { _ = handle(.network(isOnline: true)) }
        return (route, now)
    }

    /// The code of the reason that the rules name.
    private func expected(_ request: RouteRequest, _ policy: RoutePolicy, _ state: State) -> String {
        if policy.forceLocal { return "force-local" }
        if request.isPrivate { return "private" }
        if request.preference == .local { return "local-preferred" }
        if request.model != nil, request.preference != .cloud { return "model-named" }
        if policy.endpoint == nil { return "cloud-missing" }
        if !policy.canUseCloudAI { return "tier" }
        if policy.credits == 0 { return "no-credits" }
        if state.link == .offline { return "offline" }
        if request.preference != .cloud {
            if state.link != .stable { return "settling" }
            if state.health == .checking { return "checking" }
            if state.health == .failed { return "unhealthy" }
        }
        if state.breaker == .open || state.breaker == .probing { return "failing" }
        if state.isPaused { return "paused" }
        return "cloud"
    }

    @Test func everyInputInEveryState() throws {
        var combinations = 0
        var reasons: Set<String> = []
        for link in Link.allCases {
            for health in Health.allCases {
                for breaker in Breaker.allCases {
                    for isPaused in [false, true] {
                        let state = State(link: link, health: health, breaker: breaker, isPaused: isPaused)
                        guard let (route, now) = route(state) else { continue }
                        for policy in Self.policies {
                            for request in Self.requests {
                                var route = route
                                _ = route.handle(.policy(policy), at: now)
                                let decision = route.assess(request, at: now)
                                let code = expected(request, policy, state)
                                #expect(decision.reasonCode == code, "\(request) \(policy) \(state)")
                                #expect((decision.source == .cloud) == (code == "cloud"))
                                #expect(!decision.reasonText.isEmpty && !decision.trace.isEmpty)
                                #expect(decision.isNotice == (code == "no-credits"))
                                combinations += 1
                                reasons.insert(code)
                            }
                        }
                    }
                }
            }
        }
        #expect(combinations >= 15_000)
        #expect(reasons.count == 14)
    }

    private static var policies: [RoutePolicy] {
        [false, true].flatMap { forceLocal in
            [nil, allowed.endpoint].flatMap { endpoint in
                [false, true].flatMap { canUseCloudAI in
                    [nil, 0, 1].map { credits in
                        RoutePolicy(
                            forceLocal: forceLocal, endpoint: endpoint, tier: "pro", canUseCloudAI: canUseCloudAI,
                            credits: credits)
                    }
                }
            }
        }
    }

    private static var requests: [RouteRequest] {
        [RouteSource?.none, .local, .cloud].flatMap { preference in
            [false, true].flatMap { isPrivate in
                [nil, "smollm"].map { RouteRequest(preference: preference, isPrivate: isPrivate, model: $0) }
            }
        }
    }
}
