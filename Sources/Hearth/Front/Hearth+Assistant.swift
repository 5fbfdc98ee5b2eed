import HearthAssistant
import HearthBase
import HearthInference

extension Hearth {
    /// The assistant of an app, with its conversations and records in the home folder. The user's answer `always` is kept in
    /// the settings.
    ///
    /// ```swift
    /// let assistant = try await hearth.assistant(approval: screen)
    /// let chat = ChatViewModel(try await assistant.session())
    /// ```
    /// - Parameters:
    ///   - approval: asks the user about actions.
    ///   - stores: the app's own calendars, reminders, contacts, notes and habits; those that are `nil` are the home's.
    ///   - engine: answers; `nil` for ``orchestrator(cloud:premium:default:)``.
    ///   - visionEngine: answers questions with pictures; `nil` for a model of this device, if one reads pictures, else
    ///     `engine`.
    ///   - settings: `nil` for those of the home.
    /// - Throws: ``ConfigurationError`` for a search without a server; `LLMError` with `cloud-key-unusable`;
    ///   `DatabaseError`, `FileError`; as ``orchestrator(cloud:premium:default:)``.
    public func assistant(
        approval: any ActionApproval, stores: AssistantStores = AssistantStores(), engine: (any InferenceEngine)? = nil,
        visionEngine: (any InferenceEngine)? = nil, settings: AssistantSettings? = nil
    ) async throws -> Assistant {
        let engine = if let engine { engine } else { try await orchestrator() as any InferenceEngine }
        let settings = if let settings { settings } else { try await assistantSettings() }
        let records = try await AssistantHome(path: home, time: surroundings.time)
        let assistant = assistant(
            on: records, settings, engine: engine, visionEngine: visionEngine, approval: approval, stores: stores)
        // Actions during which an earlier process ended are settled before new ones begin.
        _ = await assistant.actions.recover()
        return assistant
    }

    /// The settings of the configuration for an assistant.
    /// - Throws: ``ConfigurationError`` for a search without a server; `LLMError` with `cloud-key-unusable`.
    public func assistantSettings() async throws -> AssistantSettings { try await assistantSettings(configuration) }

    /// The settings of another configuration for an assistant.
    package func assistantSettings(_ configuration: Configuration) async throws -> AssistantSettings {
        try await blocking { try configuration.assistantSettings() }
    }

    /// An assistant on open records.
    /// - Parameter owner: an object that stays as long as the models are used.
    package func assistant(
        on records: AssistantHome, _ settings: AssistantSettings, engine: any InferenceEngine,
        visionEngine: (any InferenceEngine)? = nil, approval: any ActionApproval,
        stores: AssistantStores = AssistantStores(), keeping owner: (any AnyObject & Sendable)? = nil
    ) -> Assistant {
        var settings = settings
        let file = SettingsFile(home: home)
        settings.saveApproval = { tag, setting in
            do {
                try await file.change { try $0.set("approval.\(tag)", to: setting.rawValue) }
            } catch {
                Log.write(.warning, "assistant", "the answer `always` is not kept", [.error(error)])
            }
        }
        return Assistant(
            records, stores: stores, engine: engine,
            seeing: visionEngine ?? VisionFallback(hearth: self, other: engine, owner: owner), settings: settings,
            approval: approval)
    }
}

extension Configuration {
    /// The settings for an assistant. Blocks to read the key of a search.
    /// - Throws: ``ConfigurationError`` for a search without a server; `LLMError` with `cloud-key-unusable`.
    func assistantSettings() throws -> AssistantSettings {
        try require(.assistant, .answers)
        var settings = assistant.settings(search: try assistant.provider())
        if let tokens = maximumNewTokens { settings.chat.maximumNewTokens = tokens }
        settings.chat.temperature = temperature
        return settings
    }
}
