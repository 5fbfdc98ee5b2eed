import HearthAssistant
import HearthBase
import HearthInference

extension AssistantHome {
    /// The assistant of a program, on these records and under the settings of a configuration. It keeps the user's answer
    /// `always` in them.
    /// - Parameters:
    ///   - seeing: answers questions with pictures, if `engine` cannot.
    ///   - adjust: changes the settings for the program.
    /// - Throws: ``ConfigurationError`` for a search without a server; `LLMError` with `cloud-key-unusable`.
    package func assistant(
        _ configuration: Configuration, engine: any InferenceEngine, seeing: (any InferenceEngine)? = nil,
        approval: any ActionApproval, adjust: (inout AssistantSettings) -> Void
    ) async throws -> Assistant {
        var settings = try await blocking { try configuration.assistantSettings() }
        let file = SettingsFile(home: path)
        settings.saveApproval = { tag, setting in
            do {
                try await file.change { try $0.set("approval.\(tag)", to: setting.rawValue) }
            } catch {
                Log.write(.warning, "assistant", "the answer `always` is not kept", [.error(error)])
            }
        }
        adjust(&settings)
        return Assistant(self, engine: engine, seeing: seeing, settings: settings, approval: approval)
    }
}

extension Configuration {
    /// The settings for an assistant. Blocks to read the key of a search.
    /// - Throws: ``ConfigurationError`` for a search without a server; `LLMError` with `cloud-key-unusable`.
    func assistantSettings() throws -> AssistantSettings {
        var settings = assistant.settings(search: try assistant.provider())
        if let tokens = maximumNewTokens { settings.chat.maximumNewTokens = tokens }
        settings.chat.temperature = temperature
        return settings
    }
}
