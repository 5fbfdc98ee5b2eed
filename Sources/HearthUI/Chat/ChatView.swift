#if canImport(SwiftUI)
import HearthAssistant
import HearthRouting
import SwiftUI

/// A chat with the assistant: its messages, the banner without a model, and the field for the next question.
///
/// ```swift
/// ChatView(chat, approvals: approvals) { isShowingSettings = true }
/// ```
public struct ChatView: View {
    private let chat: ChatViewModel
    private let approvals: ChatApprovals?
    private let onDownloadModel: @MainActor () -> Void
    @State private var problem: String?
    @Environment(\.locale) private var locale

    /// A chat.
    /// - Parameters:
    ///   - approvals: asks about actions, as the assistant's `approval`; `nil` for an app that asks elsewhere.
    ///   - onDownloadModel: leads to the models, for the button of the banner.
    public init(
        _ chat: ChatViewModel, approvals: ChatApprovals? = nil, onDownloadModel: @escaping @MainActor () -> Void = {}
    ) {
        (self.chat, self.approvals, self.onDownloadModel) = (chat, approvals, onDownloadModel)
    }

    /// Whether the title is the assistant's own text for a conversation without a question.
    private var isUntitled: Bool { chat.title.isEmpty || chat.title == AssistantTexts().untitled }

    public var body: some View {
        let words = Words(locale)
        VStack(spacing: 0) {
            if chat.banner != nil {
                ChatBanner(onDownloadModel: onDownloadModel) { chat.dismissBanner() }
            }
            ScrollView {
                LazyVStack(alignment: .leading, spacing: 16) {
                    ForEach(chat.messages) { message in
                        MessageBubbleView(message) { actions(of: $0, words) }
                    }
                    if chat.isAnswering {
                        ProgressView { Text(verbatim: words.phase(chat.phase)) }
                            .accessibilityAddTraits(.updatesFrequently)
                    } else {
                        ChatEnding(chat, onDownloadModel: onDownloadModel)
                    }
                }
                .padding()
            }
            .defaultScrollAnchor(.bottom)
            ChatComposer(chat)
        }
        .navigationTitle(isUntitled ? words("chat.untitled") : chat.title)
        .problem($problem)
        .task { await chat.load() }
    }

    private func actions(of card: ActionCard, _ words: Words) -> CardActions {
        CardActions(isWaiting: approvals?.isWaiting(card.id) == true) { decision in
            approvals?.answer(decision, for: card.id)
        } perform: {
            run(words) { try await chat.perform(card.id) }
        } undo: {
            run(words) { try await chat.undo(card.id) }
        }
    }

    private func run(_ words: Words, _ action: @escaping @MainActor () async throws -> Void) {
        Task {
            do {
                try await action()
            } catch {
                problem = words.sentence(of: error)
            }
        }
    }
}

/// Says that no model can answer, with the button that leads to the models.
private struct ChatBanner: View {
    let onDownloadModel: @MainActor () -> Void
    let onDismiss: @MainActor () -> Void
    @Environment(\.locale) private var locale

    var body: some View {
        let words = Words(locale)
        SideBySide {
            Label(words("banner.none"), systemImage: "exclamationmark.triangle")
            Spacer()
            Button(words("download.model"), action: onDownloadModel).buttonStyle(.borderedProminent)
            Button(action: onDismiss) { Image(systemName: "xmark") }
                .buttonStyle(.borderless)
                .accessibilityLabel(words("close"))
        }
        .padding()
        .background(.orange.opacity(0.15))
    }
}

/// Why the last answer has no end of its own, with the step that helps.
private struct ChatEnding: View {
    let chat: ChatViewModel
    let onDownloadModel: @MainActor () -> Void
    @Environment(\.locale) private var locale

    init(_ chat: ChatViewModel, onDownloadModel: @escaping @MainActor () -> Void) {
        (self.chat, self.onDownloadModel) = (chat, onDownloadModel)
    }

    var body: some View {
        let words = Words(locale)
        if let answer = chat.messages.last, let ending = AnswerEnding(of: answer) {
            SideBySide {
                Label(words.ending(ending), systemImage: "exclamationmark.circle")
                    .font(.caption)
                    .foregroundStyle(.secondary)
                Spacer()
                switch ending.help {
                case .proceed where answer.facts?.source == .cloud:
                    Button(words("chat.continue-locally")) { chat.continueLocally() }
                case .chooseModel: Button(words("ending.choose-model"), action: onDownloadModel)
                case .downloadModel: Button(words("download.model"), action: onDownloadModel)
                case .proceed, .retry, .freeMemory, .openSettings:
                    Button(words("retry")) { chat.regenerate(answer.id) }
                }
            }
            .buttonStyle(.bordered)
        }
    }
}
#endif
