import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthRouting
import HearthStore
import HearthTestSupport
import Testing

/// An orchestrator whose local models are those of the real pool.
@Suite(.timeLimit(.minutes(10))) struct RoutedPoolTests {
    /// A cloud that answers from a script.
    private struct Cloud: RemoteEngine, ForwardingEngine {
        let engine: ScriptedEngine
        let address = URL(string: "http://127.0.0.1:1") ?? URL(filePath: "/")

        init(answers: Int) {
            engine = ScriptedEngine(Array(repeating: [.text("cloud"), .finish(.endOfGeneration)], count: answers))
        }

        func checkHealth() async throws {}
    }

    /// An engine that reports its end.
    private struct Local: ForwardingEngine {
        let engine: ScriptedEngine
        let onUnload: @Sendable () -> Void

        func unload() async { onUnload() }
    }

    private let folder: TemporaryFolder
    private let hearth: Hearth
    private let clock = ManualClock()
    /// The engine of `text`, whose first answer waits in its middle.
    private let waiting = ScriptedEngine([
        [.text("wait"), .waitForCancellation, .finish(.endOfGeneration)], [.text("text"), .finish(.endOfGeneration)],
    ])
    private let unloads: AsyncStream<String>

    init() async throws {
        folder = try TemporaryFolder()
        let (unloads, unloaded) = AsyncStream<String>.makeStream()
        self.unloads = unloads
        var engines = EngineRegistry()
        engines.register(.gguf) { [waiting] request in
            let name = try String(contentsOf: request.files.weights.url, encoding: .utf8)
            let other = ScriptedEngine([[.text(name), .finish(.endOfGeneration)]])
            return Local(engine: name == "text" ? waiting : other) { unloaded.yield(name) }
        }
        hearth = try Hearth(
            home: folder.path("home"), environment: ["HEARTH_NETWORK": "offline"], deviceMemory: 16 << 30,
            engines: engines, pressure: Plenty())
        for name in ["text", "eyes", "other"] {
            let release = try await hearth.manager.store.install(
                "\(name)@1.0.0", weights: try folder.write(name, Data(name.utf8)),
                projector: name == "eyes" ? try folder.write("projector", Data("projector".utf8)) : nil)
            _ = try await hearth.manager.store.activate(release.identity)
        }
    }

    private func model(_ name: String) async throws -> LiveModel {
        try await hearth.find(ModelReference(parsing: name), policy: .localOnly)
    }

    private var loaded: Set<String> { Set(hearth.models.pool.releases.map(\.family.name)) }

    /// An orchestrator on the test's clock, with `text` as its usual model.
    private func orchestrator(_ cloud: Cloud) async -> LLMOrchestrator {
        let local = hearth.localEngines { [hearth] name in
            try await hearth.find(ModelReference(parsing: name ?? "text"), policy: .localOnly)
        }
        return await LLMOrchestrator(
            local: local, cloud: cloud, premium: PremiumManager(.ownKey), network: ScriptedNetworkMonitor(),
            time: clock.time)
    }

    private func ask(
        _ orchestrator: LLMOrchestrator, _ request: RouteRequest = RouteRequest()
    ) async throws -> (text: String, reasons: [String]) {
        let reasons = Locked<[String]>([])
        let engine = orchestrator.conversation(request) { decision in
            reasons.withLock { $0.append(decision.reasonCode) }
        }
        let text = try await LanguageModelSession(model: engine).respond(to: "?").content
        return (text, reasons.withLock { $0 })
    }

    /// Moves the clock once the orchestrator sleeps until the eviction.
    private func advance(_ seconds: Int) async {
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(seconds))
    }

    // MARK: Eviction

    @Test func idleTextAndVisionModelsLeaveAfterASwitchToTheCloud() async throws {
        let orchestrator = await orchestrator(Cloud(answers: 1))
        for name in ["text", "eyes"] { try await model(name).load() }
        #expect(try await ask(orchestrator).text == "cloud")
        await advance(29)
        #expect(loaded == ["text", "eyes"])
        clock.advance(by: .seconds(1))
        var unloaded = unloads.makeAsyncIterator()
        #expect(Set([await unloaded.next(), await unloaded.next()]) == ["text", "eyes"])
        // The next local answer loads again.
        #expect(try await ask(orchestrator, RouteRequest(model: "other")) == ("other", ["model-named"]))
        await hearth.close()
    }

    @Test func aModelThatAnotherClientKeepsStays() async throws {
        let orchestrator = await orchestrator(Cloud(answers: 1))
        let kept = try await model("text")
        try await kept.load()
        kept.keep()
        try await model("eyes").load()
        _ = try await ask(orchestrator)
        await advance(30)
        var unloaded = unloads.makeAsyncIterator()
        #expect(await unloaded.next() == "eyes")
        #expect(loaded == ["text"])
        await hearth.close()
    }

    @Test func aModelThatAnotherClientLeasedStays() async throws {
        let orchestrator = await orchestrator(Cloud(answers: 1))
        let lease = try await model("text").lease()
        try await model("eyes").load()
        _ = try await ask(orchestrator)
        await advance(30)
        var unloaded = unloads.makeAsyncIterator()
        #expect(await unloaded.next() == "eyes")
        #expect(loaded.contains("text"))
        lease.end()
        #expect(loaded.contains("text"), "it is not about to leave")
        await hearth.close()
    }

    @Test func aModelThatAnswersLeavesHalfAMinuteAfterItsAnswer() async throws {
        let orchestrator = await orchestrator(Cloud(answers: 1))
        let answering = Task { try await ask(orchestrator, RouteRequest(preference: .local)) }
        await waiting.stalled()
        #expect(try await ask(orchestrator).text == "cloud")
        clock.advance(by: .seconds(40))
        #expect(loaded == ["text"])
        await waiting.goOn()
        #expect(try await answering.value == ("wait", ["local-preferred"]))
        await advance(29)
        #expect(loaded == ["text"])
        clock.advance(by: .seconds(1))
        var unloaded = unloads.makeAsyncIterator()
        #expect(await unloaded.next() == "text")
        await hearth.close()
    }

    @Test func theReturnOfTheRouteCancelsTheEviction() async throws {
        let orchestrator = await orchestrator(Cloud(answers: 1))
        try await model("other").load()
        _ = try await ask(orchestrator)
        await advance(20)
        await orchestrator.setForceLocal(true)
        clock.advance(by: .seconds(20))
        #expect(try await ask(orchestrator, RouteRequest(model: "other")) == ("other", ["force-local"]))
        #expect(loaded == ["other"])
        // The next switch begins another half minute.
        await orchestrator.setForceLocal(false)
        await advance(29)
        #expect(loaded == ["other"])
        clock.advance(by: .seconds(1))
        var unloaded = unloads.makeAsyncIterator()
        #expect(await unloaded.next() == "other")
        await hearth.close()
    }

    // MARK: The front door

    private func cloud(_ client: UnreachableClient) throws -> CloudEngine {
        CloudEngine(try CloudSettings(.openai, url: URL(string: "http://127.0.0.1:1")), client: client)
    }

    @Test func anInstalledModelTakesOverAndNothingIsFetched() async throws {
        let client = UnreachableClient()
        let orchestrator = try await hearth.orchestrator(
            cloud: try cloud(client), premium: PremiumManager(.ownKey), default: "other")
        #expect(try await ask(orchestrator) == ("other", ["took-over"]))
        #expect(!client.asked.isEmpty)
        #expect(try await ask(orchestrator, RouteRequest(model: "eyes")) == ("eyes", ["model-named"]))
        #expect(loaded == ["eyes", "other"])
        let missing = await #expect(throws: LLMError.self) {
            _ = try await ask(orchestrator, RouteRequest(model: "missing"))
        }
        #expect(missing?.code == .modelNotLoaded)
        await orchestrator.flush()
        let record = RouteJournal.read(folder.path("home/routing"))
        #expect(record.decisions.map(\.reason) == ["took-over", "model-named"])
        await hearth.close()
    }

    @Test func withoutAChosenModelTheCloudsFailureIsReported() async throws {
        let failing = try await hearth.orchestrator(
            cloud: try cloud(UnreachableClient()), premium: PremiumManager(.ownKey))
        let error = await #expect(throws: LLMError.self) { _ = try await ask(failing) }
        #expect(error?.code == .unreachable)
        let local = try await hearth.orchestrator()
        let missing = await #expect(throws: LLMError.self) { _ = try await ask(local) }
        #expect(missing?.code == .modelNotLoaded)
        await hearth.close()
    }
}
