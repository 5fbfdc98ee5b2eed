import HearthAssistant
import HearthBase
import HearthInference

extension Hearth {
    /// The assistant of an app, with its conversations and records in the home folder.
    ///
    /// ```swift
    /// let engine = await hearth.orchestrator(cloud: nil, premium: premium)
    /// let assistant = try await hearth.assistant(engine: engine, approval: screen)
    /// let chat = ChatViewModel(try await assistant.session())
    /// ```
    /// - Parameters:
    ///   - engine: answers; an orchestrator chooses between models of this device and a cloud.
    ///   - seeing: answers questions with pictures, if `engine` cannot.
    ///   - settings: `nil` for those of the configuration.
    ///   - approval: asks the user about actions.
    /// - Throws: ``ConfigurationError`` for a search without a server; `LLMError` with `cloud-key-unusable`;
    ///   `DatabaseError`, `FileError`.
    public func assistant(
        engine: any InferenceEngine, seeing: (any InferenceEngine)? = nil, settings: AssistantSettings? = nil,
        approval: any ActionApproval
    ) async throws -> Assistant {
        let own = if let settings { settings } else { try await assistantSettings() }
        return try await Assistant(home: home, engine: engine, seeing: seeing, settings: own, approval: approval)
    }

    /// The settings of the configuration for an assistant.
    /// - Throws: ``ConfigurationError`` for a search without a server; `LLMError` with `cloud-key-unusable`.
    public func assistantSettings() async throws -> AssistantSettings {
        try await blocking { [configuration] in try configuration.assistantSettings() }
    }
}
