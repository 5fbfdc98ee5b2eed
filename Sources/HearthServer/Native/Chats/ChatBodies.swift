import Foundation
import HearthAssistant
import HearthBase
import HearthInference
import HearthRouting

/// A conversation in a list.
struct ChatBody: Codable, Sendable, Hashable {
    var id: String
    var title: String
    var created: Date
    var changed: Date
    var messageCount: Int
    var isAnswering: Bool
    var isPrivate: Bool
    var pinned: Bool
    var archived: Bool
    var folder: String?

    init(_ summary: ConversationSummary, isAnswering: Bool = false, isPrivate: Bool = false) {
        id = summary.id
        title = summary.title
        created = summary.created
        changed = summary.changed
        messageCount = summary.messageCount
        self.isAnswering = isAnswering
        self.isPrivate = isPrivate
        (pinned, archived, folder) = (summary.pinned, summary.archived, summary.folder)
    }
}

struct OneChatBody: Codable, Sendable, Hashable { var chat: ChatBody }

struct ChatsBody: Codable, Sendable, Hashable {
    var chats: [ChatBody]
    /// The end of this page; `nil` at the end of the list.
    var next: String?
    /// The folders and the number of archived conversations, with the first page.
    var folders: [FolderBody]?
    var archivedCount: Int?
    var event: String
}

struct FolderBody: Codable, Sendable, Hashable {
    var name: String
    var count: Int
}

/// A conversation with found words.
struct HitBody: Codable, Sendable, Hashable {
    var chat: ChatBody
    /// The newest found message; `nil` if only the title has the words.
    var message: String?
    var excerpt: String
    var date: Date
    /// The number of found messages.
    var count: Int
}

struct HitsBody: Codable, Sendable, Hashable {
    var hits: [HitBody]
    /// The end of this page; `nil` after the last hit.
    var next: String?
}

/// The context window of the model that answered last.
struct ContextBody: Codable, Sendable, Hashable {
    var usedTokens: Int
    var length: Int?
}

/// An open conversation.
struct OpenChatBody: Codable, Sendable, Hashable {
    var chat: ChatBody
    var messages: [MessageBody]
    var phase: GenerationPhase?
    var context: ContextBody?
    /// The conversation's own settings.
    var settings: ConversationSettings
    /// The values of settings that the conversation does not set.
    var defaults: ChatDefaultsBody
    var answering: AnsweringBody
    var event: String
}

struct NewChatOrder: Codable, Sendable {
    var title: String?
    var isPrivate: Bool?
    var settings: ChatSettingsOrder?
}

/// The changes of a conversation; what is absent stays.
struct ChatOrder: Codable, Sendable {
    var title: String?
    var pinned: Bool?
    var archived: Bool?
    /// The name of a folder, at most 60 characters; empty for none.
    var folder: String?
    /// The settings to change; `null` resets one.
    var settings: ChatSettingsOrder?
}

struct SendOrder: Codable, Sendable {
    var text: String
    /// The ids of uploaded pictures.
    var pictures: [String]?
    /// The ids of uploaded documents.
    var documents: [String]?
    /// The tag of the action that the answer has to be.
    var act: String?
    /// The id of the model that answers this conversation from now on.
    var model: String?
    /// Whether the model may think; `nil` as the settings say.
    var think: Bool?
}

/// A question that is being written.
struct DraftOrder: Codable, Sendable {
    /// The id of the conversation; `nil` for a new one.
    var chat: String?
    var text: String
}

struct MessageOrder: Codable, Sendable { var message: String? }

struct ContinueOrder: Codable, Sendable {
    /// The id of the answer; `nil` for the last one.
    var message: String?
    /// The kind of engine that continues; `nil` for that of a question.
    var source: RouteSource?
}

struct EditOrder: Codable, Sendable {
    var message: String
    var text: String
}

/// The messages of a turn that has begun.
struct TurnBody: Codable, Sendable, Hashable {
    var chat: String
    var question: String?
    var answer: String?
}

enum DecisionWord: String, SchemaWord {
    case approve
    case approveForConversation = "approve-for-conversation"
    case always, decline, edit
}

struct DecisionOrder: Codable, Sendable {
    var decision: DecisionWord
    /// The changed values of the card, JSON text; with `edit`, which shows the card again, or with `approve`.
    var payload: String?
}

struct PerformOrder: Codable, Sendable {
    /// Changed values, JSON text.
    var payload: String?
    /// Whether the changed values are approved; otherwise the card is shown again and waits for a decision.
    var isApproved: Bool?
}

struct CardReply: Codable, Sendable, Hashable { var card: ActionCard }

struct UploadBody: Codable, Sendable, Hashable {
    var id: String
    var width: Int
    var height: Int
    var type: String
    var bytes: Int
}

struct MessageEvent: Codable, Sendable {
    var chat: String
    var message: MessageBody
}
