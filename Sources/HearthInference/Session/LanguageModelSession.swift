import HearthBase
import Observation

/// Decides about a tool call before it is run, for example by asking the user.
public typealias ToolApproval = @Sendable (ToolCall) async -> ToolDecision

/// A conversation with a model. The session keeps the messages, so that each turn only adds to the prompt and the
/// engine reuses the computed tokens.
///
/// ```swift
/// let session = LanguageModelSession(model: model, instructions: "Answer in one sentence.")
/// print(try await session.respond(to: "What is the capital of France?").content)
/// for try await snapshot in session.streamResponse(to: "And of Germany?") { show(snapshot.content) }
/// ```
/// The names are those of Apple's FoundationModels; a file that imports both writes `HearthInference.LanguageModelSession`.
/// Observable: views that read ``transcript`` or ``isResponding`` follow them.
public final class LanguageModelSession: Sendable, Observable {
    /// The engine that answers.
    public let model: any InferenceEngine
    /// The model; if its template has no tools, calls are written as text.
    let engine: TextToolEngine
    let toolBox: ToolBox
    let approval: ToolApproval?
    private let time: TimeSource
    private let state: Locked<State>
    private let registrar = ObservationRegistrar()

    /// The most tool calls of one turn.
    public static let maximumToolCalls = 8

    private struct State {
        var transcript: [ChatMessage]
        /// The last requested turn; each waits for the one before.
        var tail: Task<Void, Never>?
        var preparation: Task<Void, Never>?
        /// The beginning of the next prompt: the one in preparation, and the last one passed to
        /// ``prewarm(promptPrefix:)``.
        var preparedPrefix: String?
        var expectedPrefix: String?
        /// The number of requested turns without an answer.
        var turns = 0
    }

    /// Makes a new conversation, or the continuation of an earlier one.
    ///
    /// Without `instructions` and `tools`, only the model's own template adds text.
    /// - Parameters:
    ///   - tools: the tools the model may call while it answers.
    ///   - approval: decides about each call before it is run; `nil` runs all.
    ///   - instructions: the system message of a new conversation.
    ///   - transcript: the earlier conversation, whose instructions are its system message.
    ///   - time: the clock of time-outs.
    public init(
        model: any InferenceEngine, tools: [any Tool] = [], approval: ToolApproval? = nil, instructions: String? = nil,
        transcript: [ChatMessage] = [], time: TimeSource = .system
    ) {
        self.model = model
        engine = TextToolEngine(model)
        toolBox = ToolBox(tools)
        self.approval = approval
        self.time = time
        state = Locked(State(transcript: (instructions.map { [ChatMessage(.system, $0)] } ?? []) + transcript))
    }

    /// The conversation so far, with the instructions first if there are any.
    ///
    /// A question is added when its turn begins. If the time-out or a cancellation ended an answer, its shown text
    /// stays. A turn without answer text is removed again. Tool calls are in ``ChatMessage/toolCalls``, and their
    /// results in messages of ``ChatRole/tool``.
    public var transcript: [ChatMessage] {
        registrar.access(self, keyPath: \.transcript)
        return state.withLock { $0.transcript }
    }

    /// Whether an answer is running or waits for its turn.
    public var isResponding: Bool {
        registrar.access(self, keyPath: \.isResponding)
        return state.withLock { $0.turns > 0 }
    }

    /// Sends `prompt` with pictures and waits for the whole answer; turns are answered one after the other.
    ///
    /// The session runs tools that the model calls, one after the other; calls are not part of the answer's text. A
    /// constraint in the options excludes calls.
    /// - Throws: errors of the model; `too-many-tool-calls`; `grammar-unusable` for a tool that cannot be described;
    ///   `CancellationError` in a cancelled task.
    @discardableResult
    public func respond(
        to prompt: String, images: [ChatImage] = [], options: GenerationOptions = GenerationOptions()
    ) async throws -> Response<String> {
        try await streamResponse(to: prompt, images: images, options: options).collect()
    }

    /// Sends `prompt` with pictures and streams the answer, as snapshots or events; turns are answered one after the
    /// other.
    ///
    /// The answer begins at once. Cancelling the consuming task, or releasing the stream, stops it.
    /// - Throws (from the stream): errors of the model; `CancellationError` in a cancelled task.
    public func streamResponse(
        to prompt: String, images: [ChatImage] = [], options: GenerationOptions = GenerationOptions()
    ) -> ResponseStream {
        let question = ChatMessage(.user, prompt, images: images)
        let watch = time.stopwatch()
        // No buffering policy, because it would lose text: the engine's own limits bound the number of events.
        let stream = AsyncThrowingStream<GenerationEvent, any Error> { continuation in
            let turn = enqueue(question) { await self.answer(question, options, since: watch, continuation) }
            continuation.onTermination = { reason in
                guard case .cancelled = reason else { return }
                // A stream whose reading task is cancelled would end without an error.
                continuation.finish(throwing: CancellationError())
                turn.cancel()
            }
        }
        return ResponseStream(pieces: stream)
    }

    /// Loads the model and computes the known part of the next prompt, so that its answer begins sooner.
    ///
    /// Returns at once. A turn that begins during the preparation goes first and reuses the tokens computed so far. If
    /// the method is called again before the preparation ends, as while a user types, only the last prefix is prepared
    /// next. While the session answers, no prefix is prepared. The next turn reports errors.
    /// - Parameter promptPrefix: the beginning of the next prompt.
    public func prewarm(promptPrefix: String = "") {
        state.withLock { state in
            guard state.turns == 0 else { return }
            state.expectedPrefix = promptPrefix == state.preparedPrefix ? nil : promptPrefix
            guard state.preparation == nil else { return }
            state.preparation = Task {
                while let expected = nextToPrepare() { await prepare(expected) }
            }
        }
    }

    /// The beginning of the next prompt if it is not prepared yet; `nil` ends the preparation.
    private func nextToPrepare() -> [ChatMessage]? {
        state.withLock { state in
            state.preparedPrefix = state.expectedPrefix.take()
            guard let prefix = state.preparedPrefix, !Task.isCancelled else {
                (state.preparation, state.preparedPrefix) = (nil, nil)
                return nil
            }
            return state.transcript + [ChatMessage(.user, prefix)]
        }
    }

    private func prepare(_ expected: [ChatMessage]) async {
        var options = GenerationOptions()
        do {
            options.tools = try toolBox.definitions
            try await engine.prepare(expected, options: options)
        } catch {
            Log.write(.debug, "session", "could not prepare an answer: \(error)")
        }
    }

    private func enqueue(
        _ question: ChatMessage, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        let turn = state.withLock { state in
            let previous = state.tail
            let preparation = state.preparation
            preparation?.cancel()
            let turn = Task {
                await preparation?.value
                await previous?.value
                await body()
            }
            state.tail = turn
            // A later turn adds its question when it begins.
            if state.turns == 0 { state.transcript.append(question) }
            state.turns += 1
            return turn
        }
        tellObservers()
        return turn
    }

    /// Notifies observers after a change: a view that reads again at once, on any thread, gets the new values.
    private func tellObservers() {
        registrar.withMutation(of: self, keyPath: \.transcript) {}
        registrar.withMutation(of: self, keyPath: \.isResponding) {}
    }

    /// Begins a turn.
    /// - Returns: the conversation with the turn's question.
    private func beginTurn(_ question: ChatMessage) -> [ChatMessage] {
        let (messages, isAsked) = state.withLock { ($0.transcript, $0.transcript.last?.id == question.id) }
        if isAsked { return messages }
        defer { tellObservers() }
        return state.withLock { state in
            state.transcript.append(question)
            return state.transcript
        }
    }

    /// Ends a turn and stores its messages.
    private func endTurn(_ messages: [ChatMessage]) {
        state.withLock { state in
            state.transcript = messages
            state.turns -= 1
        }
        tellObservers()
    }

    private func answer(
        _ question: ChatMessage, _ options: GenerationOptions, since watch: Stopwatch,
        _ continuation: AsyncThrowingStream<GenerationEvent, any Error>.Continuation
    ) async {
        let asked = beginTurn(question)
        var messages = asked
        var summary: GenerationSummary?
        var failure: (any Error)?
        do {
            try Task.checkCancellation()
            summary = try await runTurn(&messages, options, since: watch) { _ = continuation.yield($0) }
        } catch {
            failure = error
        }
        // The last event is sent after the conversation contains the answer.
        endTurn(messages.count > asked.count ? messages : Array(asked.dropLast()))
        if let summary { continuation.yield(.finish(summary)) }
        continuation.finish(throwing: failure)
    }
}
