import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting
import HearthTestSupport

/// A cloud that answers from a script.
final class ScriptedCloud: RemoteEngine, ForwardingEngine {
    let engine: ScriptedEngine
    let address: URL
    private let state: Locked<(isHealthy: Bool, checks: Int, turns: [String?], credits: Int?)>

    init(
        _ answers: [[ScriptedEngine.Step]], address: String = "http://127.0.0.1:1",
        capabilities: EngineCapabilities = []
    ) {
        engine = ScriptedEngine(answers, capabilities: capabilities)
        self.address = URL(string: address) ?? URL(filePath: "/")
        state = Locked((true, 0, [], nil))
    }

    var isHealthy: Bool {
        get { state.withLock { $0.isHealthy } }
        set { state.withLock { $0.isHealthy = newValue } }
    }
    /// The count that the server states with its next answers.
    var reportedCredits: Int? {
        get { state.withLock { $0.credits } }
        set { state.withLock { $0.credits = newValue } }
    }
    var checks: Int { state.withLock { $0.checks } }
    /// The turns of the requests.
    var turns: [String?] { state.withLock { $0.turns } }

    func checkHealth() async throws {
        let isHealthy = state.withLock { state in
            state.checks += 1
            return state.isHealthy
        }
        if !isHealthy { throw LLMError(.unreachable, "no answer") }
    }

    func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        let credits = state.withLock { state in
            state.turns.append(CloudEngine.turn)
            return state.credits
        }
        if let credits { CreditReport.current?(credits) }
        return try await engine.generate(messages, options: options, onEvent: onEvent)
    }
}

/// Local engines that load at once, or when a test says so.
actor ScriptedLocals: LocalEngines {
    let engine: any InferenceEngine
    private(set) var isLoaded = false
    private(set) var loads = 0
    private(set) var evictions = 0
    private let time: TimeSource?
    private let failure: LLMError?
    private let evicted: AsyncStream<Void>.Continuation
    private let evicting: AsyncStream<Void>

    /// - Parameter time: a clock on which a load takes an hour; `nil` loads at once.
    init(_ engine: any InferenceEngine, time: TimeSource? = nil, failure: LLMError? = nil) {
        self.engine = engine
        self.time = time
        self.failure = failure
        (evicting, evicted) = AsyncStream.makeStream()
    }

    init(_ answers: [[ScriptedEngine.Step]] = []) { self.init(ScriptedEngine(answers)) }

    func engine(
        for model: String?, onLoading: @escaping @Sendable (Double?) -> Void
    ) async throws -> any InferenceEngine {
        if let failure { throw failure }
        guard !isLoaded else { return engine }
        onLoading(0)
        if let time { try await time.sleep(for: .seconds(3600)) }
        (isLoaded, loads) = (true, loads + 1)
        return engine
    }

    func evictIdle() {
        (isLoaded, evictions) = (false, evictions + 1)
        evicted.yield()
    }

    func unload() { isLoaded = false }

    /// Returns after the next eviction.
    func nextEviction() async { for await _ in evicting { return } }
}

/// The parts of one test of the orchestrator.
struct RoutingStage {
    let clock = ManualClock()
    let network = ScriptedNetworkMonitor()
    let cloud: ScriptedCloud
    let local: ScriptedLocals
    let premium: PremiumManager
    let orchestrator: LLMOrchestrator

    /// A cloud on this machine, which needs no network, unless an address is given.
    init(
        cloud answers: [[ScriptedEngine.Step]] = [], local: ScriptedLocals = ScriptedLocals(), address: String? = nil,
        entitlement: Entitlement = .ownKey, forceLocal: Bool = false, folder: Path? = nil
    ) async {
        cloud = ScriptedCloud(answers, address: address ?? "http://127.0.0.1:1")
        self.local = local
        premium = PremiumManager(entitlement, folder: folder, time: clock.time)
        orchestrator = await LLMOrchestrator(
            local: local, cloud: cloud, premium: premium, forceLocal: forceLocal, network: network, folder: folder,
            time: clock.time)
    }

    /// Waits until the route is as wanted.
    func route(until isReached: @escaping @Sendable (RouteDecision) -> Bool) async {
        for await decision in orchestrator.decisions() where isReached(decision) { return }
    }
}

/// The events and decisions of one answer.
final class AnswerLog: Sendable {
    private let state = Locked<(events: [GenerationEvent], decisions: [RouteDecision])>(([], []))

    var events: [GenerationEvent] { state.withLock { $0.events } }
    var decisions: [RouteDecision] { state.withLock { $0.decisions } }
    /// The engines that answered.
    var sources: [RouteSource] { decisions.map(\.source) }
    var text: String {
        events.reduce(into: "") { if case .text(let piece) = $1 { $0 += piece } }
    }

    @Sendable func take(_ event: GenerationEvent) { state.withLock { $0.events.append(event) } }
    @Sendable func take(_ decision: RouteDecision) { state.withLock { $0.decisions.append(decision) } }
}
