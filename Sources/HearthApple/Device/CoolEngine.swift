import HearthBase
import HearthInference

/// An engine that follows the policy of a device: answers are short while it saves power or is hot, and none begins while it
/// has to cool down. An answer under way is not ended.
struct CoolEngine: InferenceEngine {
    let base: any InferenceEngine
    let watch: DeviceWatch

    var modelInformation: ModelInformation { get async throws { try await base.modelInformation } }
    var capabilities: EngineCapabilities { get async throws { try await base.capabilities } }
    var tokens: (any TokenReader)? { base.tokens }

    func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        var options = options
        switch watch.policy.answers {
        case .full: break
        case .short: options.maximumNewTokens = min(options.maximumNewTokens, DevicePolicy.shortAnswer)
        case .refused:
            throw LLMError(
                .busy, "this device is too hot to answer",
                context: ErrorContext(remedy: "Let it cool down, and try again."),
                disposition: .tryLater)
        }
        return try await base.generate(messages, options: options, onEvent: onEvent)
    }
}

extension DeviceWatch {
    /// The same engine under the policy of this device: answers have at most 256 new tokens in Low Power Mode and serious heat,
    /// and throw `LLMError` with `busy` in critical heat.
    public func following(_ engine: any InferenceEngine) -> any InferenceEngine {
        CoolEngine(base: engine, watch: self)
    }
}
