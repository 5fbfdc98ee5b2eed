import Foundation
import HearthBase

/// Carries out what the user commands outside of a conversation, with an entry in the journal, so that it can be undone.
package struct CommandedActions: Sendable {
    private let journal: any ActionJournal
    private let stores: [StoreKind: any RecordStore]
    private let time: TimeSource

    /// The most bytes of changes that the journal keeps for an undo.
    private static let largestEntry = 16 << 20

    package init(journal: any ActionJournal, stores: [StoreKind: any RecordStore], time: TimeSource) {
        self.journal = journal
        self.stores = stores
        self.time = time
    }

    /// Applies changes.
    /// - Throws: errors of the stores and the journal.
    package func carryOut(_ card: ActionCard, _ changes: [RecordChange]) async throws {
        guard !changes.isEmpty else { return }
        var entry = ActionEntry(
            id: card.id, conversation: "", message: "", state: .begun, card: card, changes: changes,
            created: time.now, changed: time.now)
        let size = changes.reduce(0) { $0 + ($1.before?.count ?? 0) + ($1.after?.count ?? 0) }
        let isKept = size <= Self.largestEntry
        if isKept { try await journal.save(entry) }
        for change in changes {
            guard let store = stores[change.store] else { continue }
            try await store.apply(change)
        }
        guard isKept else { return }
        entry.state = .done
        entry.card.state = .done
        entry.card.canUndo = true
        try await journal.save(entry)
    }

    /// The id of a new record and of its action.
    package static func newID() -> String { UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "") }
}

extension ActionCard {
    /// The card of something that the user has commanded.
    package init(commanded title: String, _ tag: ActionTag, id: String = CommandedActions.newID(), record: String) {
        self.init(
            id: id, tag: tag, title: title, fields: [Field(name: "title", label: "Record", value: record)],
            state: .proposed, payload: "{}")
    }
}
