import HearthBase

/// Keeps the messages of a conversation while they change: at most one save a second, and each change within a second.
///
/// Saves happen one after the other, so the last state of a message is the one that stays.
final class MessageSaver: Sendable {
    private struct State {
        /// The newest state of the message that streams, if it is not saved.
        var pending: AssistantMessage?
        var timer: Task<Void, Never>?
        var tail: Task<Void, Never>?
        var isEnded = false
    }

    private let state = Locked(State())
    private let store: (any ConversationStore)?
    private let conversation: String
    private let time: TimeSource

    static let interval = Duration.seconds(1)

    init(store: (any ConversationStore)?, conversation: String, time: TimeSource) {
        self.store = store
        self.conversation = conversation
        self.time = time
    }

    /// Notes the state of a message that streams.
    func note(_ message: AssistantMessage) {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.pending = message
            guard state.timer == nil else { return }
            state.timer = Task { [weak self, time] in
                do { try await time.sleep(for: Self.interval) } catch { return }
                self?.savePending()
            }
        }
    }

    /// Saves a message; returns when it is kept.
    func save(_ message: AssistantMessage) async {
        await enqueue { [store, conversation] in try await store?.save(message, in: conversation) }.value
    }

    /// Saves the conversation's title and leaf.
    func save(_ summary: ConversationSummary) async {
        await enqueue { [store] in try await store?.save(summary) }.value
    }

    /// Moves the conversation in lists; one without messages is created.
    func arrange(_ summary: ConversationSummary) async {
        await enqueue { [store] in
            if try await store?.conversation(summary.id) == nil { try await store?.save(summary) }
            try await store?.arrange(summary.id, summary.place)
        }.value
    }

    /// Removes a message with all that follow it.
    func remove(_ id: String) async {
        await enqueue { [store, conversation] in try await store?.removeMessage(id, in: conversation) }.value
    }

    /// Saves nothing any more; returns when the saves before have ended.
    func end() async {
        let tail = state.withLock { state in
            state.timer?.cancel()
            (state.timer, state.pending, state.isEnded) = (nil, nil, true)
            return state.tail
        }
        await tail?.value
    }

    private func savePending() {
        let message = state.withLock { state in
            state.timer = nil
            return state.pending.take()
        }
        guard let message else { return }
        _ = enqueue { [store, conversation] in try await store?.save(message, in: conversation) }
    }

    /// Performs a change of the store after those before it. A failure is logged: the answer goes on.
    private func enqueue(_ body: @escaping @Sendable () async throws -> Void) -> Task<Void, Never> {
        state.withLock { state in
            state.timer?.cancel()
            (state.timer, state.pending) = (nil, nil)
            guard !state.isEnded else { return Task {} }
            let previous = state.tail
            let task = Task {
                await previous?.value
                do {
                    try await body()
                } catch {
                    Log.write(.error, "assistant", "the conversation cannot be saved: \(error)")
                }
            }
            state.tail = task
            return task
        }
    }
}
