import Foundation
import HearthBase
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

extension RouteTests {
    @Test func theBreakerOpensAfterThreeFailuresInAMinute() {
        var route = stable()
        for second in [0.0, 61, 122] { _ = route.handle(.cloudEnded(Self.down), at: seconds(second)) }
        #expect(code(route, seconds(122)) == "cloud", "too far apart")
        _ = route.handle(.cloudEnded(Self.down), at: seconds(123))
        let effects = route.handle(.cloudEnded(Self.down), at: seconds(124))
        #expect(
            effects.contains {
                if case .switched(let decision) = $0 { decision.reasonCode == "failing" } else { false }
            })
        #expect(route.assess(RouteRequest(), at: seconds(125)).reasonText.contains("29 s"))
        // One request tests the endpoint after the pause; others stay local meanwhile.
        #expect(route.nextWake(after: seconds(125)) == seconds(154))
        _ = route.handle(.tick, at: seconds(154))
        guard case .go(let first) = route.begin(RouteRequest(), at: seconds(154)),
            case .go(let second) = route.begin(RouteRequest(), at: seconds(154))
        else {
            Issue.record("a request waits")
            return
        }
        #expect(first.source == .cloud)
        #expect(second.reasonCode == "failing")
        _ = route.handle(.cloudEnded(Self.down), at: seconds(155))
        #expect(code(route, seconds(184.9)) == "failing")
        _ = route.begin(RouteRequest(), at: seconds(185))
        _ = route.handle(.cloudEnded(.succeeded), at: seconds(186))
        #expect(code(route, seconds(186)) == "cloud")
        #expect(route.breaker == CircuitBreaker())
    }

    @Test func aCancelledTestRequestLeavesRoomForAnother() {
        var route = stable()
        for _ in 1...3 { _ = route.handle(.cloudEnded(Self.down), at: .zero) }
        _ = route.begin(RouteRequest(), at: seconds(30))
        #expect(code(route, seconds(30)) == "failing")
        _ = route.handle(.cloudEnded(.cancelled), at: seconds(31))
        #expect(code(route, seconds(31)) == "cloud")
    }

    @Test func aPauseThatTheEndpointAsksForIsKept() {
        var route = stable()
        let busy = RouteFailure(.rateLimited, code: "rate-limited", retryAfter: .seconds(42))
        _ = route.handle(.cloudEnded(.failed(busy)), at: seconds(0))
        #expect(code(route, seconds(41)) == "paused")
        #expect(route.nextWake(after: seconds(1)) == seconds(42))
        _ = route.handle(.tick, at: seconds(42))
        #expect(code(route, seconds(42)) == "cloud")
        let refused = RouteFailure(LLMError(.unauthorised, "the key is wrong"))
        _ = route.handle(.cloudEnded(.failed(refused)), at: seconds(50))
        #expect(route.assess(RouteRequest(), at: seconds(50)).reasonText.hasSuffix("; it is tried again in 60 s"))
        _ = route.handle(.tick, at: seconds(110))
        #expect(code(route, seconds(110)) == "cloud")
    }

    @Test func repetitionsAreLimited() {
        var route = stable()
        let down = RouteFailure(.unreachable, code: "unreachable")
        #expect(
            (1...3).map { _ in route.retry(after: down) } == [
                .milliseconds(250), .milliseconds(250), .milliseconds(250),
            ])
        #expect(route.retry(after: down) == nil)
        for _ in 1...10 { _ = route.handle(.cloudEnded(.succeeded), at: .zero) }
        #expect(route.retry(after: RouteFailure(.rateLimited, code: "", retryAfter: .seconds(3))) == nil, "too long")
        #expect(route.retry(after: RouteFailure(.rateLimited, code: "")) == nil)
        #expect(route.retry(after: RouteFailure(.refused, code: "")) == nil)
        #expect(route.retry(after: RouteFailure(LLMError(.timedOut, ""))) == nil)
        #expect(route.retry(after: RouteFailure(.rateLimited, code: "", retryAfter: .seconds(2))) == .seconds(2))
    }
}
