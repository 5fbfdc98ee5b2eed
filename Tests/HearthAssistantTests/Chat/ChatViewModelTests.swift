import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

@MainActor @Suite(.timeLimit(.minutes(2))) struct ChatViewModelTests {
    @Test func theViewFollowsTheAnswer() async throws {
        let chat = ChatFixture([
            [.thinking("hm"), .text("It is "), .text("noon."), .finish(.endOfGeneration)],
            [.text("Half"), .waitForCancellation],
        ])
        let view = ChatViewModel(chat.session)
        view.sendMessage("The time?")
        #expect(view.isAnswering)
        await view.finished()
        #expect(view.messages.map(\.content) == ["The time?", "It is noon."] && view.title == "The time?")
        #expect(view.messages.last?.thinkingContent == "hm" && view.messages.last?.isThinking == false)
        #expect(!view.isAnswering && view.banner == nil && view.phase == nil)
        view.sendMessage("More")
        await chat.engine.stalled()
        view.stop()
        await view.finished()
        #expect(view.messages.last?.content == "Half")
    }

    @Test func noModelIsABannerThatTheNextQuestionHides() async throws {
        let chat = ChatFixture([
            [.fail(LLMError(.modelNotLoaded, "no model"))], [.text("Hi"), .finish(.endOfGeneration)],
        ])
        let view = ChatViewModel(chat.session)
        view.sendMessage("Hello")
        await view.finished()
        #expect(view.banner?.needsModel == true && view.messages.map(\.role) == [.user, .assistant])
        view.sendMessage("Again")
        await view.finished()
        #expect(view.banner == nil && view.messages.last?.content == "Hi")
    }

    @Test func cardsAndBranchesAreShown() async throws {
        let chat = ChatFixture([
            [.text(#"[NOTE_ACTION:{"action":"list"}]"#), .finish(.endOfGeneration)],
            [.text("B"), .finish(.endOfGeneration)],
        ])
        let view = ChatViewModel(chat.session)
        view.sendMessage("List")
        await view.finished()
        #expect(view.messages.last?.cards.map(\.state) == [.done])
        let first = try #require(view.messages.last?.id)
        view.regenerate()
        await view.finished()
        #expect(view.messages.last?.content == "B")
        await view.show(first)
        #expect(view.messages.last?.id == first)
        await view.delete(first)
        #expect(view.messages.last?.content == "B")
    }
}
