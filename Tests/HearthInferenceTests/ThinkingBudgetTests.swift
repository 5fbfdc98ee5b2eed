import HearthInference
import Testing

@Suite struct ThinkingBudgetTests {
    private let stop = StopPolicy(maximumNewTokens: 768, contextLength: 4096, timeout: .seconds(120))

    private func budget(
        _ options: ThinkingOptions = ThinkingOptions(), prompt: Int = 100, closing: Int = 4, stop: StopPolicy? = nil
    ) -> ThinkingBudget {
        ThinkingBudget(options, stop: stop ?? self.stop, promptTokens: prompt, closingTokens: closing)
    }

    private func progress(
        _ thinking: Int = 0, time: Duration = .zero, used: Int = 0, elapsed: Duration = .zero, wants: Bool = false
    ) -> ThinkingBudget.Progress {
        ThinkingBudget.Progress(
            isThinking: true, thinkingTokens: thinking, thinkingTime: time, generatedTokens: thinking + 1,
            usedContext: used, elapsed: elapsed, wantsAnswer: wants)
    }

    @Test func leavesTheAnswerAlone() {
        var done = progress(9999, time: .seconds(999), used: 9999, elapsed: .seconds(999), wants: true)
        done.isThinking = false
        #expect(budget(.disabled).decide(done) == .proceed)
    }

    @Test func endsForEachReason() {
        #expect(budget(.disabled).decide(progress()) == .close(.disabled))
        #expect(budget().decide(progress(wants: true)) == .close(.answerNow))
        let tokens = budget(ThinkingOptions(maximumTokens: 10))
        #expect(tokens.decide(progress(9)) == .proceed)
        #expect(tokens.decide(progress(10)) == .close(.tokens))
        #expect(budget(ThinkingOptions(maximumTokens: 0)).decide(progress()) == .close(.tokens))
        let time = budget(ThinkingOptions(maximumTime: .seconds(5)))
        #expect(time.decide(progress(time: .milliseconds(4999))) == .proceed)
        #expect(time.decide(progress(time: .seconds(5))) == .close(.time))
        // 768 - 4 - 256 = 508 generated tokens.
        #expect(budget().decide(progress(506)) == .proceed)
        #expect(budget().decide(progress(507)) == .close(.reserve))
        #expect(budget().decide(progress(used: 4096 - 4 - 256)) == .close(.reserve))
        #expect(budget().decide(progress(used: 4096 - 4 - 257)) == .proceed)
        #expect(budget().decide(progress(elapsed: .seconds(90))) == .close(.reserve))
        #expect(budget().decide(progress(elapsed: .seconds(89))) == .proceed)
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
                    while case .proceed = budget.decide(
                        ThinkingBudget.Progress(
                            isThinking: true, thinkingTokens: generated, generatedTokens: generated,
                            usedContext: prompt + generated)),
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
