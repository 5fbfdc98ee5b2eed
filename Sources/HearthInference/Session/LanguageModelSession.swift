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
    private let toolBox: ToolBox

    /// The most calls of tools in one turn.
    public static let maximumToolCalls = 8

    private struct State {
        var transcript: [ChatMessage]
        /// The last turn asked for; each waits for the one before.
        var tail: Task<Void, Never>?
        var prewarming: Task<Void, Never>?
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
    /// no text at all leaves no trace, and neither does what the model thought. Calls of tools are part of it as the model wrote
    /// them, and their results as messages of the user in `<tool_response>`.
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
            continuation.onTermination = { if case .cancelled = $0 { turn.cancel() } }
        }
        return ResponseStream(events: events)
    }

    /// Lets the engine load and compute what is known of the next prompt, so that its answer begins sooner.
    ///
    /// Returns at once; a turn that comes meanwhile goes first and uses what is computed until then. What fails here fails
    /// again in that turn, which says so.
    /// - Parameter promptPrefix: how the next prompt begins.
    public func prewarm(promptPrefix: String = "") {
        state.withLock { state in
            guard state.turns == 0, state.prewarming == nil else { return }
            let expected = state.transcript + [ChatMessage(.user, promptPrefix)]
            state.prewarming = Task {
                // The engine stops at the first token, which it takes to see the prompt computed.
                let options = GenerationOptions(sampling: .greedy, maximumNewTokens: 1)
                do {
                    let described = try self.toolBox.describing(in: expected)
                    for try await _ in self.model.generate(described, options: options) {}
                } catch {
                    Log.write(.debug, "session.prewarm", "could not prepare an answer: \(error)")
                }
                self.state.withLock { $0.prewarming = nil }
            }
        }
    }

    private func enqueue(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        registrar.withMutation(of: self, keyPath: \.isResponding) {
            state.withLock { state in
                let previous = state.tail
                let prewarming = state.prewarming
                prewarming?.cancel()
                let turn = Task {
                    await prewarming?.value
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

    /// Lets the model answer, and run tools before if it wants to.
    private func talk(
        _ messages: inout [ChatMessage], _ options: GenerationOptions, _ yield: (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        guard !toolBox.isEmpty, options.constraint == nil else {
            return try await speak(&messages, options, describing: ToolBox([]), yield).summary
        }
        let options = try toolBox.constraining(options)
        for _ in 0...Self.maximumToolCalls {
            let (summary, call) = try await speak(&messages, options, describing: toolBox, yield)
            // A call that a limit cut short is none.
            guard let call, [.stopString, .endOfGeneration].contains(summary.reason) else { return summary }
            messages.append(ToolBox.result(try await toolBox.run(call)))
        }
        throw LLMError(
            .tooManyToolCalls, "the model called tools more than \(Self.maximumToolCalls) times instead of answering",
            context: ErrorContext(remedy: "Ask for less at once, or say in the instructions when to stop."))
    }

    /// One message of the model, added to the others; also what there is of one that failed.
    /// - Returns: its facts, and what it calls.
    private func speak(
        _ messages: inout [ChatMessage], _ options: GenerationOptions, describing box: ToolBox,
        _ yield: (GenerationEvent) -> Void
    ) async throws -> (summary: GenerationSummary, call: String?) {
        var said = ""
        defer { if !said.isEmpty { messages.append(ChatMessage(.assistant, said)) } }
        var calls = StopStringMatcher(box.isEmpty ? [] : [ToolBox.opening])
        var summary: GenerationSummary?
        for try await event in model.generate(try box.describing(in: messages), options: options) {
            switch event {
            case .text(let piece):
                said += piece
                let shown = calls.append(piece)
                if !shown.isEmpty { yield(.text(shown)) }
            case .finish(let facts): summary = facts
            // What was thought is shown and then forgotten: templates want answers in the history, not drafts.
            case .phase, .truncated, .picturesLeftOut, .thinking: yield(event)
            }
        }
        // A cancelled task sees its stream end early rather than throw.
        guard let summary else { throw CancellationError() }
        let rest = calls.finish()
        if !rest.isEmpty { yield(.text(rest)) }
        guard calls.matched != nil, let place = said.firstRange(of: ToolBox.opening) else { return (summary, nil) }
        let call = String(said[place.upperBound...])
        if summary.reason == .stopString { said += ToolBox.closing }
        return (summary, call)
    }
}
