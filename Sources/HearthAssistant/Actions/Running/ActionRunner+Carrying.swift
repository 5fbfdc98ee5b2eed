import Foundation
import HearthBase

/// An action after its decision.
struct CarriedOut: Sendable {
    var card: ActionCard
    var result: ActionPlan.Result?
    var change: RecordChange?
    var code: String?
}

extension ActionRunner {
    var changes: StoreChanges { StoreChanges(stores: stores) }

    /// Carries out an approved action. A cancelled task does not stop it halfway.
    func carryOut(_ planned: PlannedAction, in turn: ActionTurn) async -> CarriedOut {
        await Task { await self.carryOutWhole(planned, in: turn) }.value
    }

    private func carryOutWhole(_ planned: PlannedAction, in turn: ActionTurn) async -> CarriedOut {
        var planned = planned
        do {
            try await save(planned, .begun, in: turn)
        } catch {
            planned.card.state = .failed
            planned.card.note = "The journal of actions cannot be written, so nothing was done. \(Self.sentence(error))"
            return CarriedOut(card: planned.card, code: Self.code(error))
        }
        var applied: [RecordChange] = []
        do {
            for change in planned.plan.changes {
                try await changes.apply(change)
                applied.append(change)
            }
            let result = try await planned.plan.perform()
            planned.card.state = .done
            planned.card.items = result.items
            planned.card.canUndo = !planned.plan.changes.isEmpty
            planned.card.note = [planned.card.note, result.note].compactMap(\.self).joined(separator: " ").nonEmpty
            await finish(planned, .done, in: turn)
            return CarriedOut(card: planned.card, result: result, change: planned.plan.changes.first)
        } catch {
            let isReverted = await changes.revert(applied)
            planned.card.state = isReverted ? .failed : .unknown
            planned.card.note = Self.note(of: error, isReverted: isReverted)
            await finish(planned, .failed, in: turn)
            return CarriedOut(card: planned.card, code: Self.code(error))
        }
    }

    static func code(_ error: any Error) -> String { (error as? any HearthFailure)?.codeText ?? "failed" }

    /// A note about an action that failed.
    static func note(of error: any Error, isReverted: Bool) -> String {
        sentence(error) + (isReverted ? "" : " A part of the action happened and could not be reverted.")
    }

    // MARK: - Entries

    /// Writes the entry of an action. Reading actions have none.
    func save(_ planned: PlannedAction, _ state: ActionEntry.State, in turn: ActionTurn) async throws {
        guard planned.plan.effect != .reads else { return }
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

extension String {
    /// The text, `nil` if it is empty.
    var nonEmpty: String? { isEmpty ? nil : self }
}
