import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// A conversation of an Open WebUI export: messages by id, each with the one before it.
struct OpenWebUIConversation {
    private let members: JSONMembers
    private let chat: JSONMembers
    private let messages: JSONMembers
    private let now: Date

    /// - Throws: ``AssistantError``.
    init(_ value: JSONValue, now: Date) throws {
        let members = value.members ?? [:]
        // An export of one conversation is the chat itself.
        let chat = members["chat"]?.members ?? members
        guard let messages = chat["history"]?["messages"]?.members else {
            throw AssistantError(.importUnknown, "the conversation has no history of messages")
        }
        guard messages.count <= ImportedConversation.maximumMessages else {
            throw AssistantError(
                .importTooLarge, "the conversation has too many messages",
                context: ErrorContext(
                    expected: "at most \(ImportedConversation.maximumMessages)", found: "\(messages.count)"))
        }
        (self.members, self.chat, self.messages, self.now) = (members, chat, messages, now)
    }

    func document() throws -> ConversationExport {
        let created = try ImportedConversation.date(members["created_at"] ?? chat["timestamp"])
        let changed = try ImportedConversation.date(members["updated_at"])
        let parents = messages.mapValues { $0["parentId"]?.string }
        try ImportedConversation.checkCircles(parents)
        let visible = messages.filter { ["user", "assistant"].contains($0.value["role"]?.string) }
        var ancestors = VisibleAncestors(parents, visible: Set(visible.keys))
        var made: [AssistantMessage] = []
        var dates: [String: Date] = [:]
        for (key, message) in messages {
            guard let role = message["role"]?.string.flatMap(ChatRole.init(rawValue:)),
                role == .user || role == .assistant
            else { continue }
            let parent = ancestors.nearest(from: message["parentId"]?.string)
            let date =
                try ImportedConversation.date(message["timestamp"]) ?? parent.flatMap { dates[$0] } ?? created
                ?? changed ?? now
            dates[key] = date
            var one = AssistantMessage(
                role: role, content: Self.text(message["content"]), date: date,
                parent: parent.map { ImportedConversation.id("webui", $0) })
            let files = message["files"]?.items?.count ?? 0
            if files > 0 { one.notices = [ImportNotice.parts(files)] }
            if role == .assistant {
                let model = message["modelName"]?.string ?? message["model"]?.string ?? "Open WebUI"
                one.facts = ImportedConversation.facts(model: model, source: .local)
            }
            made.append(one.named(ImportedConversation.id("webui", key)))
        }
        let source = members["id"]?.string ?? chat["id"]?.string
        let id = source.flatMap { $0.isEmpty ? nil : $0 } ?? messages.keys.joined(separator: " ")
        var summary = ConversationSummary(
            id: ImportedConversation.id("webui", id),
            title: try ImportedConversation.title(members["title"] ?? chat["title"]),
            created: created ?? made.map(\.date).min() ?? now,
            changed: changed ?? made.map(\.date).max() ?? created ?? now)
        summary.leaf = chat["history"]?["currentId"]?.string.map { ImportedConversation.id("webui", $0) }
        summary.archived = members["archived"]?.flag ?? false
        summary.pinned = members["pinned"]?.flag ?? false
        return try ImportedConversation.checked(ConversationExport(summary, messages: made))
    }

    /// The text of a content: a text, or a list of parts with texts.
    private static func text(_ content: JSONValue?) -> String {
        content?.string
            ?? (content?.items ?? []).compactMap { $0.string ?? $0["text"]?.string }.joined(separator: "\n\n")
    }
}

extension AssistantMessage {
    /// The message under another id.
    func named(_ id: String) -> AssistantMessage {
        AssistantMessage(
            id: id, role: role, content: content, thinkingContent: thinkingContent, images: images, cards: cards,
            notices: notices, date: date, facts: facts, rawContent: rawContent, parent: parent)
    }
}
