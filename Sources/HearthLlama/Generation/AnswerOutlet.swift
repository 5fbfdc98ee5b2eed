import HearthBase
import HearthInference

/// Delivers the events of an answer to its reader. Pieces of text that follow each other faster than a screen
/// refreshes are delivered together; all other events are delivered at once.
///
/// Waking the reader costs the engine's thread up to a hundredth of the time that a small model needs for a token,
/// and as much again on the reader's core. A piece waits at most for one refresh of the screen and the token after
/// it, even if that token has no text. Call ``handOver()`` before work that may take longer than a token.
final class AnswerOutlet {
    /// The time between two refreshes of a screen of 60 Hz.
    static let frame = Duration.microseconds(16_667)

    private let time: TimeSource
    private let give: (GenerationEvent) -> Void
    private var held: [GenerationEvent] = []
    /// Measures the time since a token's pieces were last delivered at once.
    private var rest: Stopwatch?

    /// Makes an outlet.
    /// - Parameters:
    ///   - time: measures the pace of the pieces.
    ///   - give: receives an event and wakes its reader.
    init(time: TimeSource, _ give: @escaping (GenerationEvent) -> Void) {
        self.time = time
        self.give = give
    }

    /// Adds an event. It is delivered after all events before it.
    func yield(_ event: GenerationEvent) {
        held.append(event)
        if !event.isPiece { handOver() }
    }

    /// Ends the events of one token.
    func endToken() {
        if held.isEmpty { return }
        if let rest, rest.elapsed < Self.frame { return }
        rest = time.stopwatch()
        handOver()
    }

    /// Delivers the waiting events.
    func handOver() {
        for event in held { give(event) }
        held.removeAll(keepingCapacity: true)
    }
}

extension GenerationEvent {
    /// Whether the event is a token or a piece of text or thinking, which may be joined to the next one.
    fileprivate var isPiece: Bool {
        switch self {
        case .text, .thinking, .token: true
        default: false
        }
    }
}
