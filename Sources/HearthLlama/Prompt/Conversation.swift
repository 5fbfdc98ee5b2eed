import HearthInference

/// The parts of a request's conversation: what the template renders, and the beginning of the answer.
struct Conversation {
    let messages: [ChatMessage]
    /// The text with which the answer begins; empty for a new answer.
    let begun: String
    /// The tools that the template describes.
    let tools: [ToolDefinition]

    init(_ messages: [ChatMessage], _ options: GenerationOptions) {
        let last = messages.last
        let continues = options.continuesLastMessage && last?.role == .assistant
        self.messages = continues ? messages.dropLast() : messages
        begun = continues ? last?.content ?? "" : ""
        tools = options.constraint?.coversAnswer == true ? [] : options.toolChoice.tools(of: options.tools)
    }
}
