import HearthBase
import HearthInference
import Observation

/// A chat as a view shows it: the messages, the banner, and the buttons' actions.
///
/// ```swift
/// @State var chat = ChatViewModel(session)
/// List(chat.messages) { MessageBubble($0) }
/// Button("Send") { chat.sendMessage(draft) }
/// ```
@MainActor @Observable public final class ChatViewModel {
    /// The messages of the shown branch; the last changes with each piece of the answer.
    public private(set) var messages: [AssistantMessage] = []
    /// Why no model can answer, for a banner with the button "Download Model"; `nil` for none.
    public private(set) var banner: FailureBody?
    /// The work of the engine before the next text; `nil` while no answer is running.
    public private(set) var phase: GenerationPhase?
    /// Whether an answer is running.
    public private(set) var isAnswering = false
    /// The title of the conversation.
    public private(set) var title = ""
    /// The session that answers.
    @ObservationIgnored public let session: ChatSession
    @ObservationIgnored private var running: Task<Void, Never>?

    public init(_ session: ChatSession) { self.session = session }

    /// Reads the messages of the conversation.
    public func load() async {
        messages = await session.messages
        title = await session.summary.title
    }

    /// Sends a message and shows the answer as it comes.
    public func sendMessage(_ text: String, images: [ChatImage] = [], act: ActionTag? = nil) {
        start { await $0.send(text, images: images, act: act) }
    }

    /// Answers again, as another branch.
    public func regenerate(_ id: String? = nil) { start { await $0.regenerate(id) } }

    /// Sends another text in place of a question, as another branch.
    public func edit(_ id: String, to text: String) { start { await $0.edit(id, to: text) } }

    /// Continues an answer whose connection broke off, with a model on this device.
    public func continueLocally() { start { await $0.continueLocally() } }

    /// Stops the answer. What came stays.
    public func stop() { Task { await session.stop() } }

    /// Deletes a message with all that follow it.
    public func delete(_ id: String) async {
        await session.delete(id)
        await load()
    }

    /// Shows the branch of a message.
    public func show(_ id: String) async {
        await session.show(id)
        await load()
    }

    /// Carries out a card that was not carried out.
    public func perform(_ card: String, payload: String? = nil) async throws {
        try await session.perform(card, payload: payload)
        await load()
    }

    /// Takes the action of a card back.
    public func undo(_ card: String) async throws {
        try await session.undo(card)
        await load()
    }

    /// Hides the banner.
    public func dismissBanner() { banner = nil }

    /// Returns when no answer is running.
    public func finished() async { await running?.value }

    private func start(_ request: @escaping @Sendable (ChatSession) async -> AsyncStream<ChatEvent>) {
        let previous = running
        isAnswering = true
        banner = nil
        running = Task {
            await previous?.value
            isAnswering = true
            for await event in await request(session) { await show(event) }
            isAnswering = false
            phase = nil
        }
    }

    private func show(_ event: ChatEvent) async {
        switch event {
        case .started(_, let answer):
            await load()
            // The session may be ahead of the events, which change the answer from its beginning on.
            if let index = messages.firstIndex(where: { $0.id == answer.id }) { messages[index] = answer }
        case .phase(let phase): self.phase = phase
        case .thinking(let piece):
            change {
                $0.isThinking = true
                $0.thinkingContent += piece
            }
        case .thinkingEnded: change { $0.isThinking = false }
        case .text(let piece): change { $0.content += piece }
        case .cleared: change { $0.content = "" }
        case .card(let card): change { $0.put(card) }
        case .notice(let text): change { $0.notices.append(text) }
        case .truncated, .picturesLeftOut: break
        case .failed(let failure):
            if failure.needsModel { banner = failure }
        case .removed, .finished: await load()
        }
    }

    /// Changes the message that streams.
    private func change(_ body: (inout AssistantMessage) -> Void) {
        guard let last = messages.indices.last, messages[last].role == .assistant else { return }
        body(&messages[last])
    }
}
