import Foundation
import HearthAssistant
import HearthBase

/// The conversation in whose name the running task acts.
enum ChatContext {
    @TaskLocal static var chat: String?
}

/// The actions that wait for the user's decision on the page.
final class ApprovalDesk: ActionApproval {
    /// An action that waits. Two questions about one action wait side by side for the same decision.
    struct Waiting: Sendable {
        let chat: String
        let card: ActionCard
        fileprivate let number: UInt64
        fileprivate let continuation: CheckedContinuation<ActionDecision, Never>
    }

    private struct State {
        var waiting: [Waiting] = []
        var last: UInt64 = 0
        /// The changed values that the user has approved with the change, by card.
        var approved: [String: JSONValue] = [:]
        var tell: (@Sendable (_ chat: String, _ card: ActionCard) -> Void)?
    }

    private let state = Locked(State())

    /// Sets what tells clients about an action that begins or ends to wait.
    func tells(_ body: @escaping @Sendable (_ chat: String, _ card: ActionCard) -> Void) {
        state.withLock { $0.tell = body }
    }

    /// The actions that wait, the oldest first.
    var waiting: [Waiting] { state.withLock { $0.waiting } }

    func isWaiting(_ card: String) -> Bool { state.withLock { $0.waiting.contains { $0.card.id == card } } }

    func decide(_ card: ActionCard) async -> ActionDecision {
        // Outside of a conversation no page can show the card.
        guard let chat = ChatContext.chat else { return .decline }
        let number: UInt64? = state.withLock { state in
            // The approval counts for these values alone: planning may have changed them.
            if let approved = state.approved.removeValue(forKey: card.id), approved == Self.values(card.payload) {
                return nil
            }
            state.last += 1
            return state.last
        }
        guard let number else { return .approve }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.waiting.append(
                        Waiting(chat: chat, card: card, number: number, continuation: continuation))
                }
                state.withLock { $0.tell }?(chat, card)
                if Task.isCancelled { answer(.decline) { $0.number == number } }
            }
        } onCancel: {
            answer(.decline) { $0.number == number }
        }
    }

    /// Approves values of a card that the user has changed, for the next question about it.
    func approve(_ payload: String, of card: String) {
        state.withLock { $0.approved[card] = Self.values(payload) }
    }

    /// A payload that is no JSON has no values to compare.
    private static func values(_ payload: String) -> JSONValue? { try? JSONValue(parsing: Data(payload.utf8)) }

    /// Gives the decision about a card.
    /// - Returns: whether the card waited for one.
    @discardableResult
    func answer(_ decision: ActionDecision, to card: String, in chat: String? = nil) -> Bool {
        answer(decision) { $0.card.id == card && (chat == nil || $0.chat == chat) }
    }

    @discardableResult
    private func answer(_ decision: ActionDecision, where isMeant: (Waiting) -> Bool) -> Bool {
        let meant = state.withLock { state in
            let meant = state.waiting.filter(isMeant)
            state.waiting.removeAll(where: isMeant)
            return meant
        }
        for waiting in meant { waiting.continuation.resume(returning: decision) }
        return !meant.isEmpty
    }
}
