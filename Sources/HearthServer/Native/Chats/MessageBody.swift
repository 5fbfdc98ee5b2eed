import Foundation
import HearthAssistant
import HearthBase
import HearthInference

/// An action of an answer as the page shows it.
struct CardBody: Codable, Sendable, Hashable {
    struct Field: Codable, Sendable, Hashable {
        var name: String
        var label: String
        var value: String
        var source: String?
    }

    struct Item: Codable, Sendable, Hashable {
        var id: String
        var title: String
        var detail: String
        var url: String?
    }

    var id: String
    var tag: String
    var title: String
    var fields: [Field]
    var items: [Item]
    var state: String
    /// The values as JSON text, which the user may change before the approval.
    var payload: String
    var note: String?
    var canUndo: Bool
    /// Whether the user is asked about it now.
    var isWaiting: Bool
    /// The names of the values in the payload.
    var editable: [String]

    init(_ card: ActionCard, isWaiting: Bool, editable: [String]) {
        id = card.id
        tag = card.tag.rawValue
        title = card.title
        fields = card.fields.map { Field(name: $0.name, label: $0.label, value: $0.value, source: $0.source) }
        items = card.items.map { Item(id: $0.id, title: $0.title, detail: $0.detail, url: $0.url) }
        state = card.state.rawValue
        payload = card.payload
        note = card.note
        canUndo = card.canUndo
        self.isWaiting = isWaiting
        self.editable = editable
    }
}

struct PictureBody: Codable, Sendable, Hashable {
    var width: Int
    var height: Int
    var type: String
    var url: String
}

extension ChatImage {
    /// The media type of the file.
    var mediaType: String { "image/\(header.format.rawValue.lowercased())" }
}

/// The facts of an answer.
struct FactsBody: Codable, Sendable, Hashable {
    var model: String
    var source: String
    var reason: String
    var finish: String
    var promptTokens: Int
    var cachedTokens: Int
    var generatedTokens: Int
    var thinkingTokens: Int
    var firstTokenSeconds: Double?
    var prefillTokensPerSecond: Double?
    var tokensPerSecond: Double?

    init(_ facts: AnswerFacts) {
        model = facts.model
        source = facts.source
        reason = facts.reason
        finish = facts.finish.rawValue
        promptTokens = facts.usage.promptTokens
        cachedTokens = facts.usage.cachedTokens
        generatedTokens = facts.usage.generatedTokens
        thinkingTokens = facts.usage.thinkingTokens
        firstTokenSeconds = facts.timings.firstTokenSeconds.usable
        prefillTokensPerSecond = facts.timings.prefillTokensPerSecond.usable
        tokensPerSecond = facts.timings.decodeTokensPerSecond.usable
    }
}

/// The place of a message among those with the same parent.
struct BranchBody: Codable, Sendable, Hashable {
    var index: Int
    var ids: [String]
}

struct SourceBody: Codable, Sendable, Hashable {
    var title: String
    var url: String?
}

/// A message as the page shows it.
struct MessageBody: Codable, Sendable, Hashable {
    var id: String
    var role: String
    var content: String
    var isThinking: Bool
    var thinking: String
    var pictures: [PictureBody]
    var cards: [CardBody]
    var notices: [String]
    var date: Date
    var facts: FactsBody?
    var canContinueLocally: Bool
    var parent: String?
    var branch: BranchBody
    /// The results of searches and pages that the answer rests on.
    var sources: [SourceBody]

    /// - Parameters:
    ///   - chat: the conversation's id, for the addresses of pictures.
    ///   - siblings: the ids of the messages with the same parent, the oldest first.
    init(_ message: AssistantMessage, chat: String, siblings: [String], cards: [CardBody]) {
        id = message.id
        role = message.role.rawValue
        content = message.content
        isThinking = message.isThinking
        thinking = message.thinkingContent
        pictures = message.images.enumerated().map { index, image in
            PictureBody(
                width: image.header.width, height: image.header.height, type: image.mediaType,
                url: "\(NativeRouter.base)/chats/\(chat)/pictures/\(message.id)/\(index)")
        }
        self.cards = cards
        notices = message.notices
        date = message.date
        facts = message.facts.map { FactsBody($0) }
        canContinueLocally = message.facts?.finish == .interrupted
        parent = message.parent
        let ids = siblings.isEmpty ? [message.id] : siblings
        branch = BranchBody(index: ids.firstIndex(of: message.id) ?? 0, ids: ids)
        sources = message.cards.filter { $0.tag == .webSearch && $0.state == .done }.flatMap(\.items)
            .map { SourceBody(title: $0.title, url: $0.url) }
    }
}
