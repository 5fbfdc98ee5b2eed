import Foundation
import HearthBase
import HearthCatalog

/// Switches the live release of a family and keeps its record. Blocks; every call runs under the commit lock.
extension StoreHome {
    private var now: Date { time.now }

    // MARK: Activation

    /// Makes an installed release the live one of its family, without probation.
    func activate(_ identity: ReleaseIdentity) throws -> InstalledRelease {
        try require(identity)
        let state = try activation.stateBeforeChange(of: identity.family)
        // A mark is needed only to overtake an earlier unfinished decision.
        let token = try decisions(in: identity.family).isEmpty ? nil : ActivityMark.token()
        if let token { try overtakeDecisions(for: identity, ActivityMark(.commit, at: now), token: token) }
        try activation.write(state.activating(identity), of: identity.family)
        if let token { clearMarks(of: identity.family) { $0.token == token } }
        return try require(identity)
    }

    /// Makes a release live after it has passed every step, and puts it on probation.
    func commit(_ identity: ReleaseIdentity, token: String) throws -> InstalledRelease {
        try require(identity)
        let state = try activation.stateBeforeChange(of: identity.family)
        let earlier = try overtakeDecisions(for: identity, ActivityMark(.commit, at: now), token: token)
        var next = state.committing(identity, at: now)
        if next.probation == nil, earlier.contains(where: { $0.release == identity && $0.mark?.stage == .commit }) {
            // An earlier attempt switched the link and failed before it recorded the probation.
            next.probation = Probation(of: identity, began: now)
        }
        try activation.write(next, of: identity.family)
        // The release has passed: processes that ended during its probe no longer count.
        clearMarks(of: identity.family) { $0.release == identity && $0.mark?.stage == .probe }
        return try require(identity)
    }

    /// Clears the link to a missing or damaged release before other bytes may come to its place: those are not live
    /// until they are tried.
    func deactivateUnknown(_ identity: ReleaseIdentity) throws {
        var state = try activation.stateBeforeChange(of: identity.family)
        guard try state.active == identity || activation.linkedName(of: identity.family) == identity.folderName else {
            return
        }
        guard try directory.findBeforeChange(identity).receipt == nil else { return }
        if state.active == identity { state.active = nil }
        try activation.write(state, of: identity.family)
    }

    /// Holds a release back from updates, unless it is live: a pull by the family's name would be refused for a live
    /// release that is held back.
    /// - Returns: whether it is held back now.
    func holdBack(_ identity: ReleaseIdentity, because reason: String) throws -> Bool {
        let state = try activation.stateBeforeChange(of: identity.family)
        guard state.active != identity else { return false }
        try activation.write(state.holdingBack(identity, because: reason, at: now), of: identity.family)
        return true
    }

    /// Pins a release, or removes the pin with `nil`.
    func pin(_ family: Family, to identity: ReleaseIdentity?) throws {
        if let identity { try require(identity) }
        if try directory.releases(of: family).isEmpty { throw StoreError.notInstalled(family.name) }
        var state = try activation.stateBeforeChange(of: family)
        if let identity { try overtakeSwitches(awayFrom: identity, state) }
        guard state.pinned != identity else { return }
        state.pinned = identity
        try activation.write(state, of: family)
    }

    // MARK: Rollback

    /// Makes the previous release live again, else the one bundled with the app; the release that was live is held
    /// back.
    func rollBack(_ family: Family, hasBundled: Bool, because reason: String) throws -> Rollback {
        let state = try beforeInterruptedRollback(
            try activation.stateBeforeChange(of: family), family, hasBundled: hasBundled)
        guard let from = state.active else {
            throw try directory.releases(of: family).isEmpty
                ? StoreError.notInstalled(family.name) : Self.nothingActive(family)
        }
        let to = state.previous.flatMap { $0 != from ? $0 : nil }
        guard to != nil || hasBundled else { throw Self.nothingBefore(family, from) }
        return try goBack(from: from, to: to, because: reason, state)
    }

    /// The state before an interrupted rollback. A failing disk may have switched the link without the record;
    /// repeating the rollback then finishes it, and does not roll back from its target.
    private func beforeInterruptedRollback(
        _ state: ReleaseState, _ family: Family, hasBundled: Bool
    ) throws -> ReleaseState {
        guard let found = try decisions(in: family).last, let mark = found.mark, mark.stage == .rollback,
            found.release != state.active, state.active?.folderName == mark.target, mark.target != nil || hasBundled,
            !state.isHeldBack(found.release)
        else { return state }
        var before = state
        before.active = found.release
        before.previous = state.active
        return before
    }

    /// Makes a rollback. Its mark is written before the link is switched, so that the next start can finish an
    /// interrupted rollback.
    func goBack(
        from: ReleaseIdentity, to: ReleaseIdentity?, because reason: String, _ state: ReleaseState
    ) throws -> Rollback {
        let rollback = try self.rollback(from: from, to: to, because: reason)
        let token = ActivityMark.token()
        try overtakeDecisions(
            for: from, ActivityMark(.rollback, at: now, target: to?.folderName, reason: reason), token: token)
        try activation.write(state.rolledBack(to: to, because: reason, at: now), of: from.family)
        clearMarks(of: from.family) { $0.release == from && $0.mark?.process == .current || $0.token == token }
        return rollback
    }

    /// The description of a rollback, read before the switch: after it, a failure would hide that the rollback was
    /// made.
    func rollback(from: ReleaseIdentity, to: ReleaseIdentity?, because reason: String) throws -> Rollback {
        let target = try to.map { to in
            let release = try require(to)
            return InstalledRelease(
                identity: to, folder: release.folder, receipt: release.receipt, isActive: true)
        }
        return Rollback(from: from, to: target, reason: HeldBack.bounded(reason))
    }

    private static func nothingActive(_ family: Family) -> StoreError {
        StoreError(
            .noActiveRelease, "no release of \(family) is active",
            context: ErrorContext(model: family.name, remedy: "Choose an installed release."))
    }

    private static func nothingBefore(_ family: Family, _ active: ReleaseIdentity) -> StoreError {
        StoreError(
            .nothingBefore, "no release of \(family) was active before \(active)",
            context: ErrorContext(
                model: family.name, remedy: "Choose another installed release."))
    }

    // MARK: Marks of decisions

    /// The marks of commits and rollbacks in a family, the latest last. A living process may have left one after a
    /// failed attempt.
    func decisions(in family: Family) throws -> [MarkFiles.Found] {
        try marks.all(of: family).filter { $0.mark?.stage.isDecision == true }
            .sorted { $0.began < $1.began }
    }

    /// Removes the marks of earlier unfinished decisions of any process, which the next start would otherwise carry
    /// out, before the link is switched.
    ///
    /// The new mark is written first. If the process ends in between, nothing has changed and the next start finishes
    /// the latest decision by its date in seconds (either of two with the same date). A process that waits for the lock
    /// meanwhile writes its mark again.
    /// - Returns: the removed marks.
    @discardableResult
    private func overtakeDecisions(
        for release: ReleaseIdentity, _ mark: ActivityMark, token: String
    ) throws -> [MarkFiles.Found] {
        let all = try decisions(in: release.family)
        if !all.contains(where: { $0.token == token }) { try marks.put(mark, release, token: token) }
        let earlier = all.filter { $0.token != token }
        for found in earlier { try marks.remove(found.release, token: found.token) }
        return earlier
    }

    /// Pinning cancels unfinished switches to other releases. If the link already leads to a release, its mark stays
    /// and puts it on probation at the next start.
    private func overtakeSwitches(awayFrom identity: ReleaseIdentity, _ state: ReleaseState) throws {
        for found in try decisions(in: identity.family)
        where found.mark?.stage == .commit && found.release != identity && found.release != state.active {
            try marks.remove(found.release, token: found.token)
        }
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

    // MARK: Probation

    func isOnProbation(_ identity: ReleaseIdentity) throws -> Bool {
        try activation.state(of: identity.family).probation?.release == identity
    }

    /// Records an event of a probation.
    /// - Returns: whether the release has passed its probation.
    @discardableResult
    func record(_ event: Probation.Event, of identity: ReleaseIdentity) throws -> Bool {
        var state = try activation.stateBeforeChange(of: identity.family)
        guard let probation = state.probation, probation.release == identity else { return false }
        switch probation.after(event) {
        case .continues(let next): state.probation = next
        case .passed, .failed: state.probation = nil
        }
        try activation.write(state, of: identity.family)
        guard state.probation == nil else { return false }
        Log.write(.info, "activation", "\(identity) has passed its probation")
        clearMarks(of: identity.family) { $0.release == identity }
        return true
    }
}

/// A completed rollback.
public struct Rollback: Sendable, Hashable {
    /// The release that was live, and is held back now.
    public let from: ReleaseIdentity
    /// The release that is live again; `nil` for the one bundled with the app.
    public let to: InstalledRelease?
    /// The reason, for people.
    public let reason: String
}
