#if Llama
    import HearthBase
    import HearthInference

    /// Delivers the events of an answer to its reader: pieces of text that follow each other faster than a screen shows them go
    /// together, everything else at once.
    ///
    /// Waking the reader of an event costs the engine's thread up to a hundredth of the time a small model takes
    /// for a token, and as much again on the core beside it. A piece waits no longer than until the first token that is chosen once
    /// the others have been read for that time, whether that one says anything or not: before anything that may take longer than a
    /// token, ``handOver()`` is called.
    final class AnswerOutlet {
        /// The time for which a picture stands on a screen of 60 Hz.
        static let frame = Duration.microseconds(16_667)

        private let time: TimeSource
        private let give: (GenerationEvent) -> Void
        private var held: [GenerationEvent] = []
        /// Counts from the last time that a token's pieces did not wait.
        private var rest: Stopwatch?

        /// - Parameters:
        ///   - time: measures the pace of the pieces.
        ///   - give: takes an event for good, and wakes its reader.
        init(time: TimeSource, _ give: @escaping (GenerationEvent) -> Void) {
            self.time = time
            self.give = give
        }

        /// Takes an event; sooner or later it is handed over, after those before it.
        func yield(_ event: GenerationEvent) {
            held.append(event)
            if !event.isPiece { handOver() }
        }

        /// A token has said all it says.
        func endToken() {
            if held.isEmpty { return }
            if let rest, rest.elapsed < Self.frame { return }
            rest = time.stopwatch()
            handOver()
        }

        /// Hands over what was held back.
        func handOver() {
            for event in held { give(event) }
            held.removeAll(keepingCapacity: true)
        }
    }

    extension GenerationEvent {
        /// Whether more of the same is to follow.
        fileprivate var isPiece: Bool {
            switch self {
            case .text, .thinking: true
            default: false
            }
        }
    }
#endif
