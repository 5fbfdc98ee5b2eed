import HearthAssistant
import HearthBase
import HearthInference

/// The place of a message among those with the same parent.
struct BranchBody: Codable, Sendable, Hashable {
    var index: Int
    var ids: [String]
}

struct PictureBody: Codable, Sendable, Hashable {
    var width: Int
    var height: Int
    var type: String
    var url: String
}

/// A message with its place in the conversation. Pictures have addresses instead of bytes, and what only later prompts need
/// stays here.
struct MessageBody: Codable, Sendable, Hashable {
    var message: AssistantMessage
    var pictures: [PictureBody]
    var attachments: [DocumentBody]
    var branch: BranchBody
    /// Why the answer has no end of its own; `nil` for a complete one, and for one that is being written.
    var ending: AnswerEnding?

    private enum CodingKeys: CodingKey { case pictures, attachments, branch, ending }

    /// - Parameters:
    ///   - chat: the conversation's id, for the addresses of pictures.
    ///   - siblings: the ids of the messages with the same parent, the oldest first.
    init(_ message: AssistantMessage, chat: String, siblings: [String], ending: AnswerEnding? = nil) {
        self.message = message
        self.ending = ending
        pictures = message.images.enumerated().map { index, image in
            PictureBody(
                width: image.header.width, height: image.header.height, type: image.mediaType,
                url: "\(NativeRouter.base)/chats/\(chat)/pictures/\(message.id)/\(index)")
        }
        attachments = (message.documents ?? []).enumerated().map { index, document in
            DocumentBody(document, url: "\(NativeRouter.base)/chats/\(chat)/documents/\(message.id)/\(index)")
        }
        (self.message.images, self.message.rawContent, self.message.results) = ([], nil, nil)
        self.message.documents = nil
        (self.message.failure, self.message.isOpen) = (nil, nil)
        let ids = siblings.isEmpty ? [message.id] : siblings
        branch = BranchBody(index: ids.firstIndex(of: message.id) ?? 0, ids: ids)
    }

    init(from decoder: any Decoder) throws {
        message = try AssistantMessage(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        pictures = try container.decode([PictureBody].self, forKey: .pictures)
        attachments = try container.decode([DocumentBody].self, forKey: .attachments)
        branch = try container.decode(BranchBody.self, forKey: .branch)
        ending = try container.decodeIfPresent(AnswerEnding.self, forKey: .ending)
    }

    func encode(to encoder: any Encoder) throws {
        try message.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(pictures, forKey: .pictures)
        try container.encode(attachments, forKey: .attachments)
        try container.encode(branch, forKey: .branch)
        try container.encodeIfPresent(ending, forKey: .ending)
    }
}

/// A step of a turn in its conversation.
struct ChatStep: Encodable, Sendable {
    var chat: String
    /// The id of the message that changes; `nil` for none.
    var message: String?
    /// The place of a piece of text in UTF-16 units: the same piece twice changes nothing.
    var offset: Int?
    var event: ChatEvent

    private enum CodingKeys: CodingKey { case chat, message, offset }

    func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(chat, forKey: .chat)
        try container.encodeIfPresent(message, forKey: .message)
        try container.encodeIfPresent(offset, forKey: .offset)
    }
}

extension ChatImage {
    /// The media type of the file.
    var mediaType: String { "image/\(header.format.rawValue.lowercased())" }
}
