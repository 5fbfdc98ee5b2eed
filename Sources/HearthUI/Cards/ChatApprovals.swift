import HearthAssistant
import Observation

/// Asks the user about actions through the cards of a ``ChatView``: a card that waits has the buttons to approve and to
/// decline.
///
/// ```swift
/// let approvals = ChatApprovals()
/// let assistant = try await hearth.assistant(approval: approvals)
/// ChatView(chat, approvals: approvals)
/// ```
@MainActor @Observable public final class ChatApprovals: ActionApproval {
    /// The cards that wait for a decision, the oldest first.
    public private(set) var waiting: [ActionCard] = []
    @ObservationIgnored private var questions: [Question] = []
    @ObservationIgnored private var last = 0

    private struct Question {
        let number: Int
        let card: ActionCard
        let continuation: CheckedContinuation<ActionDecision, Never>
    }

    public init() {}

    /// Waits for the decision about a card. A cancelled task declines.
    public func decide(_ card: ActionCard) async -> ActionDecision {
        last += 1
        let number = last
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: .decline) }
                questions.append(Question(number: number, card: card, continuation: continuation))
                publish()
            }
        } onCancel: {
            Task { @MainActor in answer(.decline) { $0.number == number } }
        }
    }

    /// Whether a card waits.
    public func isWaiting(_ card: ActionCard.ID) -> Bool { waiting.contains { $0.id == card } }

    /// Decides about a card. Does nothing for a card that does not wait.
    public func answer(_ decision: ActionDecision, for card: ActionCard.ID) {
        answer(decision) { $0.card.id == card }
    }

    private func answer(_ decision: ActionDecision, where isMeant: (Question) -> Bool) {
        let answered = questions.filter(isMeant)
        questions.removeAll(where: isMeant)
        publish()
        for question in answered { question.continuation.resume(returning: decision) }
    }

    private func publish() { waiting = questions.map(\.card) }
}
