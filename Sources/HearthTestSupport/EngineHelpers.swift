import HearthInference

/// An engine that forwards to another one, so that a test implements only the difference.
package protocol ForwardingEngine: InferenceEngine, ForwardingTokenReader {
    associatedtype Engine: InferenceEngine
    var engine: Engine { get }
}

extension ForwardingEngine {
    package var modelInformation: ModelInformation { get async throws { try await engine.modelInformation } }

    package var capabilities: EngineCapabilities { get async throws { try await engine.capabilities } }

    package func reading<Value: Sendable>(_ ask: (any TokenReader) async throws -> Value) async throws -> Value {
        try await ask(engine.reader)
    }

    package func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try await engine.generate(messages, options: options, onEvent: onEvent)
    }
}

extension InferenceEngine {
    /// The events of a generation as a stream, with the summary as `.finish`. Cancelling the reading task cancels the
    /// generation.
    package func generate(
        _ messages: [ChatMessage], options: GenerationOptions
    ) -> AsyncThrowingStream<GenerationEvent, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    let summary = try await generate(messages, options: options) { continuation.yield($0) }
                    continuation.yield(.finish(summary))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.endsWithItsReader { task.cancel() }
        }
    }
}

extension GenerationOptions {
    /// Makes options with tools.
    package init(
        sampling: SamplingOptions = SamplingOptions(), maximumNewTokens: Int = 768, stopStrings: [String] = [],
        thinking: ThinkingOptions = ThinkingOptions(), constraint: OutputConstraint? = nil, tools: [ToolDefinition]
    ) {
        self.init(
            sampling: sampling, maximumNewTokens: maximumNewTokens, stopStrings: stopStrings, thinking: thinking,
            constraint: constraint)
        self.tools = tools
    }
}
