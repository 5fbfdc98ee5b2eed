import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthRouting

/// Answers, failover and limits of the orchestrator.
@Suite struct OrchestratorTests {
    static let question = [ChatMessage(.user, "Why?")]
    static let answer: [ScriptedEngine.Step] = [.text("Be"), .text("cause."), .finish(.endOfGeneration)]
    static let localAnswer: [ScriptedEngine.Step] = [.text("local"), .finish(.endOfGeneration)]
    static let late = LLMError(.timedOut, "no answer came")

    func ask(
        _ stage: RoutingStage, _ request: RouteRequest = RouteRequest(), _ messages: [ChatMessage] = question,
        log: AnswerLog = AnswerLog()
    ) async throws -> (summary: GenerationSummary, log: AnswerLog) {
        let engine = stage.orchestrator.conversation(request) { log.take($0) }
        return (try await engine.generate(messages, options: GenerationOptions()) { log.take($0) }, log)
    }

    // MARK: Choosing

    @Test func theCloudAnswersWithTheTurnOfItsQuestion() async throws {
        let stage = await RoutingStage(cloud: [[.event(.phase(.connecting))] + Self.answer])
        let (summary, log) = try await ask(stage)
        #expect(summary.reason == .endOfGeneration)
        #expect(log.events == [.phase(.connecting), .text("Be"), .text("cause.")])
        #expect(log.decisions.map(\.reasonCode) == ["cloud"])
        #expect(stage.cloud.turns == [Self.question[0].id])
        #expect(await stage.local.loads == 0)
    }

    @Test func withoutACloudEverythingIsLocal() async throws {
        let local = ScriptedLocals([Self.localAnswer])
        let orchestrator = await LLMOrchestrator(
            local: local, cloud: nil, premium: PremiumManager(), network: ScriptedNetworkMonitor(.offline),
            time: ManualClock().time)
        let log = AnswerLog()
        _ = try await orchestrator.generate(Self.question, options: GenerationOptions()) { log.take($0) }
        #expect(log.events == [.phase(.loading(fraction: 0)), .text("local")])
        let decision = await orchestrator.decision()
        #expect(decision.source == .local && decision.reasonCode == "cloud-missing" && !decision.isNotice)
    }

    @Test func aPrivateConversationStaysOnTheDeviceAndOutOfTheRecord() async throws {
        let folder = try TemporaryFolder()
        let stage = await RoutingStage(
            cloud: [Self.answer], local: ScriptedLocals([Self.localAnswer, Self.localAnswer]), folder: folder.path)
        let (_, log) = try await ask(stage, RouteRequest(isPrivate: true))
        #expect(log.sources == [.local] && stage.cloud.turns.isEmpty)
        await stage.orchestrator.flush()
        #expect(!FileManager.default.fileExists(atPath: folder.path("route.json").string))
        _ = try await ask(stage, RouteRequest(preference: .local))
        await stage.orchestrator.flush()
        #expect(RouteJournal.read(folder.path).decisions.map(\.reason) == ["local-preferred"])
    }

    @Test func aRequestThatInsistsOnTheCloudSaysWhyItFails() async throws {
        let insisting = RouteRequest(preference: .cloud)
        let forced = await RoutingStage(forceLocal: true)
        let off = await #expect(throws: RoutingError.self) { _ = try await ask(forced, insisting) }
        #expect(off?.code == .cloudOff)
        let free = await RoutingStage(entitlement: Entitlement(.free))
        let tier = await #expect(throws: LLMError.self) { _ = try await ask(free, insisting) }
        #expect(tier?.code == .notEntitled)
        let spent = await RoutingStage(entitlement: Entitlement(.starter, monthlyCredits: 0))
        let credits = await #expect(throws: LLMError.self) { _ = try await ask(spent, insisting) }
        #expect(credits?.code == .noCredits)
        let broken = await RoutingStage(cloud: [[.fail(Self.late)]], local: ScriptedLocals([Self.localAnswer]))
        let failure = await #expect(throws: LLMError.self) { _ = try await ask(broken, insisting) }
        #expect(failure?.code == .timedOut, "no local model takes over")
        let none = await LLMOrchestrator(
            local: ScriptedLocals(), cloud: nil, premium: PremiumManager(), network: ScriptedNetworkMonitor(),
            time: ManualClock().time)
        let missing = await #expect(throws: RoutingError.self) {
            _ = try await none.conversation(insisting).generate(Self.question, options: GenerationOptions()) { _ in }
        }
        #expect(missing?.code == .cloudMissing)
    }

    @Test func aFirstRequestWaitsForTheConnection() async throws {
        let stage = await RoutingStage(cloud: [Self.answer], address: "https://cloud.example")
        let log = AnswerLog()
        async let answer = ask(stage, log: log)
        await stage.clock.sleepers(atLeast: 1)
        #expect(stage.cloud.turns.isEmpty)
        stage.clock.advance(by: .seconds(2))
        let (_, done) = try await answer
        #expect(done.sources == [.cloud])
        #expect(log.events.first == .phase(.connecting))
        #expect(stage.cloud.checks == 0)
    }

    @Test func aReconnectIsUsedAfterThirtySecondsAndAHealthCheck() async throws {
        let stage = await RoutingStage(
            cloud: [Self.answer], local: ScriptedLocals([Self.localAnswer]), address: "https://cloud.example")
        await stage.clock.sleepers(atLeast: 1)
        stage.clock.advance(by: .seconds(2))
        await stage.route { $0.source == .cloud }
        stage.network.change(to: .offline)
        await stage.route { $0.reasonCode == "offline" }
        stage.network.change(to: .unrestricted)
        await stage.clock.sleepers(atLeast: 1)
        let (_, log) = try await ask(stage)
        #expect(log.decisions.map(\.reasonCode) == ["settling"])
        stage.clock.advance(by: .seconds(30))
        await stage.route { $0.source == .cloud }
        #expect(stage.cloud.checks == 1)
        let (_, second) = try await ask(stage)
        #expect(second.sources == [.cloud])
    }

    /// Also where an earlier process saw a stable connection.
    @Test func aDeviceThatIsOfflineSendsNoFirstRequest() async throws {
        let folder = try TemporaryFolder()
        let stage = await RoutingStage(cloud: [Self.answer], address: "https://cloud.example", folder: folder.path)
        await stage.clock.sleepers(atLeast: 1)
        stage.clock.advance(by: .seconds(2))
        await stage.route { $0.source == .cloud }
        _ = try await ask(stage)
        await stage.orchestrator.flush()
        for (network, reason) in [(NetworkCondition.unrestricted, "cloud"), (.offline, "offline")] {
            let orchestrator = await LLMOrchestrator(
                local: stage.local, cloud: stage.cloud, premium: PremiumManager(.ownKey),
                network: ScriptedNetworkMonitor(network), folder: folder.path, time: stage.clock.time)
            #expect(await orchestrator.decision().reasonCode == reason)
        }
    }

    @Test func anEntitlementThatChangesIsReadAnewAndHoldsNoOrchestrator() async throws {
        var stage: RoutingStage? = await RoutingStage(cloud: [Self.answer], entitlement: Entitlement(.free))
        let premium = try #require(stage?.premium)
        #expect(await stage?.orchestrator.decision().reasonCode == "tier")
        premium.update(Entitlement(.starter))
        await stage?.route { $0.source == .cloud }
        premium.update(Entitlement(.free))
        await stage?.route { $0.reasonCode == "tier" }
        weak let orchestrator = stage?.orchestrator
        stage = nil
        // The followers end when they see the next change.
        while orchestrator != nil { await Task.yield() }
        premium.update(Entitlement(.pro))
        #expect(orchestrator == nil)
    }

    // MARK: Credits

    @Test func passesOfATurnCostOneCredit() async throws {
        let stage = await RoutingStage(
            cloud: [Self.answer, Self.answer, Self.answer], entitlement: Entitlement(.starter, monthlyCredits: 5))
        _ = try await ask(stage)
        _ = try await ask(stage)
        #expect(stage.premium.credits == 4)
        _ = try await ask(stage, RouteRequest(turn: "another"))
        #expect(stage.premium.credits == 3)
        #expect(stage.cloud.turns.last == "another")
    }

    @Test func withoutCreditsLocalModelsAnswerWithANotice() async throws {
        let stage = await RoutingStage(
            cloud: [Self.answer], local: ScriptedLocals([Self.localAnswer]),
            entitlement: Entitlement(.starter, monthlyCredits: 1))
        _ = try await ask(stage, RouteRequest(turn: "first"))
        let (_, log) = try await ask(stage, RouteRequest(turn: "second"))
        #expect(log.decisions.map(\.reasonCode) == ["no-credits"])
        #expect(log.decisions.first?.isNotice == true)
    }

    @Test func withABrokenFileOfCreditsLocalModelsAnswer() async throws {
        let folder = try TemporaryFolder()
        try folder.write("credits.json", Data("{".utf8))
        for credits in [0, 3] {
            let stage = await RoutingStage(
                cloud: [Self.answer], local: ScriptedLocals([Self.localAnswer]),
                entitlement: Entitlement(.starter, monthlyCredits: credits), folder: folder.path)
            let (_, log) = try await ask(stage)
            #expect(log.sources == [.local] && stage.cloud.turns.isEmpty)
        }
    }

    @Test func theServersWordAboutCreditsCounts() async throws {
        let refused = LLMError(.noCredits, "nothing left")
        let stage = await RoutingStage(
            cloud: [Self.answer, [.fail(refused)]], local: ScriptedLocals([Self.localAnswer, Self.localAnswer]),
            entitlement: Entitlement(.starter, monthlyCredits: 9))
        stage.cloud.reportedCredits = 4
        _ = try await ask(stage, RouteRequest(turn: "first"))
        #expect(stage.premium.credits == 4)
        stage.cloud.reportedCredits = nil
        let (_, log) = try await ask(stage, RouteRequest(turn: "second"))
        #expect(log.decisions.map(\.reasonCode) == ["no-credits"])
        #expect(stage.premium.credits == 0)
        let (_, third) = try await ask(stage, RouteRequest(turn: "third"))
        #expect(third.sources == [.local] && stage.cloud.turns.count == 2)
    }

    // MARK: Loading

    @Test func anEvictedModelIsLoadedAgainInSight() async throws {
        let stage = await RoutingStage(
            cloud: [Self.answer], local: ScriptedLocals([Self.localAnswer, Self.localAnswer]))
        let (_, first) = try await ask(stage, RouteRequest(preference: .local))
        #expect(first.events.contains(.phase(.loading(fraction: 0))))
        _ = try await ask(stage)
        await stage.clock.sleepers(atLeast: 1)
        stage.clock.advance(by: .seconds(30))
        await stage.local.nextEviction()
        #expect(await stage.local.isLoaded == false)
        await stage.orchestrator.setForceLocal(true)
        let (_, second) = try await ask(stage)
        #expect(second.events.contains(.phase(.loading(fraction: 0))))
        #expect(await stage.local.loads == 2)
    }

    @Test func aLoadThatTakesTooLongFails() async throws {
        let clock = ManualClock()
        let local = ScriptedLocals(ScriptedEngine([Self.localAnswer]), time: clock.time)
        let orchestrator = await LLMOrchestrator(
            local: local, cloud: nil, premium: PremiumManager(), network: ScriptedNetworkMonitor(), time: clock.time)
        let answer = Task {
            try await orchestrator.generate(Self.question, options: GenerationOptions()) { _ in }
        }
        await clock.sleepers(atLeast: 2)
        clock.advance(by: LLMOrchestrator.loadLimit)
        let error = await #expect(throws: LLMError.self) { _ = try await answer.value }
        #expect(error?.code == .timedOut)
    }

    // MARK: The record

    @Test func theLastDecisionsAreKeptWithoutTexts() async throws {
        let folder = try TemporaryFolder()
        let stage = await RoutingStage(
            cloud: Array(repeating: Self.answer, count: 12), address: "https://cloud.example/v1?key=secret",
            folder: folder.path)
        await stage.clock.sleepers(atLeast: 1)
        stage.clock.advance(by: .seconds(2))
        await stage.route { $0.source == .cloud }
        for _ in 0..<12 { _ = try await ask(stage) }
        await stage.orchestrator.flush()
        let bytes = try LocalFileSystem().contents(ofFile: folder.path("route.json"), limit: 64 << 10)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.contains("Why?") && !text.contains("Because") && !text.contains("secret"))
        let record = RouteJournal.read(folder.path)
        #expect(record.decisions.count == 10)
        #expect(record.decisions.allSatisfy { $0.source == .cloud && $0.reason == "cloud" })
        #expect(record.endpoint?.address == "https://cloud.example/v1")
        // A later process need not wait for the connection again.
        let later = await LLMOrchestrator(
            local: stage.local, cloud: stage.cloud, premium: stage.premium, network: stage.network, folder: folder.path,
            time: stage.clock.time)
        #expect(await later.activeSource == .cloud)
    }

    @Test func aBrokenRecordBeginsAnew() async throws {
        let folder = try TemporaryFolder()
        try folder.write("route.json", Data("nonsense".utf8))
        let stage = await RoutingStage(cloud: [Self.answer], folder: folder.path)
        _ = try await ask(stage)
        await stage.orchestrator.flush()
        #expect(RouteJournal.read(folder.path).decisions.count == 1)
    }

    // MARK: As an engine

    @Test func aPreparationIsNeverSentToTheCloud() async throws {
        let stage = await RoutingStage(cloud: [Self.answer], local: ScriptedLocals([Self.localAnswer]))
        try await stage.orchestrator.tokens?.prepare(Self.question, options: GenerationOptions())
        #expect(stage.cloud.turns.isEmpty)
        #expect(await stage.local.loads == 0)
        await stage.orchestrator.setForceLocal(true)
        try await stage.orchestrator.tokens?.prepare(Self.question, options: GenerationOptions())
        #expect(await stage.local.loads == 1)
    }

    @Test func aSessionSpeaksThroughIt() async throws {
        let stage = await RoutingStage(cloud: [Self.answer, Self.answer])
        let session = LanguageModelSession(model: stage.orchestrator.conversation())
        #expect(try await session.respond(to: "Why?").content == "Because.")
        #expect(try await session.respond(to: "Really?").content == "Because.")
        #expect(Set(stage.cloud.turns).count == 2)
    }
}
