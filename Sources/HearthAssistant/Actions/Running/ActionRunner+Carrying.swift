import Foundation
import HearthBase

/// An action after its decision.
struct CarriedOut: Sendable {
    var card: ActionCard
    var result: ActionPlan.Result?
    var change: RecordChange?
    /// Why it failed.
    var error: (any Error)?
}

extension ActionRunner {
    var changes: StoreChanges { StoreChanges(stores: stores) }

    /// Carries out an approved action. A cancelled task does not stop it halfway.
    func carryOut(_ planned: PlannedAction, in turn: ActionTurn) async -> CarriedOut {
        await Task { await self.carryOutWhole(planned, in: turn) }.value
    }

    /// Applies changes that the user commands outside of a conversation, with an entry in the journal, so that they can be
    /// undone: all of them, or none if one fails. A cancelled task does not stop it halfway.
    /// - Throws: errors of the stores; errors of the journal, in which case nothing is changed.
    package func carryOut(_ card: ActionCard, _ changes: [RecordChange]) async throws {
        guard !changes.isEmpty else { return }
        let plan = ActionPlan(title: card.title, effect: .changes, changes: changes)
        let turn = ActionTurn(conversation: "", message: "", now: time.now)
        if let error = await carryOut(PlannedAction(card: card, plan: plan), in: turn).error { throw error }
    }

    private func carryOutWhole(_ planned: PlannedAction, in turn: ActionTurn) async -> CarriedOut {
        var planned = planned
        do {
            if let source = turn.outside.sourceName {
                planned.plan.changes = try await changes.marked(planned.plan.changes, from: source)
            }
            try await save(planned, .begun, in: turn)
        } catch let error as AssistantError {
            planned.card.state = .failed
            planned.card.note = Self.sentence(error)
            return CarriedOut(card: planned.card, error: error)
        } catch {
            planned.card.state = .failed
            planned.card.note = "The journal of actions cannot be written, so nothing was done. \(Self.sentence(error))"
            return CarriedOut(card: planned.card, error: error)
        }
        var applied: [RecordChange] = []
        do {
            let outcome = await changes.apply(all: planned.plan.changes)
            applied = outcome.applied
            if let error = outcome.error { throw error }
            let result = try await planned.plan.perform()
            planned.card.state = .done
            planned.card.items = result.items
            planned.card.canUndo = !planned.plan.changes.isEmpty
            if let note = result.note {
                planned.card.add([.init(result.noteCode ?? "", note)])
            }
            await finish(planned, .done, in: turn)
            return CarriedOut(card: planned.card, result: result, change: planned.plan.changes.first)
        } catch {
            let isReverted = await changes.revert(applied)
            planned.card.state = isReverted ? .failed : .unknown
            planned.card.note = Self.note(of: error, isReverted: isReverted)
            await finish(planned, .failed, in: turn)
            return CarriedOut(card: planned.card, error: error)
        }
    }

    static func code(_ error: any Error) -> String { (error as? any HearthFailure)?.codeText ?? "failed" }

    /// A note about an action that failed.
    static func note(of error: any Error, isReverted: Bool) -> String {
        sentence(error) + (isReverted ? "" : " A part of the action happened and could not be reverted.")
    }

    // MARK: - Entries

    /// The most bytes of changes that the journal keeps for an undo.
    private static let largestEntry = 16 << 20

    /// Writes the entry of an action. Reading actions have none, nor has a very large import.
    func save(_ planned: PlannedAction, _ state: ActionEntry.State, in turn: ActionTurn) async throws {
        let size = planned.plan.changes.reduce(0) { $0 + ($1.before?.count ?? 0) + ($1.after?.count ?? 0) }
        guard planned.plan.effect != .reads, size <= Self.largestEntry else { return }
        let journal = journal(for: turn)
        let old = try await journal.entry(planned.card.id)
        var card = planned.card
        // Results are not part of the record.
        card.items = []
        try await journal.save(
            ActionEntry(
                id: card.id, conversation: turn.conversation, message: turn.message, state: state, card: card,
                changes: planned.plan.changes, created: old?.created ?? time.now, changed: time.now))
    }

    /// Writes the end of an action. After a failure the next start finds the end by the records.
    private func finish(_ planned: PlannedAction, _ state: ActionEntry.State, in turn: ActionTurn) async {
        do {
            try await save(planned, state, in: turn)
        } catch {
            Log.write(.error, "the journal of actions cannot be written", [.error(error)])
        }
    }
}

extension ActionCard {
    /// The id of a new record and of its action.
    package static func newID() -> String { UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "") }

    /// The card of something that the user has commanded.
    package init(commanded title: String, _ tag: ActionTag, id: String = newID(), record: String) {
        self.init(
            id: id, tag: tag, title: title, fields: [Field(name: "title", label: "Record", value: record)],
            state: .proposed, payload: "{}")
    }
}

extension String {
    /// The text, `nil` if it is empty.
    var nonEmpty: String? { isEmpty ? nil : self }
}
