import HearthInference

extension ChatSettings {
    /// The settings of a conversation with settings of its own.
    func adapted(to own: ConversationSettings) -> ChatSettings {
        var settings = self
        if let temperature = own.temperature {
            settings.temperature = Float(temperature)
            settings.generation?.sampling.temperature = Float(temperature)
        }
        if let tokens = own.maximumNewTokens {
            settings.maximumNewTokens = tokens
            settings.generation?.maximumNewTokens = tokens
        }
        if let thinks = own.thinks { settings.showThinking = thinks }
        settings.instructions = own.instructions ?? instructions
        switch own.form {
        case .plain: settings.systemPrompt = ""
        case .assistant: (settings.systemPrompt, settings.instructsSmallModels) = (nil, true)
        case nil: break
        }
        return settings
    }
}
