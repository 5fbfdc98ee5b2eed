import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthRouting

/// The route's windows, schedules, breaker and eviction.
@Suite struct RouteTests {
    static let pro = RoutePolicy(endpoint: "https://cloud.example", tier: "pro", canUseCloudAI: true)
    static let down = CloudOutcome.failed(RouteFailure(.unreachable, code: "unreachable"))

    func seconds(_ seconds: Double) -> Duration { .seconds(seconds) }

    func checks(_ effects: [RouteEffect]) -> [Int] {
        effects.compactMap { if case .checkHealth(let number) = $0 { number } else { nil } }
    }

    func code(_ route: Route, _ now: Duration) -> String {
        route.assess(RouteRequest(), at: now).reasonCode
    }

    /// A route on a stable connection at second 0, which the monitor has reported.
    func stable() -> Route {
        var route = Route(policy: Self.pro, isStable: true)
        _ = route.handle(.network(isOnline: true), at: .zero)
        return route
    }

    @Test func aFirstRequestWaitsForTheRestOfTwoSeconds() {
        var route = Route(policy: Self.pro)
        #expect(route.begin(RouteRequest(), at: seconds(0.5)) == .wait(until: seconds(2)))
        #expect(route.nextWake(after: seconds(0.5)) == seconds(2))
        #expect(code(route, seconds(1.9)) == "settling")
        let effects = route.handle(.tick, at: seconds(2))
        #expect(effects.contains { if case .switched(let decision) = $0 { decision.source == .cloud } else { false } })
        #expect(checks(effects).isEmpty, "no health check before the first connection is used")
        guard case .go(let decision) = route.begin(RouteRequest(), at: seconds(2)) else {
            Issue.record("the request still waits")
            return
        }
        #expect(decision.source == .cloud)
    }

    @Test func requestsThatCannotUseTheCloudDoNotWait() {
        var route = Route(policy: Self.pro)
        for request in [RouteRequest(isPrivate: true), RouteRequest(preference: .local), RouteRequest(model: "a")] {
            guard case .go(let decision) = route.begin(request, at: .zero) else {
                Issue.record("\(request) waits")
                continue
            }
            #expect(decision.source == .local)
        }
    }

    @Test func aLossInsideTheFirstWindowBeginsItAnew() {
        var route = Route(policy: Self.pro)
        _ = route.handle(.network(isOnline: false), at: seconds(1.5))
        #expect(code(route, seconds(1.5)) == "offline")
        _ = route.handle(.network(isOnline: true), at: .milliseconds(1800))
        _ = route.handle(.tick, at: seconds(3.7))
        #expect(code(route, seconds(3.7)) == "settling")
        _ = route.handle(.tick, at: .milliseconds(3800))
        #expect(code(route, .milliseconds(3800)) == "cloud")
    }

    @Test func aWindowOfAnEarlierProcessCounts() {
        let route = Route(policy: Self.pro, isStable: true)
        #expect(code(route, .zero) == "cloud")
    }

    @Test func aReconnectIsStableForThirtySecondsAndChecked() {
        var route = stable()
        _ = route.handle(.network(isOnline: false), at: seconds(10))
        _ = route.handle(.network(isOnline: true), at: seconds(12))
        guard case .go(let decision) = route.begin(RouteRequest(), at: seconds(13)) else {
            Issue.record("a request waits for a reconnect")
            return
        }
        #expect(decision.reasonCode == "settling")
        #expect(decision.reasonText.contains("29 s"))
        // A loss inside the window begins it anew.
        _ = route.handle(.network(isOnline: false), at: seconds(41))
        _ = route.handle(.network(isOnline: true), at: seconds(41.5))
        #expect(checks(route.handle(.tick, at: seconds(42))).isEmpty)
        let effects = route.handle(.tick, at: seconds(71.5))
        #expect(checks(effects) == [1])
        #expect(code(route, seconds(71.5)) == "checking")
        _ = route.handle(.health(check: 1, isHealthy: true), at: seconds(72))
        #expect(code(route, seconds(72)) == "cloud")
    }

    @Test func checksFollowTheSchedule() {
        var route = stable()
        _ = route.handle(.network(isOnline: false), at: seconds(0))
        _ = route.handle(.network(isOnline: true), at: seconds(0))
        var now = seconds(30)
        var starts: [Double] = []
        var number = checks(route.handle(.tick, at: now)).first
        while let check = number, starts.count < 6 {
            starts.append((now - seconds(30)).seconds)
            _ = route.handle(.health(check: check, isHealthy: false), at: now + seconds(1))
            #expect(code(route, now + seconds(1)) == "unhealthy")
            guard let next = route.nextWake(after: now + seconds(1)) else { break }
            now = next
            number = checks(route.handle(.tick, at: now)).first
        }
        #expect(starts == [0, 5, 15, 75, 135, 195])
    }

    @Test func anAnswerToAnOldCheckIsIgnored() {
        var route = stable()
        _ = route.handle(.network(isOnline: false), at: seconds(0))
        _ = route.handle(.network(isOnline: true), at: seconds(0))
        #expect(checks(route.handle(.tick, at: seconds(30))) == [1])
        _ = route.handle(.network(isOnline: false), at: seconds(31))
        _ = route.handle(.health(check: 1, isHealthy: true), at: seconds(32))
        _ = route.handle(.network(isOnline: true), at: seconds(33))
        #expect(checks(route.handle(.tick, at: seconds(63))) == [2])
        #expect(code(route, seconds(63)) == "checking")
    }

    @Test func aChangeOfSettingsIsCheckedUnlessTheLastAnswerIsFresh() {
        var route = stable()
        var forced = Self.pro
        forced.forceLocal = true
        _ = route.handle(.cloudEnded(.succeeded), at: seconds(1))
        _ = route.handle(.policy(forced), at: seconds(10))
        #expect(checks(route.handle(.policy(Self.pro), at: seconds(61))).isEmpty)
        #expect(code(route, seconds(61)) == "cloud")
        _ = route.handle(.policy(forced), at: seconds(61))
        #expect(checks(route.handle(.policy(Self.pro), at: seconds(61.5))) == [1])
        #expect(code(route, seconds(61.5)) == "checking")
    }

    @Test func localModelsAreEvictedThirtySecondsAfterAConfirmedSwitch() {
        var route = stable()
        #expect(route.nextWake(after: .zero) == nil, "nothing confirms the cloud yet")
        _ = route.handle(.cloudToken, at: seconds(5))
        #expect(route.nextWake(after: seconds(5)) == seconds(35))
        #expect(route.handle(.tick, at: seconds(34.9)).isEmpty)
        #expect(route.handle(.tick, at: seconds(35)) == [.evictLocalModels])
        #expect(route.handle(.tick, at: seconds(100)).isEmpty)
        // A model that was loaded again is evicted again.
        _ = route.handle(.localBegan, at: seconds(100))
        #expect(route.handle(.tick, at: seconds(140)).isEmpty, "it answers")
        _ = route.handle(.localEnded, at: seconds(150))
        _ = route.handle(.cloudToken, at: seconds(151))
        #expect(route.handle(.tick, at: seconds(181)) == [.evictLocalModels])
    }

    @Test func theReturnOfTheRouteCancelsAnEviction() {
        var route = stable()
        _ = route.handle(.cloudToken, at: seconds(5))
        _ = route.handle(.network(isOnline: false), at: seconds(20))
        #expect(!route.handle(.tick, at: seconds(60)).contains(.evictLocalModels))
    }

    @Test func theNetworkDoesNotMatterForThisMachine() {
        var policy = Self.pro
        policy.isThisMachine = true
        var route = Route(policy: policy)
        #expect(code(route, .zero) == "cloud")
        _ = route.handle(.network(isOnline: false), at: seconds(1))
        #expect(code(route, seconds(1)) == "cloud")
    }

    @Test func anotherEndpointBeginsAnew() {
        var route = stable()
        for _ in 1...3 { _ = route.handle(.cloudEnded(Self.down), at: .zero) }
        var other = Self.pro
        other.endpoint = "https://other.example"
        _ = route.handle(.policy(other), at: seconds(1))
        #expect(code(route, seconds(1)) == "cloud")
    }

    // MARK: Records

    @Test func aLaterProcessKnowsTheBreakerAndTheConnection() throws {
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        var route = stable()
        for _ in 1...3 { _ = route.handle(.cloudEnded(Self.down), at: seconds(10)) }
        let record = try #require(RouteRecord.Endpoint(route, at: seconds(12), date: date))
        let later = Route(policy: Self.pro, at: .zero, recorded: record, date: date.addingTimeInterval(5))
        #expect(later.link == .stable)
        #expect(later.assess(RouteRequest(), at: .zero).reasonText.contains("23 s"))
        #expect(later.health.last == RouteHealth.Answer(time: seconds(-7), isHealthy: false))
        // Another endpoint, an old record, and one from the future say nothing.
        var other = Self.pro
        other.endpoint = "https://other.example"
        for (policy, offset) in [(other, 5.0), (Self.pro, 601), (Self.pro, -3600)] {
            let route = Route(policy: policy, at: .zero, recorded: record, date: date.addingTimeInterval(offset))
            #expect(route.breaker == CircuitBreaker())
            #expect(code(route, .zero) == "settling")
        }
    }

    // MARK: Random events

    /// 100,000 random events keep the promises of the route.
    @Test func randomEventsKeepThePromises() {
        var generator = SeededGenerator(seed: 22)
        var now = Duration.zero
        var policy = Self.pro
        var route = Route(policy: policy, at: now)
        var cloudRequests = 0
        var localAnswers = 0
        var running: Int?
        var cloudSince: Duration?
        for _ in 0..<100_000 {
            now += .milliseconds(Int.random(in: 0...4000, using: &generator))
            let old = route.source
            var event: RouteEvent?
            switch Int.random(in: 0..<12, using: &generator) {
            case 0: event = .network(isOnline: Int.random(in: 0..<4, using: &generator) > 0)
            case 1:
                policy.forceLocal = Int.random(in: 0..<4, using: &generator) == 0
                event = .policy(policy)
            case 2:
                policy.credits = [nil, 0, 1, 5].randomElement(using: &generator) ?? nil
                policy.canUseCloudAI = Int.random(in: 0..<5, using: &generator) > 0
                event = .policy(policy)
            case 3: event = running.map { .health(check: $0, isHealthy: Bool.random(using: &generator)) }
            case 4 where cloudRequests > 0: event = .cloudToken
            case 5 where cloudRequests > 0:
                cloudRequests -= 1
                let kinds: [RouteFailure.Kind] = [.unreachable, .rateLimited, .refused, .noCredits, .request]
                let kind = kinds.randomElement(using: &generator) ?? .request
                let outcomes: [CloudOutcome] = [.succeeded, .cancelled, .failed(RouteFailure(kind, code: "x"))]
                event = .cloudEnded(outcomes.randomElement(using: &generator) ?? .cancelled)
            case 6 where localAnswers > 0:
                localAnswers -= 1
                event = .localEnded
            case 7, 8, 9:
                let preferences: [RouteSource?] = [nil, nil, .local, .cloud]
                let request = RouteRequest(
                    preference: preferences.randomElement(using: &generator) ?? nil,
                    isPrivate: Int.random(in: 0..<4, using: &generator) == 0,
                    model: Int.random(in: 0..<4, using: &generator) == 0 ? "m" : nil)
                let wasOpen = route.breaker.openUntil != nil
                let wasProbing = route.breaker.isProbing
                switch route.begin(request, at: now) {
                case .wait(let until): #expect(until - now <= .seconds(2))
                case .go(let decision) where decision.source == .cloud:
                    #expect(!policy.forceLocal && !request.isPrivate && request.preference != .local)
                    #expect(policy.canUseCloudAI && policy.credits != 0 && route.link != .offline)
                    #expect(!(wasOpen && wasProbing), "two requests test the endpoint")
                    cloudRequests += 1
                case .go:
                    localAnswers += 1
                    event = .localBegan
                }
            default: event = .tick
            }
            guard let event else { continue }
            let effects = route.handle(event, at: now)
            if case .health(let check, _) = event, check == running { running = nil }
            if route.health.running == nil { running = nil }
            if route.source != old { cloudSince = route.source == .cloud ? now : nil }
            for effect in effects {
                switch effect {
                case .evictLocalModels:
                    #expect(localAnswers == 0, "evicted while answering")
                    #expect(route.source == .cloud && route.isConfirmed)
                    #expect(cloudSince.map { now - $0 >= .seconds(30) } ?? false)
                case .checkHealth(let number):
                    #expect(running == nil, "two checks at once")
                    #expect(policy.canUseCloudAI && !policy.forceLocal && policy.credits != 0)
                    running = number
                case .switched(let decision):
                    #expect(decision.source != old && decision.source == route.source)
                }
            }
            #expect(route.localAnswers == localAnswers)
            #expect(route.nextWake(after: now).map { $0 > now } ?? true)
            #expect(route.breaker.failures.count <= CircuitBreaker.limit)
            if route.source == .cloud { #expect(!policy.forceLocal && policy.canUseCloudAI && route.link == .stable) }
        }
    }
}
