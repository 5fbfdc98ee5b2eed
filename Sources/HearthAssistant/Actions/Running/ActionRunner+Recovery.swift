import Foundation
import HearthBase

/// The end of an action that a process left unfinished, by the state of its records.
enum UnfinishedAction {
    enum Verdict: Sendable, Hashable {
        case happened
        case didNotHappen
        /// Some changes happened; they are reverted, or the undo is continued.
        case inPart
        case unknown
    }

    static func verdict(_ states: [RecordState]) -> Verdict {
        if states.isEmpty || states.contains(.other) { return .unknown }
        if !states.contains(.before) { return .happened }
        return states.contains(.after) ? .inPart : .didNotHappen
    }
}

extension ActionRunner {
    /// Settles the actions during which an earlier process ended, and removes entries older than 30 days. Entries of
    /// processes that still run are left alone.
    /// - Returns: their cards.
    package func recover() async -> [ActionCard] {
        var cards: [ActionCard] = []
        for journal in journals {
            do {
                for entry in try await journal.unfinished() where active.insert(entry.id).inserted {
                    defer { active.remove(entry.id) }
                    if entry.owner != .current, entry.owner?.isRunning == true { continue }
                    do {
                        cards.append(try await settle(entry, in: journal).card)
                    } catch {
                        // The next start tries again.
                        Log.write(.error, "an unfinished action cannot be settled", [.error(error)])
                    }
                }
                try await journal.remove(before: time.now.addingTimeInterval(-Self.undoPeriod))
            } catch {
                Log.write(.error, "the journal of actions cannot be read", [.error(error)])
            }
        }
        return cards
    }

    /// The card of the same block of the same answer, if it was carried out, declined or failed before.
    func earlier(_ key: String, _ turn: ActionTurn) async -> ActionCard? {
        let journal = journal(for: turn)
        do {
            guard let entry = try await journal.entry(key) else { return nil }
            return try await entry.state.isFinished ? entry.card : settle(entry, in: journal).card
        } catch {
            // The action cannot begin without the journal either.
            return nil
        }
    }

    func settle(_ entry: ActionEntry, in journal: any ActionJournal) async throws -> ActionEntry {
        var entry = entry
        switch entry.state {
        case .done, .failed, .undone: return entry
        case .planned:
            entry.card.state = .notCarriedOut
            entry.card.note = "The program ended before you decided; nothing is changed."
            try await save(&entry, .failed, in: journal)
        case .begun: try await settleBegun(&entry, in: journal)
        case .undoing: try await settleUndoing(&entry, in: journal)
        }
        return entry
    }

    private func states(_ entry: ActionEntry) async throws -> [RecordState] {
        var states: [RecordState] = []
        for change in entry.changes { states.append(try await changes.state(of: change)) }
        return states
    }

    private func settleBegun(_ entry: inout ActionEntry, in journal: any ActionJournal) async throws {
        let states = try await states(entry)
        var verdict = UnfinishedAction.verdict(states)
        if verdict == .inPart {
            let applied = zip(entry.changes, states).filter { $0.1 == .after }.map(\.0)
            verdict = await changes.revert(applied) ? .didNotHappen : .unknown
        }
        switch verdict {
        case .happened:
            entry.card.state = .done
            entry.card.canUndo = true
            try await save(&entry, .done, in: journal)
        case .didNotHappen:
            entry.card.state = .notCarriedOut
            entry.card.note = "The program ended before this happened; nothing is changed."
            try await save(&entry, .failed, in: journal)
        case .inPart, .unknown:
            entry.card.state = .unknown
            entry.card.note =
                "The program ended during this, and it is unknown whether it happened. Look before you repeat it."
            try await save(&entry, .failed, in: journal)
        }
    }

    private func settleUndoing(_ entry: inout ActionEntry, in journal: any ActionJournal) async throws {
        let states = try await states(entry)
        let applied = zip(entry.changes, states).filter { $0.1 == .after }.map(\.0)
        if !states.contains(.other), await changes.revert(applied) {
            entry.card.state = .undone
            entry.card.canUndo = false
            try await save(&entry, .undone, in: journal)
        } else {
            entry.card.note = "The program ended during the undo. Look before you repeat it."
            try await save(&entry, .done, in: journal)
        }
    }
}
