import HearthInference

extension ChatSession {
    /// Uses other parts and another engine from the next turn on; a running turn ends with those that it began with. The
    /// messages stay where they are kept.
    package func use(_ parts: ChatParts, engine: ChatEngine) {
        next = (parts, engine)
        if turn == nil { adopt() }
    }

    /// Uses what was set during the turn.
    func adopt() {
        if let next {
            self.next = nil
            let store = parts.store
            (parts, engine) = (isPrivate ? next.parts.forPrivateUse : next.parts, next.engine)
            parts.store = store
            common = parts.settings
        }
        parts.settings = common.adapted(to: settings)
        engine.take(settings)
    }

    /// The conversation's own settings.
    package var settings: ConversationSettings { conversation.settings ?? ConversationSettings() }

    /// The settings of all conversations, for those that this one does not set.
    package var commonSettings: ChatSettings { common }

    /// Gives the conversation other settings of its own, from the next turn on. They are kept with its first message.
    package func set(_ settings: ConversationSettings) async {
        conversation.settings = settings.isEmpty ? nil : settings
        if turn == nil { adopt() }
        if !messagesKept.all.isEmpty { await saver.save(summaryToKeep) }
    }
}
