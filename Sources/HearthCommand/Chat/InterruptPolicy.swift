/// Decides the effect of Ctrl-C in a conversation: the first stops the answer, the second ends the conversation.
///
/// At a prompt, Ctrl-C gives up a line with text. On an empty line the first tells how to end, the second ends.
struct InterruptPolicy: Sendable, Hashable {
    enum Action: Sendable, Hashable {
        case stopAnswer
        /// Give up the line that is being edited, and ask ``lineGivenUp(hadText:)`` what follows.
        case giveUpLine
        /// Tell the user how to end the conversation.
        case warn
        case end
        case nothing
    }

    private(set) var isAnswering = false
    /// Whether the next interrupt ends the conversation.
    private var isArmed = false

    /// Records the user's message, which starts an answer.
    mutating func answerBegins() {
        isAnswering = true
        isArmed = false
    }

    mutating func answerEnds() { isAnswering = false }

    /// Returns the effect of an interrupt.
    /// - Parameter canEdit: whether the user edits the line at the prompt.
    mutating func interrupt(canEdit: Bool) -> Action {
        if !isAnswering, canEdit { return .giveUpLine }
        if isArmed { return .end }
        isArmed = true
        return isAnswering ? .stopAnswer : .warn
    }

    /// Returns what follows a line that was given up.
    mutating func lineGivenUp(hadText: Bool) -> Action {
        if hadText {
            isArmed = false
            return .nothing
        }
        defer { isArmed = true }
        return isArmed ? .end : .warn
    }
}
