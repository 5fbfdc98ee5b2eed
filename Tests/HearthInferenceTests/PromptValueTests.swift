import HearthBase
import HearthInference
import Testing

@Suite struct ContextFitTests {
    /// A message has one token for each character, a prompt 2 more.
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

    @Test func keepsAConversationThatFits() throws {
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
        // A block leaves out at most a few messages too many.
        let length = outcome.kept.reduce(2) { $0 + $1.content.count }
        if outcome.dropped > 0 { #expect(length + 8 + 10 + window * 3 / 4 > window) }
    }

    /// While a conversation grows, the cut stays for several turns and then moves by a block.
    @Test(arguments: [nil, 24])
    func cutsInBlocks(limit: Int?) throws {
        let window = 100
        var messages = [system]
        var cuts: [Int] = []
        for turn in 0..<60 {
            messages.append(ChatMessage(.user, "u\(turn % 10)"))
            let fit = ContextFit(window: window, reserve: 20, messageLimit: limit)
            let outcome = try fit.apply(
                to: messages, render: { $0 }, count: { $0.reduce(2) { $0 + $1.content.count } })
            cuts.append(outcome.dropped)
            #expect(outcome.prompt.first == system)
            #expect(outcome.prompt.last == messages.last)
            #expect(outcome.prompt.dropFirst().first?.role == .user)
            #expect(outcome.prompt.reduce(2) { $0 + $1.content.count } + 20 <= window)
            if let limit { #expect(outcome.prompt.count <= limit + 2) }
            messages.append(ChatMessage(.assistant, "a\(turn % 10)"))
        }
        #expect(cuts == cuts.sorted())
        #expect((cuts.last ?? 0) > 60)
        // After the first cut, each place stays for several turns.
        let places = Set(cuts).subtracting([0])
        let cutTurns = cuts.count { $0 > 0 }
        #expect(Double(cutTurns) / Double(places.count) >= (limit == nil ? 4 : 2))
    }

    /// The turn's calls and results alone exceed the limit: the turn stays whole, and all messages before it are left
    /// out.
    @Test(arguments: [8, 9, 10])
    func aTurnLongerThanTheLimitStaysWhole(calls: Int) throws {
        let turn =
            [ChatMessage(.user, "ask")]
            + (0..<calls).flatMap { _ in [ChatMessage(.assistant, "call"), ChatMessage(.tool, "said")] }
        let messages = [system] + turns(3) + turn
        let fit = ContextFit(window: 4 + 3 + 8 * calls + 2 + 10, reserve: 8, messageLimit: 16)
        let outcome = try fit.apply(
            to: messages, render: { $0 }, count: { $0.reduce(2) { $0 + $1.content.count } })
        #expect(outcome.prompt == [system] + turn && outcome.dropped == 6)
    }

    @Test func keepsTheRoomOfTheLongestAnswer() {
        #expect(ContextFit(window: 4096, maximumNewTokens: 768).reserve == 768)
        #expect(ContextFit(window: 1024, maximumNewTokens: 768).reserve == 512)
    }

    /// If no block fits, as few messages as possible are left out.
    @Test func dropsAsLittleAsPossibleWithoutABlock() throws {
        let long = ChatMessage(.user, String(repeating: "x", count: 40))
        let messages = turns(3) + [long, ChatMessage(.assistant, "ok"), ChatMessage(.user, "last")]
        let outcome = try fit(messages, window: 60, reserve: 4)
        #expect(outcome.dropped == 6)
    }

    @Test func acceptsASingleMessage() throws {
        #expect(try fit([ChatMessage(.user, "1234")], window: 7, reserve: 100).dropped == 0)
        #expect(throws: LLMError.self) { try fit([ChatMessage(.user, "1234")], window: 6, reserve: 0) }
        #expect(try fit([system], window: 7, reserve: 0).kept == [system])
        #expect(try fit([], window: 3, reserve: 0).kept.isEmpty)
    }

    /// Messages that are known not to fit are never rendered, whether they are left out or refused.
    @Test func neverRendersMessagesKnownNotToFit() throws {
        let huge = String(repeating: "x", count: 100)
        func fit(_ messages: [ChatMessage]) throws -> Int {
            try ContextFit(window: 20, reserve: 5).apply(
                to: messages, fewest: { $0.reduce(0) { $0 + $1.content.count } },
                render: { kept in
                    #expect(!kept.contains { $0.content == huge })
                    return kept
                }, count: { $0.reduce(2) { $0 + $1.content.count } }
            ).dropped
        }
        let question = ChatMessage(.user, "now?")
        #expect(try fit([ChatMessage(.user, huge), ChatMessage(.assistant, "ok"), question]) == 2)
        for messages in [[ChatMessage(.user, huge)], [ChatMessage(.system, huge), question]] {
            let error = #expect(throws: LLMError.self) { try fit(messages) }
            #expect(error?.code == .exceededContextWindowSize)
            #expect(error?.context.expected == "fewer than 20 tokens")
            #expect(error?.context.found?.hasPrefix("at least 10") == true)
        }
    }

    @Test func passesOnErrorsOfRendering() {
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
        generated: Int = 0, used: Int = 0, elapsed: Duration = .zero, ended: Bool = false, stopped: Bool = false,
        repeats: Bool = false, cancelled: Bool = false
    ) -> StopPolicy.Decision {
        policy.decide(
            generatedTokens: generated, usedContext: used, elapsed: elapsed, isEndOfGeneration: ended,
            isStopString: stopped, isRepeating: repeats, isCancelled: cancelled)
    }

    @Test func goesOnBelowEveryLimit() {
        #expect(decide(generated: 9, used: 99, elapsed: .milliseconds(4999)) == .proceed)
    }

    @Test func endsAtEachLimit() {
        #expect(decide(generated: 10) == .finish(.maximumNewTokens))
        #expect(decide(used: 100) == .finish(.contextFull))
        #expect(decide(elapsed: .seconds(5)) == .finish(.timedOut))
        #expect(decide(ended: true) == .finish(.endOfGeneration))
        #expect(decide(stopped: true) == .finish(.stopString))
        #expect(decide(repeats: true) == .finish(.repeating))
        #expect(decide(cancelled: true) == .cancel)
    }

    /// The rows of the table in order: each precedes all rows below it.
    @Test func ranksItsReasons() {
        func all(
            _ ended: Bool, _ stopped: Bool, _ generated: Int, _ used: Int, repeats: Bool = false, cancelled: Bool
        ) -> StopPolicy.Decision {
            decide(
                generated: generated, used: used, elapsed: .seconds(9), ended: ended, stopped: stopped,
                repeats: repeats, cancelled: cancelled)
        }
        #expect(all(true, true, 10, 100, repeats: true, cancelled: true) == .finish(.endOfGeneration))
        #expect(all(false, true, 10, 100, repeats: true, cancelled: true) == .finish(.stopString))
        #expect(all(false, false, 10, 100, repeats: true, cancelled: true) == .finish(.repeating))
        #expect(all(false, false, 10, 100, cancelled: true) == .finish(.maximumNewTokens))
        #expect(all(false, false, 9, 100, cancelled: true) == .finish(.contextFull))
        #expect(all(false, false, 9, 99, cancelled: true) == .cancel)
        #expect(all(false, false, 9, 99, cancelled: false) == .finish(.timedOut))
    }

    @Test func hasDefaultsForEveryGeneration() {
        let options = GenerationOptions()
        #expect(options.maximumNewTokens == 768)
        #expect(options.timeout == .seconds(120))
        #expect(options.sampling == SamplingOptions(temperature: 0.35))
        #expect(SamplingOptions.greedy.temperature == 0)
    }
}
