import Foundation
import HearthBase
import HearthCatalog

extension ModelStore {
    /// Finishes or undoes the interrupted work of ended processes, and judges releases on probation.
    ///
    /// Cheap if nothing was interrupted: it reads one folder.
    /// - Parameter bundled: families with a model bundled with the app, which serves if no earlier release can be
    ///   restored.
    /// - Returns: the rollbacks made or finished, each once. If another step failed as well, the next call tries that
    ///   step again and throws its error.
    @discardableResult
    package func recover(
        bundled: Set<Family> = [], isRunning: @escaping @Sendable (ProcessIdentity) -> Bool? = { $0.isRunning }
    ) async throws -> [Rollback] {
        try await recoverEach(bundled: bundled, isRunning: isRunning).rollbacksUnlessFailed()
    }

    /// Recovers every family and returns the outcome by family.
    /// - Throws: if the families cannot be listed.
    package func recoverEach(
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
                    // Removes unfinished files: a process may have ended before its mark was complete.
                    clearMarks(of: family) { _ in false }
                    continue
                }
                let (rollback, heldBack) = try await committing {
                    try recover(family, bundled.contains(family), isRunning)
                }
                if let rollback { outcome.rollbacks.append(rollback) }
                outcome.heldBack += heldBack
            } catch {
                // A failure in one family does not stop the others. But without the lock, or after cancellation, no
                // further family can be recovered.
                outcome.failures[family] = error
                if error is CancellationError || (error as? StoreError)?.code == .homeBusy { end = error }
            }
        }
        return outcome
    }

    private func left(
        in family: Family, _ isRunning: (ProcessIdentity) -> Bool?
    ) throws -> [MarkFiles.Found] {
        try marks.all(of: family).filter { $0.mark?.isLeft(at: time.now, isRunning: isRunning) ?? true }
    }

    /// Recovers one family. Under the commit lock.
    private func recover(
        _ family: Family, _ hasBundled: Bool, _ isRunning: (ProcessIdentity) -> Bool?
    ) throws -> (Rollback?, [HeldBack]) {
        let state = try activation.stateBeforeChange(of: family)
        let recovery = try Recovery(
            state, left: try left(in: family, isRunning), hasBundled: hasBundled, at: time.now
        ) { try directory.find($0).isWhole }
        if let decision = recovery.decision {
            for found in try decisions(in: family) where found.token != decision.token {
                try marks.remove(found.release, token: found.token)
            }
        }
        let next = recovery.state
        var made = try recovery.finished.map { try rollback(from: $0.from, to: $0.to, because: $0.reason) }
        if next != state { try activation.write(next, of: family) }
        for note in recovery.notes { Log.write(.warning, "activation", note) }
        for mark in recovery.done { try marks.remove(mark.release, token: mark.token) }
        if let wanted = recovery.rollback {
            made = try goBack(from: wanted.from, to: wanted.to, because: wanted.reason, next)
            Log.write(
                .warning, "activation",
                "\(wanted.from) is rolled back to \(wanted.to?.description ?? "what came with the app"): \(wanted.reason)"
            )
        }
        clearUp(family, after: made, isRunning)
        return (made, recovery.heldBack)
    }

    /// Clears up after a recovery. A failure here is only logged: the decision is on the disk already.
    private func clearUp(_ family: Family, after rollback: Rollback?, _ isRunning: (ProcessIdentity) -> Bool?) {
        func attempt(_ body: () throws -> Void) {
            do {
                try body()
            } catch {
                Log.write(.info, "activation", "what was left of \(family) stays for now: \(error)")
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
        // Unfinished artifacts of ended processes may take gigabytes.
        attempt { try artifacts.sweep(family) }
    }

    /// Removes marks that no longer matter; the next start judges marks that could not be removed.
    func clearMarks(of family: Family, _ isMeant: (MarkFiles.Found) -> Bool) {
        do {
            for found in try marks.all(of: family) where isMeant(found) {
                try marks.remove(found.release, token: found.token)
            }
            try marks.tidy(family)
        } catch {
            Log.write(.info, "activation", "marks of \(family) stay until the next start: \(error)")
        }
    }
}

/// Result of recovering the families after interrupted work.
package struct RecoveryOutcome: Sendable {
    /// The rollbacks made or finished, each once.
    package var rollbacks: [Rollback] = []
    /// The releases that are held back from now on.
    package var heldBack: [HeldBack] = []
    /// Why a family was not recovered, or not reached.
    package var failures: [Family: any Error] = [:]

    /// The rollbacks. If something changed, failures are only logged: throwing would hide a rollback that was made.
    /// - Throws: the first failure if nothing was changed.
    package func rollbacksUnlessFailed() throws -> [Rollback] {
        guard let failure = failures.min(by: { $0.key < $1.key })?.value else { return rollbacks }
        guard !rollbacks.isEmpty || !heldBack.isEmpty else { throw failure }
        Log.write(.warning, "activation", "some of what ended processes left stays for now: \(failure)")
        return rollbacks
    }
}
