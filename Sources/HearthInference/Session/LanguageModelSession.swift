import HearthBase
import Observation

/// A model that can be talked to: an engine, as a session sees it.
public typealias LanguageModel = InferenceEngine

/// A conversation with a model: it keeps what was said, so that each turn only adds to the prompt and the engine can
/// reuse what it has computed.
///
/// ```swift
/// let session = LanguageModelSession(model: model, instructions: "Answer in one sentence.")
/// print(try await session.respond(to: "What is the capital of France?").content)
/// for try await snapshot in session.streamResponse(to: "And of Germany?") { show(snapshot.content) }
/// ```
/// The names are those of Apple's FoundationModels; a file that imports both says `HearthInference.LanguageModelSession`.
/// Observable: views that read ``transcript`` or ``isResponding`` follow them.
public final class LanguageModelSession: Sendable, Observable {
    /// Who answers.
    public let model: any LanguageModel
    private let state: Locked<State>
    private let registrar = ObservationRegistrar()
    let toolBox: ToolBox

    /// The most calls of tools in one turn.
    public static let maximumToolCalls = 8

    private struct State {
        var transcript: [ChatMessage]
        /// The last turn asked for; each waits for the one before.
        var tail: Task<Void, Never>?
        var preparation: Task<Void, Never>?
        /// How the next prompt begins that is prepared now, and as somebody has said since.
        var preparedPrefix: String?
        var expectedPrefix: String?
        /// The turns asked for and not answered yet.
        var turns = 0
    }

    /// A new conversation.
    ///
    /// Without `instructions` and `tools` nothing is added beyond what the model's own template adds.
    /// - Parameters:
    ///   - tools: what the model may ask for while it answers; described to it after the instructions.
    ///   - instructions: the system message.
    public convenience init(model: any LanguageModel, tools: [any Tool] = [], instructions: String? = nil) {
        self.init(model: model, tools: tools, transcript: instructions.map { [ChatMessage(.system, $0)] } ?? [])
    }

    /// The continuation of an earlier conversation, whose instructions are its system message.
    public init(model: any LanguageModel, tools: [any Tool] = [], transcript: [ChatMessage]) {
        self.model = model
        toolBox = ToolBox(tools)
        state = Locked(State(transcript: transcript))
    }

    /// The conversation until now, the instructions first if there are any.
    ///
    /// What was shown of an answer is part of it, also when the time-out or a cancellation cut it short. A turn that brought
    /// no text at all leaves no trace, and neither does what the model thought. Calls of tools and their results are part of it:
    /// ``ChatMessage/toolCalls`` and messages of ``ChatRole/tool`` where the model's template knows them, else as the model wrote
    /// them in its text, with messages of the user in `<tool_response>` as results.
    public var transcript: [ChatMessage] {
        registrar.access(self, keyPath: \.transcript)
        return state.withLock { $0.transcript }
    }

    /// Whether an answer is under way or waits for its turn.
    public var isResponding: Bool {
        registrar.access(self, keyPath: \.isResponding)
        return state.withLock { $0.turns > 0 }
    }

    /// Says `prompt`, shows pictures with it, and waits for the whole answer; turns are answered one after the other.
    ///
    /// Tools the model calls are run meanwhile, one after the other; calls are no part of the answer's text. With a constraint
    /// in the options there is no room for calls.
    /// - Throws: what the model throws; `too-many-tool-calls`; `grammar-unusable` for a tool that cannot be described;
    ///   `CancellationError` when the task was cancelled.
    @discardableResult
    public func respond(
        to prompt: String, images: [ChatImage] = [], options: GenerationOptions = GenerationOptions()
    ) async throws -> Response<String> {
        try await streamResponse(to: prompt, images: images, options: options).collect()
    }

    /// Says `prompt`, shows pictures with it, and streams the answer, as snapshots or as events; turns are answered one after the other.
    ///
    /// The answer begins at once. Cancelling the consuming task, or letting go of the stream, stops it.
    /// - Throws (from the stream): what the model throws. A cancelled consuming task sees the stream end without a summary.
    public func streamResponse(
        to prompt: String, images: [ChatImage] = [], options: GenerationOptions = GenerationOptions()
    ) -> ResponseStream {
        let question = ChatMessage(.user, prompt, images: images)
        // Not bounded by a policy that would lose text: the engine's own limits bound the number of events.
        let events = AsyncThrowingStream<GenerationEvent, any Error> { continuation in
            let turn = enqueue { await self.answer(question, options, continuation) }
            continuation.endsWithItsReader { turn.cancel() }
        }
        return ResponseStream(events: events)
    }

    /// Lets the engine load and compute what is known of the next prompt, so that its answer begins sooner.
    ///
    /// Returns at once; a turn that comes meanwhile goes first and uses what is computed until then. Said again before that is
    /// done, as while somebody types, the last prefix is prepared after the one under way, unless it is the same, and those
    /// between are left out. While an answer is under way nothing is prepared. What fails here fails again in the next turn,
    /// which says so.
    /// - Parameter promptPrefix: how the next prompt begins.
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

    /// The beginning of the next prompt, if it is still to be prepared; else the preparation is over.
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
        // An engine that knows no preparation stops at the first token, which it takes to see the prompt computed.
        var options = GenerationOptions(sampling: .greedy, maximumNewTokens: 1, purpose: .preparation)
        do {
            var described = expected
            if !toolBox.isEmpty, await model.callsTools {
                options.tools = try toolBox.definitions
            } else {
                described = try toolBox.describing(in: expected)
            }
            for try await _ in model.generate(described, options: options) {}
        } catch {
            Log.write(.debug, "session.prewarm", "could not prepare an answer: \(error)")
        }
    }

    private func enqueue(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        registrar.withMutation(of: self, keyPath: \.isResponding) {
            state.withLock { state in
                let previous = state.tail
                let preparation = state.preparation
                preparation?.cancel()
                let turn = Task {
                    await preparation?.value
                    await previous?.value
                    await body()
                }
                state.tail = turn
                state.turns += 1
                return turn
            }
        }
    }

    /// Ends a turn, which left these messages.
    private func endTurn(_ messages: [ChatMessage]?) {
        if let messages {
            registrar.withMutation(of: self, keyPath: \.transcript) { state.withLock { $0.transcript = messages } }
        }
        registrar.withMutation(of: self, keyPath: \.isResponding) { state.withLock { $0.turns -= 1 } }
    }

    private func answer(
        _ question: ChatMessage, _ options: GenerationOptions,
        _ continuation: AsyncThrowingStream<GenerationEvent, any Error>.Continuation
    ) async {
        let asked = state.withLock { $0.transcript } + [question]
        var messages = asked
        var summary: GenerationSummary?
        var failure: (any Error)?
        do {
            try Task.checkCancellation()
            summary = try await talk(&messages, options) { continuation.yield($0) }
        } catch {
            failure = error
        }
        // The last event waits until the conversation holds the answer.
        endTurn(messages.count > asked.count ? messages : nil)
        if let summary { continuation.yield(.finish(summary)) }
        continuation.finish(throwing: failure)
    }
}
