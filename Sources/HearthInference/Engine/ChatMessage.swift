/// Who said something in a conversation.
public enum ChatRole: String, Sendable, Hashable, Codable {
    case system, user, assistant
}

/// One turn of a conversation.
public struct ChatMessage: Sendable, Hashable, Codable {
    public var role: ChatRole
    public var content: String
    /// What is shown with it: the model sees these before the text.
    public var images: [ChatImage]

    /// A turn of the given role, text and pictures.
    public init(_ role: ChatRole, _ content: String, images: [ChatImage] = []) {
        self.role = role
        self.content = content
        self.images = images
    }

    private enum CodingKeys: CodingKey {
        case role, content, images
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        role = try container.decode(ChatRole.self, forKey: .role)
        content = try container.decode(String.self, forKey: .content)
        images = try container.decodeIfPresent([ChatImage].self, forKey: .images) ?? []
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(role, forKey: .role)
        try container.encode(content, forKey: .content)
        // A turn without pictures is written as it always was.
        if !images.isEmpty { try container.encode(images, forKey: .images) }
    }
}
