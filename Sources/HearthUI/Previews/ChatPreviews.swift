#if canImport(SwiftUI)
import HearthAssistant
import HearthBase
import HearthInference
import SwiftUI

/// The views of a chat, for Xcode's canvas.
struct ChatPreviews: PreviewProvider {
    static var previews: some View {
        NavigationStack { ChatView(chat) }
            .previewDisplayName("Chat")
        VStack(alignment: .leading, spacing: 16) { ForEach(messages) { MessageBubbleView($0) } }
            .padding()
            .previewDisplayName("Messages")
        VStack(alignment: .leading) {
            ThinkingDisclosure(thinking(true))
            ThinkingDisclosure(thinking(false))
        }
        .padding()
        .previewDisplayName("Thoughts")
        ScrollView {
            VStack(spacing: 16) {
                CalendarEventCard(card(.calendar, "new-event"))
                ReminderCard(card(.reminder, "new-reminder"))
                NoteCard(card(.note, "new-note"))
                ContactCard(card(.contactsSearch, "search-contacts"))
                HabitCard(card(.habit, "log-habit"))
                WebSearchCard(card(.webSearch, "web-search"))
            }
            .padding()
        }
        .previewDisplayName("Cards of one kind")
    }

    /// Without a model: a question shows the banner.
    private static var chat: ChatViewModel {
        ChatViewModel(
            ChatSession(id: "preview", parts: .bare, engine: ChatEngine(PreviewEngine()), messages: messages))
    }

    private static var messages: [AssistantMessage] {
        let question = AssistantMessage(.user, "When is high water?")
        var answer = thinking(false)
        answer.parent = question.id
        return [question, answer]
    }

    private static func thinking(_ isThinking: Bool) -> AssistantMessage {
        var message = AssistantMessage(.assistant, isThinking ? "" : "At noon.")
        (message.isThinking, message.thinkingContent) = (isThinking, "The table says twelve.")
        return message
    }

    private static func card(_ tag: ActionTag, _ code: String) -> ActionCard {
        var card = ActionCard(
            id: code, tag: tag, title: code,
            fields: [.init(name: "title", label: "Title", value: "The spare key is at Anna’s")], state: .done,
            payload: "{}", canUndo: true)
        card.code = code
        return card
    }
}

/// An engine without a model.
private struct PreviewEngine: InferenceEngine {
    let modelInformation = ModelInformation(description: "preview", contextLength: 4096)
    let capabilities: EngineCapabilities = []

    func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        throw LLMError(.modelNotLoaded, "A preview has no model.")
    }
}
#endif
