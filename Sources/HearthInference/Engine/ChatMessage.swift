/// Who said something in a conversation.
public enum ChatRole: String, Sendable, Hashable, Codable {
    case system, user, assistant
}

/// One turn of a conversation.
public struct ChatMessage: Sendable, Hashable, Codable {
    public var role: ChatRole
    public var content: String

    /// A turn of the given role and text.
    public init(_ role: ChatRole, _ content: String) {
        self.role = role
        self.content = content
    }
}
