import HearthInference
import Testing

@Suite struct AnswerFrameTests {
    private static let harmony = AnswerFrame(
        tags: [ThinkingTags(opening: "<|channel|>analysis<|message|>", closing: "<|end|>")],
        turn: "<|start|>assistant", lead: "<|channel|>final<|message|>")

    private func split(
        _ pieces: [String], _ frame: AnswerFrame = harmony, openedByPrompt: ThinkingTags? = nil
    ) -> (thinking: String, text: String) {
        var reader = AnswerReader(stopStrings: [], frame: frame, openedByPrompt: openedByPrompt)
        var (thinking, text) = ("", "")
        func take(_ event: GenerationEvent) {
            if case .thinking(let delta) = event { thinking += delta }
            if case .text(let delta) = event { text += delta }
        }
        for piece in pieces { Array(piece.utf8).withUnsafeBytes { reader.appendToken($0, take) } }
        reader.finish(take)
        return (thinking, text)
    }

    private static let answered =
        "<|channel|>analysis<|message|>It is a greeting.<|end|><|start|>assistant<|channel|>final<|message|>Hello"

    @Test func textOfTheTemplateIsNeitherThinkingNorAnswer() {
        let whole = split([Self.answered])
        #expect(whole == ("It is a greeting.", "Hello"))
        #expect(split(Self.answered.map { String($0) }) == whole)
        #expect(split(["<|channel|>final<|message|>Hello"]) == ("", "Hello"))
        #expect(split(["Hello"]) == ("", "Hello"))
    }

    @Test func thinkingMayGoOnInAnotherMessage() {
        let text =
            "<|channel|>analysis<|message|>One.<|end|><|start|>assistant<|channel|>analysis<|message|>Two.<|end|>"
            + "<|start|>assistant<|channel|>final<|message|>Three."
        #expect(split([text]) == ("One.Two.", "Three."))
    }

    @Test func aLeadThatIsNotWholeIsText() {
        #expect(split(["<|channel|>fin"]) == ("", "<|channel|>fin"))
        #expect(split(["<|channel|>analysis<|message|>a<|end|><|start|>user"]) == ("a", "<|start|>user"))
        #expect(split(["<|channel|>analysis<|message|>a<|end|> <|sta"]) == ("a", "<|sta"))
    }

    @Test func theEndOfTheTextIsNotShown() {
        let frame = AnswerFrame(
            tags: [ThinkingTags(opening: "<|open|>think<|sep|>", closing: "<|close|>think<|sep|>")],
            lead: "<|open|>response<|sep|>", end: "<|close|>response<|sep|>")
        let text = "a<|close|>think<|sep|><|open|>response<|sep|>b<|close|>response<|sep|><|close|>message"
        #expect(split([text], frame, openedByPrompt: frame.tags[0]) == ("a", "b"))
    }

    private static let fenced = ["<think>", "x\n```python\na\n", "</think>", "\n\nHere:\n```python\na\n```\nDone."]

    /// The end of a code block in the answer once made the mark count as code in the thinking, and no answer was shown.
    @Test func aMarkOfOneTokenEndsTheThinkingInABlock() {
        let found = split(Self.fenced, AnswerFrame())
        #expect(found == ("x\n```python\na", "Here:\n```python\na\n```\nDone."))
        // The same mark in a block that continues.
        let again = split(["<think>", "```\n", "</think>", "yes\n```\n"], AnswerFrame())
        #expect(again == ("```", "yes\n```\n"))
    }

    @Test func aBlockThatOpensAfterAMarkInABlockBelongsToTheAnswer() {
        let letters = Self.fenced.joined().map { String($0) }
        #expect(split(letters, AnswerFrame()) == ("x\n```python\na", "Here:\n```python\na\n```\nDone."))
    }

    @Test func theEngineEndsThinkingAsTheTemplateDoes() {
        let options = ThinkingOptions(lastWords: "Enough.")
        let tags = Self.harmony.tags[0]
        #expect(
            ThinkingBudget.closingText(tags, options: options, before: Self.harmony.afterThinking)
                == "\n\nEnough.\n<|end|><|start|>assistant<|channel|>final<|message|>")
        #expect(ThinkingBudget.closingText(.think, options: options, before: "") == "\n\nEnough.\n</think>\n\n")
    }
}
