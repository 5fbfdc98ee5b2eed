import HearthAssistant
import HearthBase

/// Hands the user's decisions from the conversation to the actions that wait for them.
///
/// The conversation asks when it shows a proposed card, so that the text before the card is on the screen. A search has no
/// such card, and is asked about at once.
final class TerminalApproval: ActionApproval {
    private struct State {
        var given: [String: ActionDecision] = [:]
        var waiting: [String: CheckedContinuation<ActionDecision, Never>] = [:]
        var ask: (@Sendable (ActionCard) async -> ActionDecision)?
        /// Whether no turn shows cards, so that all are asked about at once.
        var isDirect = false
    }

    private let state = Locked(State())

    /// Sets how the user is asked.
    func use(_ ask: @escaping @Sendable (ActionCard) async -> ActionDecision) { state.withLock { $0.ask = ask } }

    /// Whether cards are asked about at once, as outside of a turn.
    func askAtOnce(_ isDirect: Bool) { state.withLock { $0.isDirect = isDirect } }

    func decide(_ card: ActionCard) async -> ActionDecision {
        let ask = state.withLock { state in state.isDirect || card.tag == .webSearch ? state.ask : nil }
        if let ask { return await ask(card) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let given = state.withLock { state -> ActionDecision? in
                    if let given = state.given.removeValue(forKey: card.id) { return given }
                    state.waiting[card.id] = continuation
                    return nil
                }
                if let given { continuation.resume(returning: given) }
                if Task.isCancelled { answer(.decline, to: card.id, onlyIfWaiting: true) }
            }
        } onCancel: {
            answer(.decline, to: card.id, onlyIfWaiting: true)
        }
    }

    /// Gives the decision about a card, also before it is asked for.
    func answer(_ decision: ActionDecision, to id: String, onlyIfWaiting: Bool = false) {
        let waiting = state.withLock { state -> CheckedContinuation<ActionDecision, Never>? in
            if let waiting = state.waiting.removeValue(forKey: id) { return waiting }
            if !onlyIfWaiting { state.given[id] = decision }
            return nil
        }
        waiting?.resume(returning: decision)
    }
}
