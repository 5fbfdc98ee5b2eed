import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// A conversation of a ChatGPT export: a mapping of nodes, of which some are hidden or no messages.
struct ChatGPTConversation {
    private struct Node {
        var parent: String?
        var message: JSONMembers?
        var position: Int
    }

    private let members: JSONMembers
    private let now: Date
    private let nodes: [String: Node]

    /// - Throws: ``AssistantError``.
    init(_ value: JSONValue, now: Date) throws {
        guard let members = value.members, let mapping = members["mapping"]?.members else {
            throw AssistantError(.importUnknown, "the conversation has no mapping of messages")
        }
        guard mapping.count <= ImportedConversation.maximumMessages else {
            throw AssistantError(
                .importTooLarge, "the conversation has too many messages",
                context: ErrorContext(
                    expected: "at most \(ImportedConversation.maximumMessages)", found: "\(mapping.count)"))
        }
        (self.members, self.now) = (members, now)
        var nodes: [String: Node] = [:]
        for (position, (id, node)) in mapping.enumerated() {
            nodes[id] = Node(
                parent: node["parent"]?.string, message: node["message"]?.members, position: position)
        }
        self.nodes = nodes
    }

    func document() throws -> ConversationExport {
        let parents = nodes.mapValues(\.parent)
        try ImportedConversation.checkCircles(parents)
        let created = try ImportedConversation.date(members["create_time"])
        let changed = try ImportedConversation.date(members["update_time"])
        let source = members["conversation_id"]?.string ?? members["id"]?.string
        let order = nodes.sorted { $0.value.position < $1.value.position }
        // Without an id the messages name the conversation.
        let id = source ?? order.map(\.key).joined(separator: " ")
        var messages: [AssistantMessage] = []
        var visible: [String: AssistantMessage] = [:]
        for (key, node) in order {
            guard let message = node.message, var made = try Self.message(message) else { continue }
            made.date = try ImportedConversation.date(message["create_time"]) ?? .distantPast
            made.parent = nil
            visible[key] = made
        }
        var ancestors = VisibleAncestors(parents, visible: Set(visible.keys))
        for (key, node) in order {
            guard var message = visible[key] else { continue }
            let parent = ancestors.nearest(from: node.parent)
            message.parent = parent.map { ImportedConversation.id("gpt", $0) }
            if message.date == .distantPast { message.date = parent.flatMap { visible[$0]?.date } ?? .distantPast }
            if message.date == .distantPast { message.date = created ?? changed ?? now }
            visible[key] = message
            messages.append(message.named(ImportedConversation.id("gpt", key)))
        }
        let dates = messages.map(\.date)
        var summary = ConversationSummary(
            id: ImportedConversation.id("gpt", id), title: try ImportedConversation.title(members["title"]),
            created: created ?? dates.min() ?? now, changed: changed ?? dates.max() ?? created ?? now)
        let shown = members["current_node"]?.string
        let leaf = ancestors.nearest(from: shown)
        summary.leaf = leaf.map { ImportedConversation.id("gpt", $0) }
        summary.archived = members["is_archived"]?.flag ?? false
        summary.pinned = members["is_starred"]?.flag ?? false
        return try ImportedConversation.checked(ConversationExport(summary, messages: messages))
    }

    /// A message that people saw; `nil` for a hidden one.
    private static func message(_ message: JSONMembers) throws -> AssistantMessage? {
        let metadata = message["metadata"]?.members
        if metadata?["is_visually_hidden_from_conversation"]?.flag == true { return nil }
        let recipient = message["recipient"]?.string ?? "all"
        let role: ChatRole
        switch message["author"]?["role"]?.string {
        case "user": role = .user
        case "assistant" where recipient == "all": role = .assistant
        // System messages, tools and calls of them.
        default: return nil
        }
        let content = message["content"]?.members
        let kind = content?["content_type"]?.string ?? "text"
        guard ["text", "multimodal_text", "code"].contains(kind) else { return nil }
        var texts: [String] = []
        var others = 0
        for part in content?["parts"]?.items ?? content?["text"].map({ [$0] }) ?? [] {
            if let text = part.string ?? part["text"]?.string {
                if !text.isEmpty { texts.append(text) }
            } else if part != .null {
                others += 1
            }
        }
        guard !texts.isEmpty || others > 0 else { return nil }
        var made = AssistantMessage(role: role, content: texts.joined(separator: "\n\n"), date: .distantPast)
        if others > 0 { made.notices = [ImportNotice.parts(others)] }
        if role == .assistant {
            made.facts = ImportedConversation.facts(model: metadata?["model_slug"]?.string ?? "ChatGPT", source: .cloud)
        }
        return made
    }
}

/// Notes under imported messages.
enum ImportNotice {
    /// Pictures, sounds or files of a message stay in the export.
    static func parts(_ count: Int) -> String {
        count == 1
            ? "1 picture or file of this message was not imported."
            : "\(count) pictures or files of this message were not imported."
    }
}
