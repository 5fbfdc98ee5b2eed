import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthRouting

extension OrchestratorTests {
    @Test func aLocalModelTakesOverBeforeTheFirstToken() async throws {
        let stage = await RoutingStage(
            cloud: [[.event(.phase(.connecting)), .fail(Self.late)]], local: ScriptedLocals([Self.localAnswer]),
            entitlement: Entitlement(.starter, monthlyCredits: 3))
        let (summary, log) = try await ask(stage)
        #expect(summary.reason == .endOfGeneration)
        #expect(log.text == "local")
        #expect(log.decisions.map(\.reasonCode) == ["took-over"])
        #expect(log.decisions.first?.trace.last == "cloud answer: failed before its first word (timed-out)")
        #expect(stage.premium.credits == 3)
    }

    @Test func withoutALocalModelTheCloudsFailureIsReported() async throws {
        let stage = await RoutingStage(
            cloud: [[.fail(Self.late)]],
            local: ScriptedLocals(ScriptedEngine([]), failure: LLMError(.modelNotLoaded, "no model")))
        let error = await #expect(throws: LLMError.self) { _ = try await ask(stage) }
        #expect(error?.code == .timedOut)
    }

    /// Also where the cloud is not asked.
    @Test func withoutALocalModelTheReasonOfTheRouteIsReported() async throws {
        let locals = ScriptedLocals(ScriptedEngine([]), failure: LLMError(.modelNotLoaded, "no model"))
        let stage = await RoutingStage(cloud: Array(repeating: [.fail(Self.late)], count: 3), local: locals)
        for _ in 0..<3 { await #expect(throws: LLMError.self) { _ = try await ask(stage) } }
        #expect(await stage.orchestrator.decision().reasonCode == "failing")
        let error = await #expect(throws: LLMError.self) { _ = try await ask(stage) }
        #expect(error?.code == .unreachable && stage.cloud.turns.count == 3)
        // A local answer that was asked for lacks the model only.
        let local = await #expect(throws: LLMError.self) {
            _ = try await ask(stage, RouteRequest(preference: .local))
        }
        #expect(local?.code == .modelNotLoaded)
    }

    @Test func failuresOfInsistentRequestsAreRecordedToo() async throws {
        let folder = try TemporaryFolder()
        let failing: [ScriptedEngine.Step] = [.fail(Self.late)]
        let stage = await RoutingStage(cloud: [failing, failing, failing], folder: folder.path("routing"))
        for _ in 0..<3 {
            await #expect(throws: LLMError.self) { _ = try await ask(stage, RouteRequest(preference: .cloud)) }
        }
        await stage.orchestrator.flush()
        let record = RouteJournal.read(folder.path("routing"))
        #expect(record.endpoint?.failures.count == 3 && record.endpoint?.openUntil != nil)
        #expect(record.decisions.isEmpty)
    }

    @Test func aShortPauseIsWaitedForOnce() async throws {
        var busy = LLMError(.rateLimited, "too many requests")
        busy.context.retryAfterSeconds = 1
        let stage = await RoutingStage(cloud: [[.fail(busy)], Self.answer])
        async let answer = ask(stage)
        await stage.clock.sleepers(atLeast: 1)
        stage.clock.advance(by: .seconds(1))
        let (_, log) = try await answer
        #expect(log.text == "Because." && log.sources == [.cloud])
        #expect(stage.cloud.turns.count == 2)
    }

    @Test func nothingIsRepeatedAfterAPartOfAnAnswer() async throws {
        let reset = LLMError(.unreachable, "the connection broke off")
        let stage = await RoutingStage(
            cloud: [[.event(.phase(.decode)), .fail(reset)]], local: ScriptedLocals([Self.localAnswer]))
        let (_, log) = try await ask(stage)
        #expect(log.sources == [.local] && stage.cloud.turns.count == 1)
    }

    @Test func anAnswerThatBreaksOffStaysAndGoesOnLocally() async throws {
        let reset = LLMError(.unreachable, "the connection broke off")
        let text = "Done. [NOTE_ACTION:{\"title\":\"a]"
        let local = ScriptedEngine([[.text(" More."), .finish(.endOfGeneration)]])
        let stage = await RoutingStage(
            cloud: [[.text(text), .fail(reset)]], local: ScriptedLocals(local),
            entitlement: Entitlement(.starter, monthlyCredits: 3))
        let log = AnswerLog()
        let engine = stage.orchestrator.conversation { log.take($0) }
        let summary = try await engine.generate(Self.question, options: GenerationOptions()) { log.take($0) }
        #expect(summary.reason == .interrupted)
        #expect(log.text == text && log.sources == [.cloud])
        #expect(await stage.local.loads == 0)
        #expect(stage.premium.credits == 2, "a part of the answer came")
        #expect(engine.interruptedText == "Done. ")

        let rest = try await engine.continueLocally { log.take($0) }
        #expect(rest.reason == .endOfGeneration && log.sources == [.cloud, .local])
        let asked = try #require(await local.requests.first)
        #expect(asked.map(\.role) == [.user, .assistant, .user])
        #expect(asked[1].content == "Done. ")
        let error = await #expect(throws: RoutingError.self) { _ = try await engine.continueLocally { _ in } }
        #expect(error?.code == .nothingToContinue)
    }

    @Test func anEngineThatReportsItsOwnInterruptionIsContinuedToo() async throws {
        let stage = await RoutingStage(
            cloud: [[.text("Half"), .finish(.interrupted)], [.finish(.interrupted)]],
            local: ScriptedLocals([Self.localAnswer]))
        let engine = stage.orchestrator.conversation()
        _ = try await engine.generate(Self.question, options: GenerationOptions()) { _ in }
        #expect(engine.interruptedText == "Half")
        let (_, log) = try await ask(stage)
        #expect(log.sources == [.local], "an interruption before the first word is taken over")
    }

    @Test(arguments: [
        ("No block.", "No block."), ("A [NOTE_ACTION:{\"a\":\"]\"}] b", "A [NOTE_ACTION:{\"a\":\"]\"}] b"),
        ("A [NOTE_ACTION:{\"a\":", "A "), ("A [NOTE_ACT", "A "), ("See [1] and [", "See [1] and ["),
        ("A <tool_call>{\"name\"", "A "), ("A <tool_call>{}</tool_call>", "A <tool_call>{}</tool_call>"),
        ("[A:{}] x [B:{\"t\":\"\\\"]\"", "[A:{}] x "),
    ])
    func noContinuationBeginsInsideABlock(text: String, kept: String) {
        #expect(text.withoutOpenBlock == kept)
    }

    @Test func aCancelledRequestGivesItsCreditBack() async throws {
        let stage = await RoutingStage(
            cloud: [[.waitForCancellation]], entitlement: Entitlement(.starter, monthlyCredits: 1))
        let task = Task { try await ask(stage) }
        await stage.cloud.engine.stalled()
        #expect(stage.premium.credits == 0)
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(stage.premium.credits == 1)
        #expect(await stage.orchestrator.decision().source == .cloud)
    }

    @Test func noEventOfAnEarlierEngineReachesTheCallerAfterATakeover() async throws {
        let kept = Locked<(@Sendable (GenerationEvent) -> Void)?>(nil)
        let gate = AnswerGate(onFirst: {}, onEvent: { event in kept.withLock { $0 }?(event) })
        let log = AnswerLog()
        kept.withLock { $0 = { log.take($0) } }
        gate.pass(.text("a"))
        let passed = gate.close()
        gate.pass(.text("b"))
        #expect(log.text == "a" && passed.text == "a" && passed.isVisible)
    }
}
