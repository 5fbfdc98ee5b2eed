#if canImport(SwiftUI)
import HearthAssistant
import SwiftUI

/// The thoughts of a model, folded until the user opens them; they grow while it thinks. Shows nothing for an answer
/// without thoughts.
public struct ThinkingDisclosure: View {
    private let message: AssistantMessage
    @State private var isOpen = false
    @Environment(\.locale) private var locale

    /// The thoughts of an answer.
    public init(_ message: AssistantMessage) { self.message = message }

    public var body: some View {
        let words = Words(locale)
        if message.isThinking || !message.thinkingContent.isEmpty {
            DisclosureGroup(isExpanded: $isOpen) {
                Text(verbatim: message.thinkingContent)
                    .font(.callout)
                    .foregroundStyle(.secondary)
                    .textSelection(.enabled)
            } label: {
                Label(words(message.isThinking ? "chat.thinking" : "chat.thoughts"), systemImage: "brain")
                    .font(.caption)
                    .foregroundStyle(.secondary)
            }
        }
    }
}
#endif
