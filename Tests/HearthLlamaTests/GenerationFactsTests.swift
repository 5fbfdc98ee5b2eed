#if Llama
import HearthInference
@testable import HearthLlama
import Testing

@Suite struct GenerationFactsTests {
    /// Ten tokens chosen in 4.5 s after the first; five more were written in the model's place before that.
    @Test(arguments: [(0, 10), (5, 15)])
    func onlyTokensTheModelChoseCountForItsSpeed(before: Int, generated: Int) {
        var facts = GenerationFacts(promptTokens: 3)
        facts.generatedTokens = generated
        facts.tokensBeforeFirst = before
        facts.decodeSeconds = 4.5
        facts.firstTokenSeconds = 0.25
        let summary = facts.summary(reason: .endOfGeneration)
        #expect(summary.timings.decodeTokensPerSecond == 2)
        #expect(summary.timings.firstTokenSeconds == 0.25)
        #expect(summary.usage.generatedTokens == generated)
    }

    @Test func withoutChosenTokensThereIsNoSpeed() {
        var facts = GenerationFacts(promptTokens: 3)
        facts.generatedTokens = 5
        facts.tokensBeforeFirst = 5
        #expect(facts.summary(reason: .timedOut).timings.decodeTokensPerSecond == 0)
    }
}
#endif
