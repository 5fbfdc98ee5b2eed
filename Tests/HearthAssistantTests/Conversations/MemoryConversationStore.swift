import Foundation
import HearthInference

@testable import HearthAssistant

/// Conversations in memory, for tests of sessions.
actor MemoryConversationStore: ConversationStore {
    private struct Entry {
        var summary: ConversationSummary
        /// The messages in the order of their first save.
        var messages: [AssistantMessage] = []

        /// The messages by date, those of one date as they were saved.
        var sorted: [AssistantMessage] {
            messages.enumerated().sorted { ($0.element.date, $0.offset) < ($1.element.date, $1.offset) }.map(\.element)
        }
    }

    private var entries: [String: Entry] = [:]
    /// The ids of the conversations as they were created.
    private var order: [String] = []

    func conversations(limit: Int, offset: Int) -> [ConversationSummary] {
        let all = order.enumerated().compactMap { index, id in entries[id].map { (index, $0.summary) } }
        let sorted = all.sorted { ($0.1.changed, $0.0) > ($1.1.changed, $1.0) }
        return sorted.dropFirst(max(0, offset)).prefix(max(0, limit)).map(\.1)
    }

    func conversation(_ id: String) -> ConversationSummary? { entries[id]?.summary }

    func messages(of conversation: String) -> [AssistantMessage] { entries[conversation]?.sorted ?? [] }

    func save(_ conversation: ConversationSummary) {
        create(conversation.id, like: conversation)
        entries[conversation.id]?.summary.title = conversation.title
        entries[conversation.id]?.summary.leaf = conversation.leaf
        entries[conversation.id]?.summary.settings = conversation.settings
    }

    func save(_ message: AssistantMessage, in conversation: String) {
        create(
            conversation,
            like: ConversationSummary(id: conversation, title: "", created: message.date, changed: message.date))
        guard var entry = entries[conversation] else { return }
        var kept = message
        kept.isThinking = false
        if let index = entry.messages.firstIndex(where: { $0.id == message.id }) {
            entry.messages[index] = kept
        } else {
            entry.messages.append(kept)
            entry.summary.changed = max(entry.summary.changed, message.date)
            entry.summary.leaf = message.id
            entry.summary.messageCount += 1
        }
        if message.role == .user, entry.summary.title.isEmpty {
            entry.summary.title = ConversationTitle.derived(from: message.content)
        }
        entries[conversation] = entry
    }

    func removeMessage(_ id: String, in conversation: String) {
        guard var entry = entries[conversation] else { return }
        let tree = ConversationTree(entry.sorted)
        let removed = Set(tree.descendants(of: id))
        entry.messages.removeAll { removed.contains($0.id) }
        entry.summary.leaf = tree.leaf(entry.summary.leaf, afterRemoving: id)
        entry.summary.messageCount = entry.messages.count
        entries[conversation] = entry
    }

    func removeConversation(_ id: String) {
        entries[id] = nil
        order.removeAll { $0 == id }
    }

    func search(_ words: String, limit: Int) -> [ConversationHit] {
        let query = SearchQuery(words)
        let found = entries.values.flatMap { entry in
            entry.messages.filter { query.matches($0.content) }.map { (entry.summary, $0) }
        }
        return found.sorted { $0.1.date > $1.1.date }.prefix(max(0, min(limit, 50))).map { summary, message in
            ConversationHit(
                conversation: summary, messageID: message.id, excerpt: query.excerpt(of: message.content),
                date: message.date)
        }
    }

    func eraseAll() {
        entries = [:]
        order = []
    }

    private func create(_ id: String, like summary: ConversationSummary) {
        guard entries[id] == nil else { return }
        var created = summary
        created.messageCount = 0
        entries[id] = Entry(summary: created)
        order.append(id)
    }
}
