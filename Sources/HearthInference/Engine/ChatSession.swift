import HearthBase

/// A conversation with an engine: it keeps what was said, so that each turn only adds to the prompt and the engine can
/// reuse what it has computed.
///
/// ```swift
/// let chat = ChatSession(engine: engine, systemPrompt: "You are a helpful assistant.")
/// for try await event in chat.send("What is the capital of France?") {
///     if case .text(let piece) = event { print(piece, terminator: "") }
/// }
/// ```
public actor ChatSession {
    private let engine: any InferenceEngine
    private let opening: [ChatMessage]
    // The last turn asked for; each waits for the one before. Outside the actor, so that turns keep their order.
    private let tail = Locked<Task<Void, Never>?>(nil)
    /// The conversation until now, the system message first if there is one.
    public private(set) var messages: [ChatMessage]

    /// A new conversation, or the continuation of an earlier one.
    ///
    /// Without `systemPrompt` nothing is added beyond what the model's own template adds.
    public init(engine: any InferenceEngine, systemPrompt: String? = nil, history: [ChatMessage] = []) {
        self.engine = engine
        opening = systemPrompt.map { [ChatMessage(.system, $0)] } ?? []
        messages = opening + history
    }

    /// Says `text` and streams the answer; sends are answered one after the other.
    ///
    /// What was shown of the answer is part of the conversation, also when the time-out or a cancellation cut it
    /// short. A turn that brought no text at all leaves no trace.
    /// - Throws (from the stream): what the engine throws. A cancelled consuming task sees the stream end without
    ///   ``GenerationEvent/finish(_:)``.
    public nonisolated func send(
        _ text: String, options: GenerationOptions = GenerationOptions()
    ) -> AsyncThrowingStream<GenerationEvent, any Error> {
        // Not bounded by a policy that would lose text: the engine's own limits bound the number of events.
        AsyncThrowingStream { continuation in
            let turn = tail.withLock { tail in
                let previous = tail
                let turn = Task {
                    await previous?.value
                    await self.answer(text, options, continuation)
                }
                tail = turn
                return turn
            }
            continuation.onTermination = { if case .cancelled = $0 { turn.cancel() } }
        }
    }

    /// Forgets everything said, once the answer under way has ended; the system prompt stays.
    public func clear() async {
        await tail.withLock { $0 }?.value
        messages = opening
    }

    private func answer(
        _ text: String, _ options: GenerationOptions,
        _ continuation: AsyncThrowingStream<GenerationEvent, any Error>.Continuation
    ) async {
        let asked = messages + [ChatMessage(.user, text)]
        var answer = ""
        var summary: GenerationSummary?
        var failure: (any Error)?
        do {
            try Task.checkCancellation()
            for try await event in engine.generate(asked, options: options) {
                switch event {
                case .text(let piece): answer += piece
                case .finish(let facts): summary = facts
                // What was thought is shown and then forgotten: templates want answers in the history, not drafts.
                case .phase, .truncated, .thinking: break
                }
                // The last event waits until the conversation holds the answer.
                if summary == nil { continuation.yield(event) }
            }
            // A cancelled task sees its stream end early rather than throw.
            if summary == nil { throw CancellationError() }
        } catch {
            failure = error
        }
        if !answer.isEmpty { messages = asked + [ChatMessage(.assistant, answer)] }
        if let summary { continuation.yield(.finish(summary)) }
        continuation.finish(throwing: failure)
    }
}
