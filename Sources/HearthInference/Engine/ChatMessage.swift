/// Who said something in a conversation.
public enum ChatRole: String, Sendable, Hashable, Codable {
    case system, user, assistant
    /// The result of a call that the message before it, or another result before it, answers.
    case tool
}

/// One turn of a conversation.
public struct ChatMessage: Sendable, Hashable, Codable {
    public var role: ChatRole
    public var content: String
    /// What is shown with it: the model sees these before the text.
    public var images: [ChatImage]
    /// Of an answer: the tools it calls, after its text.
    public var toolCalls: [ToolCall]
    /// Of a tool's result: the call it answers.
    public var toolCallID: String?
    /// Of a tool's result: the tool.
    public var toolName: String?

    /// A turn of the given role, text and pictures.
    public init(_ role: ChatRole, _ content: String, images: [ChatImage] = [], toolCalls: [ToolCall] = []) {
        self.role = role
        self.content = content
        self.images = images
        self.toolCalls = toolCalls
    }

    /// What a tool said to a call.
    public init(result: String, of call: ToolCall) {
        self.init(.tool, result)
        toolCallID = call.id
        toolName = call.name
    }

    private enum CodingKeys: CodingKey {
        case role, content, images, toolCalls, toolCallID, toolName
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        role = try container.decode(ChatRole.self, forKey: .role)
        content = try container.decode(String.self, forKey: .content)
        images = try container.decodeIfPresent([ChatImage].self, forKey: .images) ?? []
        toolCalls = try container.decodeIfPresent([ToolCall].self, forKey: .toolCalls) ?? []
        toolCallID = try container.decodeIfPresent(String.self, forKey: .toolCallID)
        toolName = try container.decodeIfPresent(String.self, forKey: .toolName)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(role, forKey: .role)
        try container.encode(content, forKey: .content)
        // A turn without these is written as it always was.
        if !images.isEmpty { try container.encode(images, forKey: .images) }
        if !toolCalls.isEmpty { try container.encode(toolCalls, forKey: .toolCalls) }
        try container.encodeIfPresent(toolCallID, forKey: .toolCallID)
        try container.encodeIfPresent(toolName, forKey: .toolName)
    }
}
