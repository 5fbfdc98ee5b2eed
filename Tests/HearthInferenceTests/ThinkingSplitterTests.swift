import HearthInference
import HearthTestSupport
import Testing

/// The parts of a text by a splitter.
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
        _ pieces: some Sequence<String>, tags: [ThinkingTags] = ThinkingTags.default,
        openedByPrompt: ThinkingTags? = nil
    ) {
        var splitter = ThinkingSplitter(frame: AnswerFrame(tags: tags), openedByPrompt: openedByPrompt)
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
        // The thinking is never closed.
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
        // Texts that only look like marks.
        ("<think>a<</think>b", "a<", "b", .answering),
        ("<think>a</</think>b", "a</", "b", .answering),
        ("<think>a</think </think>b", "a</think", "b", .answering),
        ("<think>a<think>b</think>c", "a<think>b", "c", .answering),
        ("<think>a</think></think>b", "a", "</think>b", .answering),
        // In a line of code.
        ("<think>x\n```\nif \"</think>\"\n```\ny</think>b", "x\n```\nif \"</think>\"\n```\ny", "b", .answering),
        ("<think>~~~ swift\na </think>\n~~~~\ny</think>b", "~~~ swift\na </think>\n~~~~\ny", "b", .answering),
        ("<think>   ```\na</think>\n```\n</think>b", "```\na</think>\n```", "b", .answering),
        ("<think>\n```\na</think>\n```", "```\na</think>\n```", "", .thinking),
        ("<think>````\n```\na</think>\n````\n</think>b", "````\n```\na</think>\n````", "b", .answering),
        (
            "<think>```\na</think>\n~~~\na</think>\n```\n</think>b", "```\na</think>\n~~~\na</think>\n```", "b",
            .answering
        ),
        ("<think>```\ncode\n```</think>b", "```\ncode\n```", "b", .answering),
        ("<think>```\ncode\n```  \n\n</think>b", "```\ncode\n```", "b", .answering),
        // No code block: back-quotes within a line, indented, or too short.
        ("<think>a ``` </think>b", "a ```", "b", .answering),
        ("<think>```x``` y\n</think>b", "```x``` y", "b", .answering),
        ("<think>a\n    ```\n</think>b", "a\n    ```", "b", .answering),
        ("<think>``\n</think>b", "``", "b", .answering),
        // At the beginning of a line a mark also counts in a block, because the model may never end the block.
        ("<think>```\ncode\n</think>\nb", "```\ncode", "b", .answering),
        ("<think>```\ncode\n  </think>\nb", "```\ncode", "b", .answering),
        ("<think>```\ncode\n</think>\nb</think>c", "```\ncode", "b</think>c", .answering),
        ("<think>```\ncode\n</think>\n", "```\ncode", "", .closed),
        ("<think>x\n```\n</think>\n```\ny", "x\n```", "```\ny", .answering),
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
        ("</think>b", "", "b", .answering), ("```\na</think>\n```\n</think>b", "```\na</think>\n```", "b", .answering),
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
        // Each pair has its own closing mark.
        #expect(
            SplitText(["[THINK]a</think>b[/THINK]c"], tags: all) == SplitText("a</think>b", "c", .answering))
        // Marks that repeat themselves.
        let odd = ThinkingTags(opening: "aab", closing: "aabaab")
        #expect(SplitText(["aabxaabaaabaab!"], tags: [odd]) == SplitText("xaaba", "!", .answering))
        #expect(SplitText("aabxaabaaabaab!".map(String.init), tags: [odd]) == SplitText("xaaba", "!", .answering))
        // A pair with an empty mark is ignored.
        #expect(
            SplitText(["<a>b"], tags: [ThinkingTags(opening: "<a>", closing: "")])
                == SplitText("", "<a>b", .answering))
    }

    /// Bytes that are certain are emitted at once.
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
        // The same out of a code block.
        var other = ThinkingSplitter(openedByPrompt: .think)
        deltas = other.append("```\nx")
        other.close(into: &deltas)
        other.append("b", into: &deltas)
        #expect(deltas == [.thinking("```\nx"), .text("b")])
    }

    @Test func codeNeedNotHideMarks() {
        for size in [1, 100] {
            var splitter = ThinkingSplitter(openedByPrompt: .think, codeHidesMarks: false)
            var deltas: [ThinkingSplitter.Delta] = []
            let said = Array("```\nx </think>{}\n```")
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
    func findsTheThinkingThatThePromptOpens(prompt: String, isOpen: Bool) {
        #expect(ThinkingTags.opened(by: prompt) == (isOpen ? .think : nil))
    }

    @Test func readsTheMarksOutOfATemplate() {
        #expect(ThinkingTags.named(in: "{{ messages }}") == [.think])
        #expect(ThinkingTags.named(in: "{% if '[/THINK]' in content %}") == [.brackets])
        #expect(ThinkingTags.named(in: "content.split('</think>')") == [.think])
    }
}

extension ThinkingSplitter {
    /// The deltas of the next piece.
    fileprivate mutating func append(_ piece: String) -> [Delta] {
        var deltas: [Delta] = []
        append(piece, into: &deltas)
        return deltas
    }
}
