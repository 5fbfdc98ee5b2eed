extension LanguageModelSession {
    /// A whole answer and its facts.
    public struct Response<Content: Sendable>: Sendable {
        /// The answer.
        public let content: Content
        /// The thinking before it; empty without thinking.
        public let thinking: String
        /// The finish reason, counts and times.
        public let summary: GenerationSummary
    }

    /// One answer while it is generated. Read it once, in one of three ways:
    ///
    /// ```swift
    /// for try await snapshot in stream { show(snapshot.content) }        // each time the whole text so far
    /// for try await event in stream.events { … }                         // each time the new piece
    /// let response = try await stream.collect()                          // the complete answer
    /// ```
    public struct ResponseStream: AsyncSequence, Sendable {
        package let pieces: AsyncThrowingStream<GenerationEvent, any Error>

        /// The answer in pieces, with phases and facts: the fastest way to read it. The last event is
        /// ``GenerationEvent/finish(_:)``; otherwise the sequence throws, in a cancelled task `CancellationError`. Unread
        /// events wait in memory; the engine's limits bound their number.
        public var events: some AsyncSequence<GenerationEvent, any Error> & Sendable { pieces }

        /// The answer so far.
        public struct Snapshot: Sendable, Hashable {
            /// The answer so far.
            public internal(set) var content = ""
            /// The thinking so far.
            public internal(set) var thinking = ""
            /// The number of oldest messages that did not fit the context window.
            public internal(set) var droppedMessages = 0
            /// The number of pictures that are left out because the model reads none.
            public internal(set) var picturesLeftOut = 0
            /// The tools called so far.
            public internal(set) var toolCalls: [ToolCall] = []
            /// The results of the tools so far, in the order of ``toolCalls``.
            public internal(set) var toolResults: [String] = []
            /// The facts, in the last snapshot of a complete answer.
            public internal(set) var summary: GenerationSummary?

            /// Adds an event; `false` when it changes nothing.
            mutating func take(_ event: GenerationEvent) -> Bool {
                switch event {
                case .phase, .token: return false
                case .truncated(let dropped): droppedMessages = dropped
                case .picturesLeftOut(let count): picturesLeftOut = count
                case .thinking(let piece): thinking += piece
                case .text(let piece): content += piece
                case .toolCall(let call): toolCalls.append(call)
                case .toolResult(_, let content): toolResults.append(content)
                case .finish(let facts): summary = facts
                }
                return true
            }
        }

        /// Combines events to snapshots.
        private struct Snapshots: AsyncIteratorProtocol {
            var events: AsyncThrowingStream<GenerationEvent, any Error>.Iterator
            var snapshot = Snapshot()

            mutating func next() async throws -> Snapshot? {
                while let event = try await events.next() {
                    if snapshot.take(event) { return snapshot }
                }
                return nil
            }
        }

        /// Reads the stream as snapshots.
        public func makeAsyncIterator() -> some AsyncIteratorProtocol<Snapshot, any Error> {
            Snapshots(events: pieces.makeAsyncIterator())
        }

        /// The whole answer.
        /// - Throws: errors of the model; `CancellationError` when the task was cancelled.
        public func collect() async throws -> Response<String> {
            var last = Snapshot()
            for try await event in pieces { _ = last.take(event) }
            guard let summary = last.summary else { throw CancellationError() }
            return Response(content: last.content, thinking: last.thinking, summary: summary)
        }
    }
}
