import Foundation
import HearthInference
import HearthRouting

/// The earlier messages of a prompt.
package enum ChatHistory {
    /// The messages as they are sent: answers with their blocks, questions with their data.
    ///
    /// A question without an answer is left out, because templates want questions and answers in turn. Of a long history the
    /// oldest messages are left out in blocks of a third of the limit, so that the beginning of the prompt stays the same for
    /// several turns.
    /// - Parameter branch: the messages before the newest question.
    package static func messages(_ branch: [AssistantMessage], limit: Int, withPictures: Bool) -> [ChatMessage] {
        var messages: [ChatMessage] = []
        var question: ChatMessage?
        for message in branch {
            let text = message.rawContent ?? message.content
            switch message.role {
            case .user:
                question = ChatMessage(
                    .user, text, images: withPictures ? message.images : [], id: message.id)
            case .assistant:
                guard let asked = question, !text.isEmpty else { continue }
                messages.append(asked)
                messages.append(
                    ChatMessage(.assistant, text, thinking: message.thinkingContent, id: message.id))
                question = nil
            case .system, .tool: continue
            }
        }
        guard messages.count > limit else { return messages }
        let block = max(2, limit / 3 / 2 * 2)
        let surplus = messages.count - limit
        return Array(messages.dropFirst((surplus + block - 1) / block * block))
    }

    /// Whether data of the user is in messages: a section with records, facts, files or results, or a picture. The sections
    /// of an app may hold such data.
    package static func hasOwnData(in messages: some Sequence<ChatMessage>) -> Bool {
        let empty = [CalendarSource.nothing, ReminderSource.nothing]
        return messages.contains { message in
            guard message.role != .assistant else { return false }
            return !message.images.isEmpty
                || PromptMarks.sections(in: message.content).contains {
                    $0.name != MomentSource.name && !empty.contains($0.text)
                }
        }
    }

    /// The texts from outside in messages, by their marks.
    package static func outside(in messages: some Sequence<ChatMessage>) -> [OutsideText] {
        messages.filter { $0.role == .user }.flatMap { message in
            PromptMarks.sections(in: message.content).compactMap { section in
                section.source.map { OutsideText(source: $0, text: section.text) }
            }
        }
    }
}
