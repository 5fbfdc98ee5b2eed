import HearthInference

extension ChatSession {
    /// The branches of the conversation.
    package var tree: ConversationTree { messagesKept.tree }

    /// The context window of the model that answers now. Loads the model if it is not in memory; ask after an answer.
    package func contextLength() async -> Int? {
        // Without its model a conversation has no window.
        try? await engine.engine.modelInformation.contextLength
    }
}
