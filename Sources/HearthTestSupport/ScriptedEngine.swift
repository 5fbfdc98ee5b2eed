import HearthBase
import HearthInference

/// An engine that answers from a script, so that conversations are tested without a model.
public actor ScriptedEngine: InferenceEngine {
    /// One step of an answer.
    public enum Step: Sendable {
        case text(String)
        case thinking(String)
        case truncated(Int)
        case toolCall(ToolCall)
        /// Waits until the consumer is cancelled, then ends like a cancelled generation; or until it may go on.
        case waitForCancellation
        case fail(LLMError)
        case finish(FinishReason)
    }

    private var answers: [[Step]]
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var stalls = 0
    /// What those that wait end with.
    private var sources: [AsyncStream<Never>.Continuation] = []
    /// The conversations the engine was asked to continue, in order.
    public private(set) var requests: [[ChatMessage]] = []
    /// What they were asked with.
    public private(set) var options: [GenerationOptions] = []

    /// Whether it is one that tools are told to.
    public nonisolated let callsTools: Bool

    /// Gives the answers in order; past the last one it fails with `model-not-loaded`.
    public init(_ answers: [[Step]], callsTools: Bool = false) {
        self.answers = answers
        self.callsTools = callsTools
    }

    public var modelInformation: ModelInformation {
        ModelInformation(
            description: "scripted", parameterCount: 0, size: 0, contextLength: 4096, trainedContextLength: 4096,
            batchSize: 512, threadCount: 1)
    }

    public nonisolated func generate(
        _ messages: [ChatMessage], options: GenerationOptions
    ) -> AsyncThrowingStream<GenerationEvent, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task { await self.play(messages, options, continuation) }
            continuation.endsWithItsReader { task.cancel() }
        }
    }

    /// Returns once answers have come to so many `waitForCancellation` steps, since the beginning.
    public func stalled(times: Int = 1) async {
        while stalls < times { await withCheckedContinuation { waiting.append($0) } }
    }

    /// Lets all answers that wait go on.
    public func goOn() {
        for source in sources { source.finish() }
        sources = []
    }

    private func play(
        _ messages: [ChatMessage], _ asked: GenerationOptions,
        _ continuation: AsyncThrowingStream<GenerationEvent, any Error>.Continuation
    ) async {
        requests.append(messages)
        options.append(asked)
        guard !answers.isEmpty else {
            return continuation.finish(throwing: LLMError(.modelNotLoaded, "the script has no further answer"))
        }
        var generated = 0
        for step in answers.removeFirst() {
            switch step {
            case .text(let text):
                generated += 1
                continuation.yield(.text(text))
            case .thinking(let text):
                generated += 1
                continuation.yield(.thinking(text))
            case .truncated(let dropped): continuation.yield(.truncated(dropped: dropped))
            case .toolCall(let call): continuation.yield(.toolCall(call))
            case .waitForCancellation:
                stalls += 1
                for waiter in waiting { waiter.resume() }
                waiting = []
                let (never, source) = AsyncStream<Never>.makeStream()
                sources.append(source)
                for await _ in never {}
                if Task.isCancelled { return continuation.finish(throwing: CancellationError()) }
            case .fail(let error):
                return continuation.finish(throwing: error)
            case .finish(let reason):
                let usage = TokenUsage(promptTokens: 1, cachedTokens: 0, generatedTokens: generated)
                let timings = GenerationTimings(
                    firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0)
                continuation.yield(.finish(GenerationSummary(reason: reason, usage: usage, timings: timings)))
            }
        }
        continuation.finish()
    }
}
