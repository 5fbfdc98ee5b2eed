import Foundation
import HearthBase

extension ActionRunner {
    /// Takes an action back.
    /// - Parameter key: the id of its card.
    /// - Returns: the card, `undone`.
    /// - Throws: ``AssistantError``: `no-such-record` for an unknown key; `cannot-be-undone` for an action that did not
    ///   happen, changed no record, or is older than 30 days; `changed-elsewhere` if another program has changed a record
    ///   since, in which case nothing is changed. Errors of the stores and the journal.
    package func undo(_ key: String) async throws -> ActionCard {
        guard active.insert(key).inserted else {
            throw AssistantError(.cannotBeUndone, "the action is not finished")
        }
        defer { active.remove(key) }
        for journal in journals {
            guard var entry = try await journal.entry(key) else { continue }
            if !entry.state.isFinished { entry = try await settle(entry, in: journal) }
            let (found, task) = (entry, Task { try await self.undo(entry, in: journal) })
            return found.state == .undone ? found.card : try await task.value
        }
        throw AssistantError(.noSuchRecord, "no action has the key \(key.quoted)")
    }

    private func undo(_ entry: ActionEntry, in journal: any ActionJournal) async throws -> ActionCard {
        var entry = entry
        guard entry.state == .done else {
            throw AssistantError(.cannotBeUndone, "the action did not happen")
        }
        guard !entry.changes.isEmpty else {
            throw AssistantError(.cannotBeUndone, "this kind of action cannot be undone")
        }
        guard time.now.timeIntervalSince(entry.changed) <= Self.undoPeriod else {
            throw AssistantError(.cannotBeUndone, "the action is older than 30 days")
        }
        for change in entry.changes where try await changes.state(of: change) == .other {
            throw AssistantError(
                .changedElsewhere, "another program has changed the record since, so the action is not undone")
        }
        try await save(&entry, .undoing, in: journal)
        var reverted: [RecordChange] = []
        do {
            for change in entry.changes.reversed() {
                try await changes.apply(change.inverted)
                reverted.append(change)
            }
        } catch {
            // What was reverted happens again, so that the action is still done as a whole.
            for change in reverted.reversed() {
                do {
                    try await changes.apply(change)
                } catch {
                    Log.write(.error, "a part of an action is undone", [.error(error)])
                }
            }
            try await save(&entry, .done, in: journal)
            throw error
        }
        entry.card.state = .undone
        entry.card.canUndo = false
        try await save(&entry, .undone, in: journal)
        return entry.card
    }

    func save(_ entry: inout ActionEntry, _ state: ActionEntry.State, in journal: any ActionJournal) async throws {
        entry.state = state
        entry.changed = state == .undoing ? entry.changed : time.now
        try await journal.save(entry)
    }
}
