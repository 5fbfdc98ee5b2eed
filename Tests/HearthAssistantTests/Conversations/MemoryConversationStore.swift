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

    func page(_ query: ConversationQuery) throws -> ConversationPage {
        let all = conversations(limit: .max, offset: 0).filter { summary in
            (query.archived == nil || summary.archived == query.archived)
                && (query.pinned == nil || summary.pinned == query.pinned)
                && (query.folder == nil || summary.folder == query.folder)
        }
        let sorted = all.filter(\.pinned) + all.filter { !$0.pinned }
        let start = query.before.flatMap { id in sorted.firstIndex { $0.id == id } }.map { $0 + 1 } ?? 0
        let page = sorted.dropFirst(start).prefix(max(0, query.limit))
        return ConversationPage(
            conversations: Array(page), next: start + page.count < sorted.count ? page.last?.id : nil)
    }

    func folders() -> ConversationFolders {
        let all = entries.values.map(\.summary)
        let names = Set(all.compactMap { $0.archived ? nil : $0.folder })
        return ConversationFolders(
            folders: names.sorted().map { name in
                .init(name: name, count: all.count { $0.folder == name && !$0.archived })
            }, archivedCount: all.count(where: \.archived))
    }

    func arrange(_ id: String, _ place: ConversationPlace) { entries[id]?.summary.place = place }

    func add(_ document: ConversationExport) -> ConversationAddition {
        let summary = document.conversation
        let isNew = entries[summary.id] == nil
        create(summary.id, like: summary)
        guard var entry = entries[summary.id] else { return .unchanged }
        let missing = document.messages.filter { message in !entry.messages.contains { $0.id == message.id } }
        entry.messages += missing
        entry.summary.messageCount = entry.messages.count
        let newest = missing.map(\.date).max() ?? summary.changed
        entry.summary.changed = isNew ? summary.changed : max(entry.summary.changed, newest)
        let way = ConversationTree(document.messages).branch(to: summary.leaf).map(\.id)
        if let leaf = entry.summary.leaf, way.contains(leaf), missing.contains(where: { $0.id == way.last }) {
            entry.summary.leaf = summary.leaf
        }
        entries[summary.id] = entry
        return isNew ? .created : missing.isEmpty ? .unchanged : .extended(missing.count)
    }

    func find(_ search: ConversationSearch) -> ConversationFinds {
        let query = SearchQuery(search.words)
        let (from, until) = (search.from ?? .distantPast, search.until ?? .distantFuture)
        guard !query.isEmpty else { return ConversationFinds(finds: []) }
        let all = entries.values.compactMap { entry -> ConversationFind? in
            let found = entry.messages.filter { query.matches($0.content) && $0.date >= from && $0.date < until }
            if let last = found.last {
                return ConversationFind(
                    conversation: entry.summary, messageID: last.id, excerpt: query.excerpt(of: last.content),
                    date: found.map(\.date).max() ?? last.date, count: found.count)
            }
            let summary = entry.summary
            guard query.matches(summary.title), summary.changed >= from, summary.changed < until else { return nil }
            return ConversationFind(
                conversation: summary, messageID: nil, excerpt: "", date: summary.changed, count: 0)
        }.sorted { $0.date > $1.date }
        let start = search.before.flatMap { id in all.firstIndex { $0.conversation.id == id } }.map { $0 + 1 } ?? 0
        let page = all.dropFirst(start).prefix(max(0, search.limit))
        return ConversationFinds(
            finds: Array(page), next: start + page.count < all.count ? page.last?.conversation.id : nil)
    }

    func prepareSearch() {}

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
