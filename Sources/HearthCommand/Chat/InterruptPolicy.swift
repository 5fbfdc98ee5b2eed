/// What Ctrl-C means in a conversation: first stop the answer, then end.
struct InterruptPolicy: Sendable, Hashable {
    enum Action: Sendable, Hashable {
        case stopAnswer
        /// Say how to end.
        case warn
        case end
    }

    private(set) var isAnswering = false
    /// An interrupt came since the person last said something.
    private var isArmed = false

    /// The person said something, an answer begins.
    mutating func answerBegins() {
        isAnswering = true
        isArmed = false
    }

    mutating func answerEnds() { isAnswering = false }

    /// What to do about an interrupt now.
    mutating func interrupt() -> Action {
        if isArmed { return .end }
        isArmed = true
        return isAnswering ? .stopAnswer : .warn
    }
}
