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

    /// Applies changes: all of them, or none if one fails. A cancelled task does not stop it halfway.
    /// - Throws: errors of the stores; errors of the journal, in which case nothing is changed.
    package func carryOut(_ card: ActionCard, _ changes: [RecordChange]) async throws {
        guard !changes.isEmpty else { return }
        try await Task { try await carryOutWhole(card, changes) }.value
    }

    private func carryOutWhole(_ card: ActionCard, _ changes: [RecordChange]) async throws {
        var entry = ActionEntry(
            id: card.id, conversation: "", message: "", state: .begun, card: card, changes: changes,
            created: time.now, changed: time.now)
        let size = changes.reduce(0) { $0 + ($1.before?.count ?? 0) + ($1.after?.count ?? 0) }
        let isKept = size <= Self.largestEntry
        if isKept { try await journal.save(entry) }
        let records = StoreChanges(stores: stores)
        var applied: [RecordChange] = []
        do {
            for change in changes {
                try await records.apply(change)
                applied.append(change)
            }
        } catch {
            let isReverted = await records.revert(applied)
            entry.state = .failed
            entry.card.state = isReverted ? .failed : .unknown
            entry.card.note = ActionRunner.note(of: error, isReverted: isReverted)
            if isKept { await finish(entry) }
            throw error
        }
        entry.state = .done
        entry.card.state = .done
        entry.card.canUndo = true
        if isKept { await finish(entry) }
    }

    /// Writes the end of an action. After a failure the next start finds the end by the records.
    private func finish(_ entry: ActionEntry) async {
        var entry = entry
        entry.changed = time.now
        do {
            try await journal.save(entry)
        } catch {
            Log.write(.error, "the journal of actions cannot be written", [.error(error)])
        }
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
