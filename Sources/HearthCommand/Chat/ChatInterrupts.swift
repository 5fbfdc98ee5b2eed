import HearthAssistant
import HearthBase

/// Decides what Ctrl-C does in a conversation with the assistant, and does it.
final class ChatInterrupts: Sendable {
    private struct State {
        var policy = InterruptPolicy()
        var session: ChatSession?
        var wasStopped = false
    }

    private let state = Locked(State())
    private let context: CommandContext
    private let reader: any LineReader

    init(_ context: CommandContext, _ reader: any LineReader) {
        self.context = context
        self.reader = reader
    }

    /// Records the beginning of an answer.
    func answerBegins(_ session: ChatSession) {
        state.withLock {
            $0.policy.answerBegins()
            $0.session = session
            $0.wasStopped = false
        }
    }

    /// Whether the user stopped the last answer.
    var wasStopped: Bool { state.withLock { $0.wasStopped } }

    func answerEnds() {
        state.withLock {
            $0.policy.answerEnds()
            $0.session = nil
        }
    }

    /// Records a line that is no message.
    func lineEntered() {
        state.withLock {
            $0.policy.answerBegins()
            $0.policy.answerEnds()
        }
    }

    /// Records a line that was given up.
    /// - Returns: whether the conversation goes on.
    func lineGivenUp(hadText: Bool) -> Bool {
        switch state.withLock({ $0.policy.lineGivenUp(hadText: hadText) }) {
        case .warn: context.console.complain(Self.hint)
        case .end: return false
        default: break
        }
        return true
    }

    /// Handles Ctrl-C.
    func interrupt() {
        let (action, session) = state.withLock { state in
            let action = state.policy.interrupt(canEdit: reader.canEdit)
            if action == .stopAnswer { state.wasStopped = true }
            return (action, state.session)
        }
        switch action {
        case .stopAnswer:
            // Also gives up a question about a card.
            reader.cancel()
            if let session { Task { await session.stop() } }
        case .giveUpLine: reader.cancel()
        case .warn: context.console.prompt("\n\(Self.hint)\n> ")
        case .nothing: break
        case .end:
            reader.cancel()
            context.console.prompt("\n")
            context.interruptions.deliver(.terminate)
        }
    }

    static let hint = "(Ctrl-C again, Ctrl-D or /exit ends the conversation)"
}
