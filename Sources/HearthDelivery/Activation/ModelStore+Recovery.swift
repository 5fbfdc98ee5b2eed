import Foundation
import HearthBase

extension ModelStore {
    /// Finishes or undoes what ended processes were in the middle of, and judges releases on probation.
    ///
    /// Cheap where nothing was interrupted: it looks into one folder.
    /// - Parameter bundled: the families of which a model came with the app: where no earlier release is left to go back to,
    ///   that one serves.
    /// - Returns: the rollbacks that were made or brought to their end, each once. What else failed meanwhile is tried again, and thrown, the next time.
    @discardableResult
    public func recover(bundled: Set<Family> = []) async throws -> [Rollback] {
        try await recoverEach(bundled: bundled).rollbacksUnlessFailed()
    }

    /// The same, with another word on which processes run.
    @discardableResult
    func recover(
        bundled: Set<Family> = [], isRunning: @escaping @Sendable (ProcessIdentity) -> Bool?
    ) async throws -> [Rollback] {
        try await recoverEach(bundled: bundled, isRunning: isRunning).rollbacksUnlessFailed()
    }

    /// The same, told by family.
    /// - Throws: where not even the families can be looked for.
    func recoverEach(
        bundled: Set<Family>, isRunning: @escaping @Sendable (ProcessIdentity) -> Bool? = { $0.isRunning }
    ) async throws -> RecoveryOutcome {
        try await inspect()
        var outcome = RecoveryOutcome()
        var end: (any Error)?
        for family in try marks.families() {
            if let end {
                outcome.failures[family] = end
                continue
            }
            do {
                guard try !left(in: family, isRunning).isEmpty else {
                    // A process may have ended before its mark was whole.
                    clearMarks(of: family) { _ in false }
                    continue
                }
                let (rollback, heldBack) = try await committing {
                    try recover(family, bundled.contains(family), isRunning)
                }
                if let rollback { outcome.rollbacks.append(rollback) }
                outcome.heldBack += heldBack
            } catch {
                // What fails for one family keeps nobody from the others. But where the lock is not to be had, or waited for
                // no longer, none of them is reached.
                outcome.failures[family] = error
                if error is CancellationError || (error as? StoreError)?.code == .homeBusy { end = error }
            }
        }
        return outcome
    }

    private func left(
        in family: Family, _ isRunning: (ProcessIdentity) -> Bool?
    ) throws -> [Recovery.LeftMark] {
        try marks.all(of: family)
            .filter { $0.mark?.isLeft(at: time.now, isRunning: isRunning) ?? true }
            .map { Recovery.LeftMark(release: $0.release, token: $0.token, mark: $0.mark) }
    }

    /// Under the commit lock.
    private func recover(
        _ family: Family, _ hasBundled: Bool, _ isRunning: (ProcessIdentity) -> Bool?
    ) throws -> (Rollback?, [HeldBack]) {
        let state = try activation.stateBeforeChange(of: family)
        let recovery = try Recovery(
            state, left: try left(in: family, isRunning), hasBundled: hasBundled, at: time.now
        ) { identity in
            if case .whole = try shelf.find(identity) { true } else { false }
        }
        if let decision = recovery.decision {
            for found in try decisions(in: family) where found.token != decision.token {
                try marks.remove(found.release, token: found.token)
            }
        }
        let next = try accepting(recovery)
        var made = try recovery.finished.map { try rollback(from: $0.from, to: $0.to, because: $0.reason) }
        if next != state { try activation.write(next, of: family) }
        for note in recovery.notes { Log.write(.warning, "delivery.activation", note) }
        for mark in recovery.done { try marks.remove(mark.release, token: mark.token) }
        if let wanted = recovery.rollback {
            made = try goBack(from: wanted.from, to: wanted.to, because: wanted.reason, next)
            Log.write(
                .warning, "delivery.activation",
                "\(wanted.from) gives way to \(wanted.to?.description ?? "what came with the app"): \(wanted.reason)")
        }
        clearUp(family, after: made, isRunning)
        return (made, recovery.heldBack)
    }

    /// The state that is to be recorded: bytes whose activation came to its end are not held back any more, as after `commit`.
    private func accepting(_ recovery: Recovery) throws -> ReleaseState {
        guard let decision = recovery.decision, decision.mark?.stage == .commit,
            recovery.state.active == decision.release, case .whole(let receipt) = try shelf.find(decision.release)
        else { return recovery.state }
        return recovery.state.accepting(receipt.content, of: decision.release)
    }

    /// What was decided is on the disk: that something cannot be cleared up undoes none of it.
    private func clearUp(_ family: Family, after rollback: Rollback?, _ isRunning: (ProcessIdentity) -> Bool?) {
        func attempt(_ body: () throws -> Void) {
            do {
                try body()
            } catch {
                Log.write(.info, "delivery.activation", "what was left of \(family) stays for now: \(error)")
            }
        }
        attempt {
            if let rollback {
                for mark in try left(in: family, isRunning) where mark.release == rollback.from {
                    try marks.remove(mark.release, token: mark.token)
                }
            }
            try marks.tidy(family)
        }
        // Gigabytes may lie there, of somebody who will not come back.
        attempt { try preparedFiles.sweep(family) }
    }

    /// Takes away marks that mean nothing any more; one that stays is judged at the next start.
    func clearMarks(of family: Family, _ isMeant: (MarkFiles.Found) -> Bool) {
        do {
            for found in try marks.all(of: family) where isMeant(found) {
                try marks.remove(found.release, token: found.token)
            }
            try marks.tidy(family)
        } catch {
            Log.write(.info, "delivery.activation", "marks of \(family) stay until the next start: \(error)")
        }
    }
}

/// What came of looking after what ended processes left.
struct RecoveryOutcome: Sendable {
    /// Those that were made or brought to their end, each once.
    var rollbacks: [Rollback] = []
    /// The releases that are held back from now on.
    var heldBack: [HeldBack] = []
    /// Why a family was not looked after, or not reached.
    var failures: [Family: any Error] = [:]

    /// The rollbacks; what failed beside them is logged, since nobody would ever hear of one that was made and not
    /// handed out.
    /// - Throws: the first failure where nothing was changed.
    func rollbacksUnlessFailed() throws -> [Rollback] {
        guard let failure = failures.min(by: { $0.key < $1.key })?.value else { return rollbacks }
        guard !rollbacks.isEmpty || !heldBack.isEmpty else { throw failure }
        Log.write(.warning, "delivery.activation", "some of what ended processes left stays for now: \(failure)")
        return rollbacks
    }
}
