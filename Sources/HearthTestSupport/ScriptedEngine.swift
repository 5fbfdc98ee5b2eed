import HearthBase
import HearthInference

/// An engine that answers from a script, so that conversations can be tested without a model.
package actor ScriptedEngine: InferenceEngine, TokenReader {
    /// One step of an answer.
    package enum Step: Sendable {
        case event(GenerationEvent)
        /// Waits until the caller is cancelled, which ends the answer, or until ``goOn()``.
        case waitForCancellation
        case fail(any Error)
        case finish(FinishReason)

        package static func text(_ text: String) -> Self { .event(.text(text)) }
        package static func thinking(_ text: String) -> Self { .event(.thinking(text)) }
        package static func truncated(_ dropped: Int) -> Self { .event(.truncated(dropped: dropped)) }
        package static func toolCall(_ call: ToolCall) -> Self { .event(.toolCall(call)) }
    }

    private var answers: [[Step]]
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var stalls = 0
    private var sources: [AsyncStream<Never>.Continuation] = []
    /// The conversations and options of all requests, in order. Preparations are included and use a script each.
    package private(set) var requests: [[ChatMessage]] = []
    package private(set) var options: [GenerationOptions] = []
    /// The conversations of the preparations.
    package private(set) var preparations: [[ChatMessage]] = []
    package nonisolated let capabilities: EngineCapabilities
    package nonisolated let modelInformation: ModelInformation

    /// Makes an engine that gives the answers in order; after the last one it fails with `model-not-loaded`.
    package init(
        _ answers: [[Step]], capabilities: EngineCapabilities = [],
        information: ModelInformation = ModelInformation(description: "scripted", contextLength: 4096)
    ) {
        self.answers = answers
        modelInformation = information
        self.capabilities = capabilities
    }

    package func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
        preparations.append(messages)
        _ = try await generate(messages, options: options) { _ in }
    }

    package func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        requests.append(messages)
        self.options.append(options)
        guard !answers.isEmpty else { throw LLMError(.modelNotLoaded, "the script has no further answer") }
        var usage = TokenUsage(promptTokens: 1, cachedTokens: 0, generatedTokens: 0)
        for step in answers.removeFirst() {
            switch step {
            case .event(let event):
                if event.isText { usage.generatedTokens += 1 }
                onEvent(event)
            case .waitForCancellation:
                stalls += 1
                for waiter in waiting { waiter.resume() }
                waiting = []
                let (never, source) = AsyncStream<Never>.makeStream()
                sources.append(source)
                for await _ in never {}
                try Task.checkCancellation()
            case .fail(let error): throw error
            case .finish(let reason):
                let none = GenerationTimings(
                    firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0)
                return GenerationSummary(reason: reason, usage: usage, timings: none)
            }
        }
        throw LLMError(.generateFailed, "the script ends without a finish")
    }

    /// Returns when `times` `waitForCancellation` steps have been reached since the start.
    package func stalled(times: Int = 1) async {
        while stalls < times { await withCheckedContinuation { waiting.append($0) } }
    }

    /// Continues all waiting answers.
    package func goOn() {
        for source in sources { source.finish() }
        sources = []
    }
}

extension GenerationEvent {
    fileprivate var isText: Bool {
        switch self {
        case .text, .thinking: true
        default: false
        }
    }
}
