import Foundation
import HearthBase

extension ModelStore {
    /// Finishes or undoes what ended processes were in the middle of, and judges releases on probation.
    ///
    /// Cheap where nothing was interrupted: it looks into one folder.
    /// - Parameter bundled: the families of which a model came with the app: where no earlier release is left to go back to,
    ///   that one serves.
    /// - Returns: the rollbacks that were made.
    @discardableResult
    public func recover(bundled: Set<Family> = []) async throws -> [Rollback] {
        try await recover(bundled: bundled) { $0.isRunning }
    }

    /// The same, with another word on which processes run.
    @discardableResult
    func recover(
        bundled: Set<Family> = [], isRunning: @escaping @Sendable (ProcessIdentity) -> Bool?
    ) async throws -> [Rollback] {
        try await inspect()
        guard try !marks.families().isEmpty else { return [] }
        var made: [Rollback] = []
        for family in try marks.families() {
            guard try !left(in: family, isRunning).isEmpty else { continue }
            try await committing {
                let hasBundled = bundled.contains(family)
                if let rollback = try recover(family, hasBundled, isRunning) { made.append(rollback) }
            }
        }
        return made
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
    ) throws -> Rollback? {
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
        if recovery.state != state { try activation.write(recovery.state, of: family) }
        for note in recovery.notes { Log.write(.warning, "delivery.activation", note) }
        for mark in recovery.done { try marks.remove(mark.release, token: mark.token) }
        var made: Rollback?
        if let wanted = recovery.rollback {
            made = try goBack(from: wanted.from, to: wanted.to, because: wanted.reason, recovery.state)
            Log.write(
                .warning, "delivery.activation",
                "\(wanted.from) gives way to \(wanted.to?.description ?? "what came with the app"): \(wanted.reason)")
            for mark in try left(in: family, isRunning) where mark.release == wanted.from {
                try marks.remove(mark.release, token: mark.token)
            }
        }
        try marks.tidy(family)
        // Gigabytes may lie there, of somebody who will not come back.
        try preparedFiles.sweep(family)
        return made
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
