import Foundation
import HearthBase
import HearthCatalog

/// Finishes or undoes the interrupted work of ended processes; runs on the caller's executor.
struct Recovering {
    let home: StoreHome
    let isRunning: @Sendable (ProcessIdentity) -> Bool?

    private var marks: MarkFiles { home.marks }

    /// Recovers every family and returns the outcome by family.
    /// - Throws: if the families cannot be listed.
    nonisolated(nonsending) func recoverEach(bundled: Set<Family>) async throws -> RecoveryOutcome {
        var outcome = RecoveryOutcome()
        var end: (any Error)?
        for family in try marks.families() {
            if let end {
                outcome.failures[family] = end
                continue
            }
            do {
                guard try !left(in: family).isEmpty else {
                    // Removes unfinished files: a process may have ended before its mark was complete.
                    home.clearMarks(of: family) { _ in false }
                    continue
                }
                let (rollback, heldBack) = try await home.committing {
                    try recover(family, bundled.contains(family))
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

    /// The marks of ended processes.
    private func left(in family: Family) throws -> [MarkFiles.Found] {
        try marks.all(of: family).filter { $0.mark?.isLeft(at: home.time.now, isRunning: isRunning) ?? true }
    }

    /// Recovers one family. Under the commit lock.
    private func recover(_ family: Family, _ hasBundled: Bool) throws -> (Rollback?, [HeldBack]) {
        let state = try home.activation.stateBeforeChange(of: family)
        let recovery = try Recovery(state, left: try left(in: family), hasBundled: hasBundled, at: home.time.now) {
            try home.directory.find($0).isWhole
        }
        if let decision = recovery.decision {
            for found in try home.decisions(in: family) where found.token != decision.token {
                try marks.remove(found.release, token: found.token)
            }
        }
        let next = recovery.state
        var made = try recovery.finished.map { try home.rollback(from: $0.from, to: $0.to, because: $0.reason) }
        if next != state { try home.activation.write(next, of: family) }
        for note in recovery.notes { Log.write(.warning, "activation", note) }
        for mark in recovery.done { try marks.remove(mark.release, token: mark.token) }
        if let wanted = recovery.rollback {
            made = try home.goBack(from: wanted.from, to: wanted.to, because: wanted.reason, next)
            Log.write(
                .warning, "activation",
                "\(wanted.from) is rolled back to \(wanted.to?.description ?? "what came with the app"): \(wanted.reason)"
            )
        }
        clearUp(family, after: made)
        return (made, recovery.heldBack)
    }

    /// Clears up after a recovery. A failure here is only logged: the decision is on the disk already.
    private func clearUp(_ family: Family, after rollback: Rollback?) {
        func attempt(_ body: () throws -> Void) {
            do {
                try body()
            } catch {
                Log.write(.info, "activation", "what was left of \(family) stays for now: \(error)")
            }
        }
        attempt {
            if let rollback {
                for mark in try left(in: family) where mark.release == rollback.from {
                    try marks.remove(mark.release, token: mark.token)
                }
            }
            try marks.tidy(family)
        }
        // Unfinished artifacts of ended processes may take gigabytes.
        attempt { try home.artifacts.sweep(family, keepingUnfinished: true) }
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
