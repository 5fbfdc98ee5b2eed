import HearthInference
import HearthTestSupport
import Testing

/// What a splitter made of a text.
struct SplitText: Equatable, CustomStringConvertible {
    var thinking = ""
    var text = ""
    var state = ThinkingSplitter.State.beginning

    var description: String { "thinking \(thinking.debugDescription) text \(text.debugDescription) \(state)" }

    init(_ thinking: String, _ text: String, _ state: ThinkingSplitter.State) {
        self.thinking = thinking
        self.text = text
        self.state = state
    }

    init(
        _ pieces: some Sequence<String>, tags: [ThinkingTags] = ThinkingTags.usual, openedByPrompt: ThinkingTags? = nil
    ) {
        var splitter = ThinkingSplitter(tags: tags, openedByPrompt: openedByPrompt)
        var deltas: [ThinkingSplitter.Delta] = []
        for piece in pieces { splitter.append(piece, into: &deltas) }
        splitter.finish(into: &deltas)
        for delta in deltas {
            switch delta {
            case .thinking(let piece): thinking += piece
            case .text(let piece): text += piece
            }
        }
        state = splitter.state
    }
}

extension ThinkingSplitter.Delta {
    fileprivate var content: String {
        switch self {
        case .thinking(let text), .text(let text): text
        }
    }
}

@Suite struct ThinkingSplitterTests {
    static let table: [(String, String, String, ThinkingSplitter.State)] = [
        ("", "", "", .answering),
        ("Hello", "", "Hello", .answering),
        ("  \n Hello ", "", "  \n Hello ", .answering),
        (" \n", "", " \n", .answering),
        ("<think>a</think>b", "a", "b", .answering),
        (" \n\t<think>\n a b \n</think>\n\n b \n", "a b", "b \n", .answering),
        ("<think></think>b", "", "b", .answering),
        ("<think>\n\n</think>\n\nb", "", "b", .answering),
        ("<think>a</think>", "a", "", .closed),
        ("<think>a</think> \n", "a", "", .closed),
        // Never closed.
        ("<think>a", "a", "", .thinking),
        ("<think>a \n", "a \n", "", .thinking),
        ("<think>a</thin", "a</thin", "", .thinking),
        ("<think>", "", "", .opened),
        ("<think> \n", "", "", .opened),
        // No mark at all.
        ("<", "", "<", .answering),
        ("<thin", "", "<thin", .answering),
        ("<thinker>a</think>", "", "<thinker>a</think>", .answering),
        ("<THINK>a</THINK>b", "", "<THINK>a</THINK>b", .answering),
        ("< think>a", "", "< think>a", .answering),
        // After the first visible character a mark is text.
        ("a<think>b</think>c", "", "a<think>b</think>c", .answering),
        ("<think>a</think>b<think>c</think>d", "a", "b<think>c</think>d", .answering),
        ("</think>b", "", "</think>b", .answering),
        ("```\n<think>\n```", "", "```\n<think>\n```", .answering),
        // What looks like a mark and is none.
        ("<think>a<</think>b", "a<", "b", .answering),
        ("<think>a</</think>b", "a</", "b", .answering),
        ("<think>a</think </think>b", "a</think", "b", .answering),
        ("<think>a<think>b</think>c", "a<think>b", "c", .answering),
        ("<think>a</think></think>b", "a", "</think>b", .answering),
        // In a code block of the thinking.
        ("<think>x\n```\n</think>\n```\ny</think>b", "x\n```\n</think>\n```\ny", "b", .answering),
        ("<think>~~~ swift\n</think>\n~~~~\ny</think>b", "~~~ swift\n</think>\n~~~~\ny", "b", .answering),
        ("<think>   ```\n</think>\n```\n</think>b", "```\n</think>\n```", "b", .answering),
        ("<think>\n```\n</think>\n```", "```\n</think>\n```", "", .thinking),
        ("<think>````\n```\n</think>\n````\n</think>b", "````\n```\n</think>\n````", "b", .answering),
        ("<think>```\n</think>\n~~~\n</think>\n```\n</think>b", "```\n</think>\n~~~\n</think>\n```", "b", .answering),
        ("<think>```\ncode\n```</think>b", "```\ncode\n```", "b", .answering),
        ("<think>```\ncode\n```  \n\n</think>b", "```\ncode\n```", "b", .answering),
        // No code block: within a line, indented, or too short.
        ("<think>a ``` </think>b", "a ```", "b", .answering),
        ("<think>```x``` y\n</think>b", "```x``` y", "b", .answering),
        ("<think>a\n    ```\n</think>b", "a\n    ```", "b", .answering),
        ("<think>``\n</think>b", "``", "b", .answering),
        // A block that never ends was none.
        ("<think>```\ncode\n</think>\nb", "```\ncode", "b", .answering),
        ("<think>```\ncode\n</think>\nb</think>c", "```\ncode", "b</think>c", .answering),
        ("<think>```\ncode\n</think>\n", "```\ncode", "", .answering),
        ("<think>```\ncode", "```\ncode", "", .thinking),
        // Other scripts.
        ("<think>想一想🤔</think>答案 👩‍👩‍👧", "想一想🤔", "答案 👩‍👩‍👧", .answering),
        ("\u{A0}<think>a</think>", "", "\u{A0}<think>a</think>", .answering),
    ]

    @Test(arguments: table)
    func splits(output: String, thinking: String, text: String, state: ThinkingSplitter.State) {
        let expected = SplitText(thinking, text, state)
        #expect(SplitText([output]) == expected)
        #expect(SplitText(output.unicodeScalars.map(String.init)) == expected)
        // Cut once, at every place.
        let scalars = Array(output.unicodeScalars)
        for cut in scalars.indices {
            let pieces = [scalars[..<cut], scalars[cut...]].map { part in
                var view = String.UnicodeScalarView()
                view.append(contentsOf: part)
                return String(view)
            }
            #expect(SplitText(pieces) == expected, "cut at \(cut)")
        }
    }

    @Test(arguments: [
        ("a</think>b", "a", "b", ThinkingSplitter.State.answering), ("\n a", "a", "", .thinking), ("", "", "", .opened),
        ("</think>b", "", "b", .answering), ("```\n</think>\n```\n</think>b", "```\n</think>\n```", "b", .answering),
    ])
    func beginsInsideWhereThePromptOpens(
        output: String, thinking: String, text: String, state: ThinkingSplitter.State
    ) {
        let expected = SplitText(thinking, text, state)
        #expect(SplitText([output], openedByPrompt: .think) == expected)
        #expect(SplitText(output.map(String.init), openedByPrompt: .think) == expected)
    }

    @Test func takesOtherMarks() {
        let all = ThinkingTags.known
        for tags in all {
            let output = "\(tags.opening)one\(tags.closing)two"
            #expect(SplitText([output], tags: all) == SplitText("one", "two", .answering))
            #expect(SplitText(output.map(String.init), tags: all) == SplitText("one", "two", .answering))
            #expect(SplitText([output], tags: []) == SplitText("", output, .answering))
        }
        // Each closes what it opened.
        #expect(
            SplitText(["[THINK]a</think>b[/THINK]c"], tags: all) == SplitText("a</think>b", "c", .answering))
        // Marks that repeat themselves.
        let odd = ThinkingTags(opening: "aab", closing: "aabaab")
        #expect(SplitText(["aabxaabaaabaab!"], tags: [odd]) == SplitText("xaaba", "!", .answering))
        #expect(SplitText("aabxaabaaabaab!".map(String.init), tags: [odd]) == SplitText("xaaba", "!", .answering))
        // Half a pair is none.
        #expect(
            SplitText(["<a>b"], tags: [ThinkingTags(opening: "<a>", closing: "")])
                == SplitText("", "<a>b", .answering))
    }

    /// What can be said is said at once.
    @Test func holdsBackNoMoreThanNeeded() {
        var splitter = ThinkingSplitter()
        #expect(splitter.append(" <th").isEmpty)
        #expect(splitter.state == .beginning)
        #expect(splitter.append("ink>").isEmpty)
        #expect(splitter.state == .opened)
        #expect(splitter.append(" a") == [.thinking("a")])
        #expect(splitter.append("b </thi") == [.thinking("b")])
        #expect(splitter.append("x") == [.thinking(" </thix")])
        #expect(splitter.append("</think>") == [])
        #expect(splitter.state == .closed)
        #expect(splitter.append("\n") == [])
        #expect(splitter.append("b ") == [.text("b ")])
        #expect(splitter.append("<think>") == [.text("<think>")])
    }

    @Test func isClosedByTheEngine() {
        var splitter = ThinkingSplitter()
        var deltas = splitter.append("<think>a</thi")
        splitter.close(into: &deltas)
        #expect(splitter.state == .closed)
        splitter.append("\n\nb", into: &deltas)
        splitter.close(into: &deltas)
        splitter.finish(into: &deltas)
        #expect(deltas == [.thinking("a"), .thinking("</thi"), .text("b")])
        // Also out of a code block.
        var other = ThinkingSplitter(openedByPrompt: .think)
        deltas = other.append("```\nx")
        other.close(into: &deltas)
        other.append("b", into: &deltas)
        #expect(deltas == [.thinking("```\nx"), .text("b")])
    }

    /// The model has ended it, in a block that it forgot to end: no second mark is needed, and what follows is the answer.
    @Test(arguments: [("", ThinkingSplitter.State.closed), ("b ", .answering)])
    func aMarkInDoubtCountsWhereTheThinkingIsToEnd(said: String, state: ThinkingSplitter.State) {
        var closed = ThinkingSplitter(openedByPrompt: .think)
        var deltas = closed.append("```\n</think>\n" + said)
        var settled = closed
        closed.close(into: &deltas)
        closed.append("c", into: &deltas)
        #expect(deltas.first == .thinking("```") && !deltas.dropFirst().contains { $0 != .text($0.content) })
        #expect(deltas.dropFirst().map(\.content).joined() == said + "c")
        deltas = []
        #expect(settled.isThinking)
        let isSettled = settled.settle(into: &deltas)
        #expect(isSettled && settled.state == state && deltas.map(\.content).joined() == said)
        let isSettledAgain = settled.settle(into: &deltas)
        #expect(!isSettledAgain)
        var thinking = ThinkingSplitter(openedByPrompt: .think)
        deltas = thinking.append("```\nx")
        let isEnded = thinking.settle(into: &deltas)
        #expect(!isEnded && thinking.isThinking)
    }

    /// However it is cut, with characters of several bytes about the place, and whatever follows.
    @Test(arguments: ["x", "é", "想", "🤔"])
    func aBlockThatGoesOnForTooLongIsNone(character: String) {
        let most = ThinkingSplitter.mostDoubted
        func output(_ bytes: Int) -> (said: String, after: String) {
            let after = "\nb" + String(repeating: character, count: (bytes - 2) / character.utf8.count)
            return ("<think>```\ncode\n</think>" + after + "\n```\nc</think>d", after)
        }
        for size in [1, 7, 64, 5000] {
            func pieces(_ text: String) -> [String] {
                let scalars = Array(text.unicodeScalars)
                return stride(from: 0, to: scalars.count, by: size).map { start in
                    String(String.UnicodeScalarView(scalars[start..<min(start + size, scalars.count)]))
                }
            }
            let short = output(most - 8)
            #expect(
                SplitText(pieces(short.said))
                    == SplitText("```\ncode\n</think>" + short.after + "\n```\nc", "d", .answering))
            let long = output(most + 8)
            #expect(
                SplitText(pieces(long.said))
                    == SplitText("```\ncode", String(long.after.dropFirst()) + "\n```\nc</think>d", .answering))
        }
        // And the answer comes as it is written from then on.
        var splitter = ThinkingSplitter(openedByPrompt: .think)
        _ = splitter.append("```\n</think>" + output(most + 8).after)
        #expect(splitter.append("now") == [.text("now")])
    }

    @Test func codeNeedNotHideMarks() {
        for size in [1, 100] {
            var splitter = ThinkingSplitter(openedByPrompt: .think, codeHidesMarks: false)
            var deltas: [ThinkingSplitter.Delta] = []
            let said = Array("```\nx\n</think>{}\n```")
            for start in stride(from: 0, to: said.count, by: size) {
                splitter.append(String(said[start..<min(start + size, said.count)]), into: &deltas)
            }
            let text = deltas.filter { $0 == .text($0.content) }.map(\.content).joined()
            #expect(text == "{}\n```" && splitter.state == .answering)
        }
    }

    @Test(arguments: [
        ("…assistant\n<think>\n", true), ("<think>", true), ("<think>\n\n</think>\n\n", false), ("think>", false),
        ("", false),
        ("<think>x", false),
    ])
    func seesWhatThePromptOpens(prompt: String, isOpen: Bool) {
        #expect(ThinkingTags.opened(by: prompt) == (isOpen ? .think : nil))
    }

    @Test func readsTheMarksOutOfATemplate() {
        #expect(ThinkingTags.named(in: "{{ messages }}") == [.think])
        #expect(ThinkingTags.named(in: "{% if '[/THINK]' in content %}") == [.brackets])
        #expect(ThinkingTags.named(in: "content.split('</think>')") == [.think])
    }
}

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

    /// Whatever the limits: a model that would think for ever is closed in time, and its answer has the reserve.
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
