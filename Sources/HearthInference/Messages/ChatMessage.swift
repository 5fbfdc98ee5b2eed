import Foundation

/// The author of a message.
public enum ChatRole: String, Sendable, Hashable, Codable, CaseIterable {
    case system, user, assistant
    /// The result of a tool call. It follows the call's message, or another result for it.
    case tool
}

/// One message of a conversation. Equality ignores the ids.
public struct ChatMessage: Sendable, Hashable, Codable, Identifiable {
    /// Identifies the message in its conversation and in later copies of it.
    public var id: String
    public var role: ChatRole
    public var content: String
    /// The thinking before an answer. The model's chat template decides whether later prompts contain it.
    public var thinking: String
    /// Pictures, which come before the text.
    public var images: [ChatImage]
    /// In an answer: its tool calls, which follow the text.
    public var toolCalls: [ToolCall]
    /// In a tool's result: the id of the call.
    public var toolCallID: String?
    /// In a tool's result: the name of the tool.
    public var toolName: String?

    /// Makes a message of a role with text and pictures.
    public init(
        _ role: ChatRole, _ content: String, thinking: String = "", images: [ChatImage] = [],
        toolCalls: [ToolCall] = [], id: String = UUID().uuidString
    ) {
        self.id = id
        self.role = role
        self.content = content
        self.thinking = thinking
        self.images = images
        self.toolCalls = toolCalls
    }

    /// Makes the message with the result of a call.
    public init(result: String, of call: ToolCall) {
        self.init(.tool, result)
        toolCallID = call.id
        toolName = call.name
    }

    private enum CodingKeys: CodingKey {
        case id, role, content, thinking, images, toolCalls, toolCallID, toolName
    }

    public static func == (left: ChatMessage, right: ChatMessage) -> Bool {
        left.role == right.role && left.content == right.content && left.thinking == right.thinking
            && left.images == right.images && left.toolCalls == right.toolCalls
            && left.toolCallID == right.toolCallID && left.toolName == right.toolName
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(role)
        hasher.combine(content)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // Conversations of earlier versions have no ids.
        id = try container.decodeIfPresent(String.self, forKey: .id) ?? UUID().uuidString
        role = try container.decode(ChatRole.self, forKey: .role)
        content = try container.decode(String.self, forKey: .content)
        thinking = try container.decodeIfPresent(String.self, forKey: .thinking) ?? ""
        images = try container.decodeIfPresent([ChatImage].self, forKey: .images) ?? []
        toolCalls = try container.decodeIfPresent([ToolCall].self, forKey: .toolCalls) ?? []
        toolCallID = try container.decodeIfPresent(String.self, forKey: .toolCallID)
        toolName = try container.decodeIfPresent(String.self, forKey: .toolName)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(role, forKey: .role)
        try container.encode(content, forKey: .content)
        if !thinking.isEmpty { try container.encode(thinking, forKey: .thinking) }
        if !images.isEmpty { try container.encode(images, forKey: .images) }
        if !toolCalls.isEmpty { try container.encode(toolCalls, forKey: .toolCalls) }
        try container.encodeIfPresent(toolCallID, forKey: .toolCallID)
        try container.encodeIfPresent(toolName, forKey: .toolName)
    }
}

extension ToolCall {
    /// A new id of a call, for models that write none: nine random letters and digits, as some templates require. No other
    /// call of any conversation has it, because clients file calls under their ids.
    public static func newID() -> String {
        String((0..<9).map { _ in idCharacters[Int.random(in: 0..<idCharacters.count)] })
    }

    /// The id of a conversation's call of this number that came without one: the same each time, so that the computed
    /// prefix of the conversation stays valid.
    package static func id(number: Int) -> String {
        let digits = String(number % 100_000)
        return "call" + String(repeating: "0", count: 5 - digits.count) + digits
    }

    private static let idCharacters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
}
