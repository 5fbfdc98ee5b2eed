import HearthInference
import Testing

@Suite struct PromptContinuationTests {
    /// ChatML that tells past answers as they are, and asks for thinking or not.
    private func render(_ opening: String) -> ([ChatMessage]) -> String {
        { messages in
            messages.map { "<\($0.role.rawValue)>\($0.content)</>\n" }.joined() + "<assistant>" + opening
        }
    }

    private let asked = [ChatMessage(.system, "s"), ChatMessage(.user, "a")]

    @Test(arguments: ["", "<think>\n", "<think>\n\n</think>\n\n"])
    func givesWhatFollowsTheAnswer(opening: String) {
        let render = render(opening)
        let last = PromptContinuation(asked: asked, answer: "ok", prompt: render(asked))
        let messages = asked + [ChatMessage(.assistant, "ok"), ChatMessage(.user, "b")]
        #expect(last.suffix(of: messages, render: render) == "</>\n<user>b</>\n<assistant>" + opening)
    }

    @Test func refusesAnotherConversation() {
        let render = render("")
        let last = PromptContinuation(asked: asked, answer: "ok", prompt: render(asked))
        let question = ChatMessage(.user, "b")
        for messages in [
            asked, asked + [ChatMessage(.assistant, "ok")], asked + [ChatMessage(.assistant, "no"), question],
            asked + [question, question], [ChatMessage(.user, "a"), ChatMessage(.assistant, "ok"), question], [],
            [ChatMessage(.system, "t"), ChatMessage(.user, "a"), ChatMessage(.assistant, "ok"), question],
        ] {
            #expect(last.suffix(of: messages, render: render) == nil)
        }
    }

    @Test func refusesATemplateThatTellsItDifferently() throws {
        let messages = asked + [ChatMessage(.assistant, "ok"), ChatMessage(.user, "b")]
        let last = PromptContinuation(asked: asked, answer: "ok", prompt: render("")(asked))
        // One that numbers the turns, that hides the answer, that tells it twice.
        #expect(last.suffix(of: messages) { "\($0.count)" + render("")($0) } == nil)
        #expect(last.suffix(of: messages) { render("")(Array($0.prefix(2))) } == nil)
        #expect(last.suffix(of: messages) { render("")($0) + $0[2].content } == nil)
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { try last.suffix(of: messages) { _ in throw Refusal() } }
    }
}
