#if Server
    import HearthAssistant
    import HearthBase

    /// The conversation in whose name the running task acts.
    enum ChatContext {
        @TaskLocal static var chat: String?
    }

    /// The actions that wait for the user's decision on the page.
    final class ApprovalDesk: ActionApproval {
        /// An action that waits.
        struct Waiting: Sendable {
            let chat: String
            let card: ActionCard
            fileprivate let continuation: CheckedContinuation<ActionDecision, Never>
        }

        private struct State {
            var waiting: [String: Waiting] = [:]
            var order: [String] = []
            var tell: (@Sendable (_ chat: String, _ card: ActionCard) -> Void)?
        }

        private let state = Locked(State())

        /// Sets what tells clients about an action that begins or ends to wait.
        func tells(_ body: @escaping @Sendable (_ chat: String, _ card: ActionCard) -> Void) {
            state.withLock { $0.tell = body }
        }

        /// The actions that wait, the oldest first.
        var waiting: [Waiting] { state.withLock { state in state.order.compactMap { state.waiting[$0] } } }

        func isWaiting(_ card: String) -> Bool { state.withLock { $0.waiting[card] != nil } }

        func decide(_ card: ActionCard) async -> ActionDecision {
            // Outside of a conversation no page can show the card.
            guard let chat = ChatContext.chat else { return .decline }
            let decision = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    state.withLock { state in
                        state.waiting[card.id] = Waiting(chat: chat, card: card, continuation: continuation)
                        state.order.append(card.id)
                    }
                    state.withLock { $0.tell }?(chat, card)
                    if Task.isCancelled { answer(.decline, to: card.id) }
                }
            } onCancel: {
                answer(.decline, to: card.id)
            }
            return decision
        }

        /// Gives the decision about a card.
        /// - Returns: whether the card waited for one.
        @discardableResult
        func answer(_ decision: ActionDecision, to card: String, in chat: String? = nil) -> Bool {
            let waiting = state.withLock { state -> Waiting? in
                guard let waiting = state.waiting[card], chat == nil || waiting.chat == chat else { return nil }
                state.waiting[card] = nil
                state.order.removeAll { $0 == card }
                return waiting
            }
            waiting?.continuation.resume(returning: decision)
            return waiting != nil
        }
    }
#endif
