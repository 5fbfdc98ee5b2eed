import HearthInference
import Testing

/// Answers after thinking with a code block that does not end.
@Suite struct UnendedCodeTests {
    private struct Seen {
        var text = ""
        var thinking = ""

        mutating func note(_ event: GenerationEvent) {
            if case .text(let piece) = event { text += piece }
            if case .thinking(let piece) = event { thinking += piece }
        }
    }

    private func append(_ text: String, to reader: inout AnswerReader, _ seen: inout Seen) {
        for character in text {
            Array(String(character).utf8).withUnsafeBytes { bytes in reader.append(bytes) { seen.note($0) } }
        }
    }

    private static let thought = "```swift\nlet x = 1\n</think>\n\n"

    @Test func theAnswerBeginsAtOnce() {
        var reader = AnswerReader(stopStrings: ["END"], openedByPrompt: .think)
        var seen = Seen()
        append(Self.thought + "Yes. END", to: &reader, &seen)
        #expect(reader.matchedStop == "END" && !reader.isThinking)
        #expect(seen.text == "Yes. " && seen.thinking == "```swift\nlet x = 1")
    }

    @Test func anAnswerHeldToAGrammarBeginsAtAnyMark() {
        var reader = AnswerReader(openedByPrompt: .think, codeHidesMarks: false)
        var seen = Seen()
        append("```swift\nlet x </think>{", to: &reader, &seen)
        #expect(reader.state == .answering && seen.text == "{")
    }
}
