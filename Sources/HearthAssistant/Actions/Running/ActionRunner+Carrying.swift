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
                try await apply(change)
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
            let isReverted = await revert(applied)
            planned.card.state = isReverted ? .failed : .unknown
            planned.card.note =
                Self.sentence(error) + (isReverted ? "" : " A part of the action happened and could not be reverted.")
            await finish(planned, .failed, in: turn)
            return CarriedOut(card: planned.card, code: Self.code(error))
        }
    }

    static func code(_ error: any Error) -> String { (error as? any HearthFailure)?.codeText ?? "failed" }

    // MARK: - Changes

    func store(of change: RecordChange) throws -> any RecordStore {
        guard let store = stores[change.store] else {
            throw AssistantError(.noSuchRecord, "there is no store of \(change.store.rawValue)")
        }
        return store
    }

    /// Applies a change. An error after the record was written counts as success.
    func apply(_ change: RecordChange) async throws {
        let store = try store(of: change)
        do {
            try await store.apply(change)
        } catch {
            // If the state cannot be read either, the first error tells more.
            guard (try? await store.state(of: change)) == .after else { throw error }
        }
    }

    /// Reverts changes, the last first.
    /// - Returns: whether all are reverted.
    func revert(_ changes: [RecordChange]) async -> Bool {
        var isReverted = true
        for change in changes.reversed() {
            do {
                try await apply(change.inverted)
            } catch {
                isReverted = false
                Log.write(.error, "a part of an action cannot be reverted", [.error(error)])
            }
        }
        return isReverted
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
