/// Decides the effect of Ctrl-C in a conversation: the first stops the answer, the second ends the conversation.
struct InterruptPolicy: Sendable, Hashable {
    enum Action: Sendable, Hashable {
        case stopAnswer
        /// Tell the user how to end the conversation.
        case warn
        case end
    }

    private(set) var isAnswering = false
    /// Whether an interrupt came since the user's last message.
    private var isArmed = false

    /// Records the user's message, which starts an answer.
    mutating func answerBegins() {
        isAnswering = true
        isArmed = false
    }

    mutating func answerEnds() { isAnswering = false }

    /// Returns the effect of an interrupt.
    mutating func interrupt() -> Action {
        if isArmed { return .end }
        isArmed = true
        return isAnswering ? .stopAnswer : .warn
    }
}
