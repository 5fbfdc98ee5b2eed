import HearthInference
import Testing

@Suite struct ThinkingBudgetTests {
    private let stop = StopPolicy(maximumNewTokens: 768, contextLength: 4096, timeout: .seconds(120))

    private func budget(
        _ options: ThinkingOptions = ThinkingOptions(), prompt: Int = 100, closing: Int = 4, stop: StopPolicy? = nil
    ) -> ThinkingBudget {
        ThinkingBudget(options, stop: stop ?? self.stop, promptTokens: prompt, closingTokens: closing)
    }

    private func closes(
        _ budget: ThinkingBudget? = nil, _ thinking: Int = 0, time: Duration = .zero, used: Int = 0,
        elapsed: Duration = .zero, wants: Bool = false
    ) -> Bool {
        (budget ?? self.budget()).closes(
            thinkingTokens: thinking, thinkingTime: time, generatedTokens: thinking + 1, usedContext: used,
            elapsed: elapsed, wantsAnswer: wants)
    }

    @Test func endsForEachReason() {
        #expect(closes(budget(.disabled)))
        #expect(closes(wants: true))
        let tokens = budget(ThinkingOptions(maximumTokens: 10))
        #expect(!closes(tokens, 9))
        #expect(closes(tokens, 10))
        #expect(closes(budget(ThinkingOptions(maximumTokens: 0))))
        let time = budget(ThinkingOptions(maximumTime: .seconds(5)))
        #expect(!closes(time, time: .milliseconds(4999)))
        #expect(closes(time, time: .seconds(5)))
        // 768 - 4 - 256 = 508 generated tokens.
        #expect(!closes(nil, 506))
        #expect(closes(nil, 507))
        #expect(closes(used: 4096 - 4 - 256))
        #expect(!closes(used: 4096 - 4 - 257))
        #expect(closes(elapsed: .seconds(90)))
        #expect(!closes(elapsed: .seconds(89)))
    }

    /// For any limits: a model that thinks without end is closed in time, and its answer has the reserve.
    @Test func alwaysLeavesRoomForAnAnswer() {
        for maximum in [1, 2, 8, 9, 20, 100, 768, 4000] {
            for context in [64, 128, 1024, 4096] {
                for prompt in [1, 32, context / 2, context - 20] where prompt > 0 {
                    let stop = StopPolicy(maximumNewTokens: maximum, contextLength: context, timeout: .seconds(120))
                    let closing = 4
                    let budget = budget(prompt: prompt, closing: closing, stop: stop)
                    var generated = 0
                    while !budget.closes(
                        thinkingTokens: generated, generatedTokens: generated, usedContext: prompt + generated),
                        generated < 10_000
                    { generated += 1 }
                    let left = min(maximum, context - prompt) - generated - closing
                    let possible = min(maximum, context - prompt) - closing
                    #expect(left >= min(budget.reservedTokens, possible), "\(maximum) \(context) \(prompt)")
                    #expect(budget.reservedTokens >= min(256, min(maximum, context - prompt) / 2))
                }
            }
        }
    }

    @Test func writesTheClosingMark() {
        #expect(ThinkingBudget.closingText(.think, options: ThinkingOptions()) == "\n</think>\n\n")
        #expect(
            ThinkingBudget.closingText(.brackets, options: ThinkingOptions(lastWords: "Enough."))
                == "\n\nEnough.\n[/THINK]\n\n")
    }

    @Test func theButtonIsSeen() {
        let control = ThinkingControl()
        #expect(!control.wantsAnswer)
        control.answerNow()
        control.answerNow()
        #expect(control.wantsAnswer)
        #expect(ThinkingOptions(control: control) == ThinkingOptions(control: control))
        #expect(ThinkingOptions(control: control) != ThinkingOptions(control: ThinkingControl()))
    }
}
