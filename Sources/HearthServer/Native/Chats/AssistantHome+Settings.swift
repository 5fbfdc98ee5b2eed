#if Server
    import Foundation
    import Hearth
    import HearthAssistant
    import HearthBase
    import HearthDatabase
    import HearthInference

    extension AssistantHome {
        /// An assistant of the given settings.
        /// - Throws: `ConfigurationError` for a search without a server; `LLMError` with `cloud-key-unusable`.
        func assistant(
            _ configuration: Configuration, engine: any InferenceEngine, seeing: (any InferenceEngine)?,
            approval: any ActionApproval
        ) async throws -> Assistant {
            let (notes, conversations) = (notes, conversations)
            let search = try await blocking {
                try configuration.assistant.provider(notes: notes, conversations: conversations)
            }
            var settings = configuration.assistant.settings(search: search)
            if let tokens = configuration.maximumNewTokens { settings.chat.maximumNewTokens = tokens }
            settings.chat.temperature = configuration.temperature
            let file = SettingsFile(home: path)
            settings.saveApproval = { tag, setting in
                do {
                    try await file.change { try $0.set("approval.\(tag)", to: setting.rawValue) }
                } catch {
                    Log.write(.warning, "native", "the answer `always` is not kept", [.error(error)])
                }
            }
            return Assistant(
                conversations: conversations, stores: stores(without: settings.disabledStores), journal: journal,
                facts: path.appending("facts.txt"), database: database, engine: engine, seeing: seeing,
                settings: settings, approval: approval, time: time)
        }
    }
#endif
