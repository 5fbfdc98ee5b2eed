import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

@Suite struct ModelHealthTests {
    private func health(_ answers: [[ScriptedEngine.Step]], _ clock: ManualClock) -> (ModelHealth, ScriptedModels) {
        let models = ScriptedModels(ScriptedEngine(answers, capabilities: APIFixture.abilities))
        return (ModelHealth(models, time: clock.time), models)
    }

    @Test func asksForOneTokenAndRepeatsTheAnswerForAWhile() async throws {
        let clock = ManualClock()
        let (health, models) = health(
            [[.text("a"), .finish(.maximumNewTokens)], [.fail(LLMError(.generateFailed, "lost"))]], clock)
        #expect(await health.finding() == ModelHealth.Finding(well: 1, failing: 0))
        clock.advance(by: ModelHealth.lifetime / 2)
        #expect(await health.finding() == ModelHealth.Finding(well: 1, failing: 0))
        #expect(await models.scripted.options.map(\.maximumNewTokens) == [1])
        clock.advance(by: ModelHealth.lifetime)
        #expect(await health.finding() == ModelHealth.Finding(well: 0, failing: 1))
        // No use, after which the model would stay in memory.
        #expect(models.kept.withLock { $0.isEmpty })
    }

    /// A page's answer fills the only slot: the question waits until its time is over.
    @Test(arguments: [[ScriptedEngine.Step.finish(.timedOut)], [.fail(LLMError(.timedOut, "late"))]])
    func aModelWhoseSlotsAreFullIsWell(steps: [ScriptedEngine.Step]) async throws {
        let (health, models) = health([steps], ManualClock())
        models.answering.withLock { $0 = true }
        #expect(await health.finding() == ModelHealth.Finding(well: 1, failing: 0))
        let (idle, _) = self.health([steps], ManualClock())
        #expect(await idle.finding() == ModelHealth.Finding(well: 0, failing: 1))
    }

    @Test(arguments: [LLMError(.busy, "full") as any Error, CancellationError()])
    func aModelThatAnswersOthersOrLeavesIsWell(error: any Error) async throws {
        let (health, _) = health([[.fail(error)]], ManualClock())
        #expect(await health.finding().failing == 0)
    }
}
