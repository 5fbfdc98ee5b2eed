import HearthBase
import HearthInference

/// The model that answers questions with pictures: the one that is chosen when the question comes, else the usual engine.
struct SeeingEngine: InferenceEngine {
    /// Finds the model; `nil` for none.
    let find: @Sendable () async throws -> (any InferenceEngine)?
    let usual: any InferenceEngine

    private func engine() async throws -> any InferenceEngine { try await find() ?? usual }

    var modelInformation: ModelInformation { get async throws { try await engine().modelInformation } }

    var capabilities: EngineCapabilities { get async throws { try await engine().capabilities } }

    func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try await engine().generate(messages, options: options, onEvent: onEvent)
    }
}
