#if canImport(SwiftUI)
import HearthAssistant
import HearthInference
import HearthRouting
import SwiftUI

/// One message of a chat: the question as it was written, or the answer with its thoughts, cards and notices.
///
/// ```swift
/// ForEach(chat.messages) { MessageBubbleView($0) { card in CardActions(undo: { undo(card) }) } }
/// ```
public struct MessageBubbleView: View {
    private let message: AssistantMessage
    private let actions: (ActionCard) -> CardActions
    @Environment(\.locale) private var locale

    /// A message.
    /// - Parameter actions: the buttons' actions of each card.
    public init(
        _ message: AssistantMessage, actions: @escaping (ActionCard) -> CardActions = { _ in CardActions() }
    ) {
        (self.message, self.actions) = (message, actions)
    }

    private var isQuestion: Bool { message.role == .user }

    public var body: some View {
        let words = Words(locale)
        HStack {
            if isQuestion { Spacer(minLength: 40) }
            VStack(alignment: .leading, spacing: 8) {
                ThinkingDisclosure(message)
                ForEach(Array(message.images.indices), id: \.self) { index in
                    Label(words("chat.picture", ["number": "\(index + 1)"]), systemImage: "photo").font(.caption)
                }
                if !message.content.isEmpty {
                    Text(verbatim: message.content)
                        .textSelection(.enabled)
                        .accessibilityLabel(
                            Text(verbatim: "\(words(isQuestion ? "chat.you" : "chat.assistant")): \(message.content)"))
                }
                ForEach(message.cards) { ActionCardView($0, actions: actions($0)) }
                ForEach(Array(message.notices.enumerated()), id: \.offset) { _, notice in
                    Label(notice, systemImage: "info.circle").font(.caption).foregroundStyle(.secondary)
                }
                if let source = message.facts?.source {
                    Text(verbatim: words.word("route", source == .cloud ? "cloud" : "local"))
                        .font(.caption2)
                        .foregroundStyle(.secondary)
                }
            }
            .padding(isQuestion ? 12 : 0)
            .background(isQuestion ? Color.accentColor.opacity(0.15) : .clear, in: .rect(cornerRadius: 16))
            if !isQuestion { Spacer(minLength: 0) }
        }
    }
}
#endif
