import HearthBase
import HearthInference
import Testing

@Suite struct PrefixReuseTests {
    @Test(
        arguments: [
            ([], [1, 2, 3], 0, 3, 0),
            ([1, 2, 3], [1, 2, 3], 2, 1, 1),  // the last token is always computed again
            ([1, 2, 3], [1, 2, 3, 4], 3, 1, 0),
            ([1, 2, 3, 9, 9], [1, 2, 3, 4], 3, 1, 2),
            ([1, 2], [7, 1, 2], 0, 3, 2),
            ([1, 2, 3, 4], [1], 0, 1, 4),
            ([1], [1], 0, 1, 1),
            ([5, 6], [], 0, 0, 2),
        ] as [([Int32], [Int32], Int, Int, Int)])
    func keepsTheCommonBeginning(cached: [Int32], prompt: [Int32], reused: Int, remaining: Int, discarded: Int) {
        let reuse = PrefixReuse(cached: cached, prompt: prompt)
        #expect(reuse.reused == reused)
        #expect(reuse.remaining == remaining)
        #expect(reuse.discarded == discarded)
    }
}

@Suite struct ContextFitTests {
    /// A message costs as many tokens as it has characters, a prompt 2 more.
    private func fit(_ messages: [ChatMessage], window: Int, reserve: Int) throws -> (kept: [ChatMessage], dropped: Int)
    {
        let outcome = try ContextFit(window: window, reserve: reserve).apply(
            to: messages, render: { $0 }, count: { $0.reduce(2) { $0 + $1.content.count } })
        return (outcome.prompt, outcome.dropped)
    }

    private let system = ChatMessage(.system, "ssss")

    private func turns(_ count: Int) -> [ChatMessage] {
        (0..<count).flatMap { [ChatMessage(.user, "user\($0)"), ChatMessage(.assistant, "asst\($0)")] }
    }

    @Test func leavesWhatFitsAlone() throws {
        let messages = [system] + turns(2) + [ChatMessage(.user, "last")]
        let outcome = try fit(messages, window: 40, reserve: 10)
        #expect(outcome.kept == messages)
        #expect(outcome.dropped == 0)
    }

    @Test(arguments: 0...40)
    func dropsWholeTurnsFromTheOldest(window: Int) throws {
        let messages = [system] + turns(5) + [ChatMessage(.user, "last!")]
        let needed = 4 + 5 + 2
        if window <= needed {
            let error = #expect(throws: LLMError.self) { try fit(messages, window: window, reserve: 8) }
            #expect(error?.code == .exceededContextWindowSize)
            #expect(error?.context.found == "\(needed) tokens")
            #expect(error?.message.contains("\(window)") == true)
            return
        }
        let outcome = try fit(messages, window: window, reserve: 8)
        #expect(outcome.kept.first == system)
        #expect(outcome.kept.last == messages.last)
        #expect(outcome.kept.count + outcome.dropped == messages.count)
        #expect(outcome.kept[1].role == .user)
        #expect(outcome.kept.dropFirst() == messages.suffix(outcome.kept.count - 1))
        // Nothing was dropped that would have fitted: two messages of five characters more.
        let length = outcome.kept.reduce(2) { $0 + $1.content.count }
        if outcome.dropped > 0 { #expect(length + 10 + 8 > window) }
    }

    @Test func dropsAsLittleAsPossible() throws {
        let messages = turns(50) + [ChatMessage(.user, "last")]
        for window in stride(from: 20, to: 600, by: 7) {
            let outcome = try fit(messages, window: window, reserve: 4)
            let length = { (dropped: Int) in messages.dropFirst(dropped).reduce(2) { $0 + $1.content.count } }
            #expect(length(outcome.dropped) + 4 <= window)
            let less = stride(from: 0, to: outcome.dropped, by: 2)
            for dropped in less { #expect(length(dropped) + 4 > window) }
        }
    }

    @Test func takesAConversationOfOne() throws {
        #expect(try fit([ChatMessage(.user, "1234")], window: 7, reserve: 100).dropped == 0)
        #expect(throws: LLMError.self) { try fit([ChatMessage(.user, "1234")], window: 6, reserve: 0) }
        #expect(try fit([system], window: 7, reserve: 0).kept == [system])
        #expect(try fit([], window: 3, reserve: 0).kept.isEmpty)
    }

    @Test func passesOnWhatRenderingThrows() {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try ContextFit(window: 10, reserve: 1).apply(
                to: [ChatMessage(.user, "a")], render: { _ in throw Refusal() }, count: { (_: Int) in 0 })
        }
    }
}

@Suite struct StopPolicyTests {
    private let policy = StopPolicy(maximumNewTokens: 10, contextLength: 100, timeout: .seconds(5))

    private func decide(
        generated: Int = 0, used: Int = 0, elapsed: Duration = .zero, ended: Bool = false, cancelled: Bool = false
    ) -> StopPolicy.Decision {
        policy.decide(
            StopPolicy.Progress(
                generatedTokens: generated, usedContext: used, elapsed: elapsed, isEndOfGeneration: ended,
                isCancelled: cancelled))
    }

    @Test func goesOnBelowEveryLimit() {
        #expect(decide(generated: 9, used: 99, elapsed: .milliseconds(4999)) == .proceed)
    }

    @Test func endsAtEachLimit() {
        #expect(decide(generated: 10) == .finish(.maximumNewTokens))
        #expect(decide(used: 100) == .finish(.contextFull))
        #expect(decide(elapsed: .seconds(5)) == .finish(.timedOut))
        #expect(decide(ended: true) == .finish(.endOfGeneration))
        #expect(decide(cancelled: true) == .cancel)
    }

    @Test func ranksItsReasons() {
        #expect(decide(generated: 10, used: 100, elapsed: .seconds(9), ended: true, cancelled: true) == .cancel)
        #expect(decide(generated: 10, used: 100, elapsed: .seconds(9), ended: true) == .finish(.endOfGeneration))
        #expect(decide(generated: 10, used: 100, elapsed: .seconds(9)) == .finish(.maximumNewTokens))
        #expect(decide(used: 100, elapsed: .seconds(9)) == .finish(.contextFull))
    }

    @Test func hasDefaultsForEveryGeneration() {
        let options = GenerationOptions()
        #expect(options.maximumNewTokens == 768)
        #expect(options.timeout == .seconds(120))
        #expect(options.sampling == SamplingOptions(temperature: 0.35))
        #expect(SamplingOptions.greedy.temperature == 0)
    }
}
