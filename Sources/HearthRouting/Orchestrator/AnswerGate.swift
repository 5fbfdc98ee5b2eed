import HearthBase
import HearthInference

/// Passes the events of one engine to the caller, and closes before another engine takes over.
final class AnswerGate: Sendable {
    /// The events that have passed.
    struct Passed: Sendable {
        /// Whether the caller has seen a part of the answer.
        var isVisible = false
        /// Whether the engine has reported anything of its answer.
        var hasBegun = false
        /// The text of the answer.
        var text = ""
        fileprivate var isOpen = true
    }

    private let passed = Locked(Passed())
    private let onFirst: @Sendable () -> Void
    private let onEvent: @Sendable (GenerationEvent) -> Void

    /// - Parameter onFirst: called once, before the first visible event.
    init(onFirst: @escaping @Sendable () -> Void, onEvent: @escaping @Sendable (GenerationEvent) -> Void) {
        self.onFirst = onFirst
        self.onEvent = onEvent
    }

    /// Passes an event to the caller while the gate is open.
    func pass(_ event: GenerationEvent) {
        let (isOpen, isFirst) = passed.withLock { passed in
            guard passed.isOpen else { return (false, false) }
            if event.isOfAnswer { passed.hasBegun = true }
            let isFirst = event.isVisible && !passed.isVisible
            if isFirst { passed.isVisible = true }
            if case .text(let piece) = event { passed.text += piece }
            return (true, isFirst)
        }
        guard isOpen else { return }
        if isFirst { onFirst() }
        onEvent(event)
    }

    /// Ends the engine's part of the answer.
    func close() -> Passed {
        passed.withLock { passed in
            passed.isOpen = false
            return passed
        }
    }
}

extension GenerationEvent {
    /// Whether people see the event as a part of the answer.
    fileprivate var isVisible: Bool {
        switch self {
        case .thinking, .text, .toolCall: true
        case .phase, .truncated, .picturesLeftOut, .token, .toolResult, .finish: false
        }
    }

    /// Whether the event proves that the engine received a part of an answer.
    fileprivate var isOfAnswer: Bool {
        switch self {
        case .phase(.connecting), .phase(.loading), .truncated, .picturesLeftOut: false
        default: true
        }
    }
}
