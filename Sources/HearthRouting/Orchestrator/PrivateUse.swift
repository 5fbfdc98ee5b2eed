import HearthInference

/// An engine that may send a conversation to another machine.
package protocol SendingEngine: InferenceEngine {
    /// The engine for conversations of which nothing leaves the device.
    var onThisDevice: any InferenceEngine { get }
}

extension InferenceEngine {
    /// The engine for a private conversation: itself if it never sends anything, else its part on this device.
    package var forPrivateUse: any InferenceEngine {
        if let sending = self as? any SendingEngine { return sending.onThisDevice }
        return self is any RemoteEngine ? WithheldEngine() : self
    }
}

extension LLMOrchestrator: SendingEngine {
    package nonisolated var onThisDevice: any InferenceEngine { conversation(RouteRequest(isPrivate: true)) }
}

/// Stands for an engine on a server in a private conversation, or in one that has to stay local: each call fails.
struct WithheldEngine: InferenceEngine {
    var reason = RouteReason.privateConversation

    private var refusal: any Error { RouteDecision(.local, reason).refusal }

    var modelInformation: ModelInformation { get async throws { throw refusal } }

    var capabilities: EngineCapabilities { get async throws { throw refusal } }

    func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary { throw refusal }
}
