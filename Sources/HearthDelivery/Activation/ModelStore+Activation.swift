import Foundation
import HearthBase

extension ModelStore {
    /// Makes a release live that has passed everything, and puts it on probation.
    /// - Parameter token: of the mark that says so; the caller takes it away.
    func commit(_ identity: ReleaseIdentity, token: String) async throws -> InstalledRelease {
        try await prepare()
        return try await committing {
            guard let passed = try read(identity) else { throw notInstalled(identity.description) }
            let state = try activation.stateBeforeChange(of: identity.family)
            let earlier = try overtakeDecisions(for: identity, ActivityMark(.commit, at: time.now), token: token)
            var next = state.committing(identity, at: time.now).accepting(passed.receipt.content, of: identity)
            if next.probation == nil, earlier.contains(where: { $0.release == identity && $0.mark?.stage == .commit }) {
                // The link leads to it since an attempt that failed before its probation was recorded.
                next.probation = Probation(of: identity, began: time.now)
            }
            try activation.write(next, of: identity.family)
            // It has passed: what ended while it was tried does not count any more.
            clearMarks(of: identity.family) { $0.release == identity && $0.mark?.stage == .probe }
            guard let release = try read(identity) else { throw notInstalled(identity.description) }
            return release
        }
    }

    /// The marks of decisions on what is live, the latest last. One of a living process may be of an attempt that failed.
    func decisions(in family: Family) throws -> [MarkFiles.Found] {
        try marks.all(of: family).filter { $0.mark?.stage.isDecision == true }
            .sorted { ($0.mark?.since ?? .distantPast) < ($1.mark?.since ?? .distantPast) }
    }

    /// Takes away what was decided before and not brought to its end, whoever decided it: the next start would undo what is
    /// decided now. Under the commit lock, before anything is switched.
    ///
    /// The new mark is on the disk first. Whoever dies in between has changed nothing, and the next start finishes the latest, by
    /// the second (of two within one, either); one that waits for the lock meanwhile puts its mark there again.
    /// - Returns: what was taken away.
    @discardableResult
    func overtakeDecisions(
        for release: ReleaseIdentity, _ mark: ActivityMark, token: String
    ) throws -> [MarkFiles.Found] {
        let all = try decisions(in: release.family)
        if !all.contains(where: { $0.token == token }) { try marks.put(mark, release, token: token) }
        let earlier = all.filter { $0.token != token }
        for found in earlier { try marks.remove(found.release, token: found.token) }
        return earlier
    }

    /// Notes that a release is not to be tried again by itself, unless it is live: that one stays what it is, and
    /// held back it would be refused to a pull by the family's name.
    /// - Returns: whether it is held back now.
    func holdBack(_ identity: ReleaseIdentity, because reason: String) async throws -> Bool {
        try await committing {
            let state = try activation.stateBeforeChange(of: identity.family)
            guard state.active != identity else { return false }
            try activation.write(
                state.holdingBack(identity, because: reason, at: time.now), of: identity.family)
            return true
        }
    }

    /// Notes that other bytes of the live release are not to be tried again by themselves.
    /// - Parameter promised: what was promised of them, as ``HeldBack/promised``.
    func holdBack(
        _ content: SHA256Digest, promised: SHA256Digest? = nil, of identity: ReleaseIdentity, because reason: String
    ) async throws {
        try await committing {
            let state = try activation.stateBeforeChange(of: identity.family)
            guard state.active == identity else { return }
            try activation.write(
                state.holdingBack(content, promised: promised, of: identity, because: reason, at: time.now),
                of: identity.family)
        }
    }

    /// Notes what an entry promises of other bytes that are held back, so that they are not fetched again to be told by.
    func note(_ promised: SHA256Digest, of held: HeldBack) async throws {
        guard let content = held.content else { return }
        try await committing {
            let state = try activation.stateBeforeChange(of: held.release.family)
            let next = state.noting(promised, of: content, of: held.release)
            if next != state { try activation.write(next, of: held.release.family) }
        }
    }

    /// Goes back to the release that was live before, else to what came with the app; the one that was left is held back.
    /// - Throws: `not-installed`, `nothing-before`, `receipt-damaged`, `release-damaged`, `home-busy`.
    func rollBack(_ family: Family, hasBundled: Bool = false, because reason: String) async throws -> Rollback {
        try await prepare()
        return try await committing {
            let state = try beforeInterruptedRollback(
                try activation.stateBeforeChange(of: family), family, hasBundled: hasBundled)
            guard let from = state.active else {
                throw try shelf.releases(of: family).isEmpty ? notInstalled(family.name) : Self.nothingActive(family)
            }
            let to = state.previous.flatMap { $0 != from ? $0 : nil }
            guard to != nil || hasBundled else { throw Self.nothingBefore(family, from) }
            return try goBack(from: from, to: to, because: reason, state)
        }
    }

    /// A way back on which the disk failed may have switched the link and not said so. Asked for once more it is gone to its
    /// end, and not back from where it led.
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

    /// The intention is on the disk before the link is switched, so that a start after an end in between knows it.
    func goBack(
        from: ReleaseIdentity, to: ReleaseIdentity?, because reason: String, _ state: ReleaseState
    ) throws -> Rollback {
        let rollback = try self.rollback(from: from, to: to, because: reason)
        let token = ActivityMark.token()
        try overtakeDecisions(
            for: from, ActivityMark(.rollback, at: time.now, target: to?.folderName, reason: reason), token: token)
        let next =
            to.map { state.rolledBack(to: $0, because: reason, at: time.now) }
            ?? state.retired(because: reason, at: time.now)
        try activation.write(next, of: from.family)
        clearMarks(of: from.family) { $0.release == from && $0.mark?.process == .current || $0.token == token }
        return rollback
    }

    /// What is told of a rollback. Made before the switch, so that nothing fails behind it that would hide that it was made.
    func rollback(from: ReleaseIdentity, to: ReleaseIdentity?, because reason: String) throws -> Rollback {
        let target = try to.map { to in
            guard let release = try read(to) else { throw notInstalled(to.description) }
            return InstalledRelease(
                identity: to, folder: release.folder, receipt: release.receipt, isActive: true)
        }
        return Rollback(from: from, to: target, reason: HeldBack.bounded(reason))
    }

    /// Holds on to a release, or lets go of the one held on to.
    /// - Throws: `not-installed`, `home-busy`.
    func pin(_ family: Family, to identity: ReleaseIdentity?) async throws {
        try await prepare()
        try await committing {
            if let identity, try read(identity) == nil { throw notInstalled(identity.description) }
            if try shelf.releases(of: family).isEmpty { throw notInstalled(family.name) }
            var state = try activation.stateBeforeChange(of: family)
            if let identity { try overtakeSwitches(awayFrom: identity, state) }
            guard state.pinned != identity else { return }
            state.pinned = identity
            try activation.write(state, of: family)
        }
    }

    /// Whoever holds on to a release does not want one live at the next start that did not become so before. Where the link has
    /// come to it already it is, and its mark says that it has to prove itself.
    private func overtakeSwitches(awayFrom identity: ReleaseIdentity, _ state: ReleaseState) throws {
        for found in try decisions(in: identity.family)
        where found.mark?.stage == .commit && found.release != identity && found.release != state.active {
            try marks.remove(found.release, token: found.token)
        }
    }

    private static func nothingActive(_ family: Family) -> StoreError {
        StoreError(
            .noActiveRelease, "no release of \(family) is active",
            context: ErrorContext(model: family.name, remedy: "Choose one: hearth use \(family)@VERSION"))
    }

    private static func nothingBefore(_ family: Family, _ active: ReleaseIdentity) -> StoreError {
        StoreError(
            .nothingBefore, "no release of \(family) was active before \(active)",
            context: ErrorContext(
                model: family.name, remedy: "Choose another that is installed: hearth use \(family)@VERSION"))
    }
}

/// A way back that was gone.
public struct Rollback: Sendable, Hashable {
    /// What was live, and is held back now.
    public let from: ReleaseIdentity
    /// What is live again; `nil` for what came with the app.
    public let to: InstalledRelease?
    /// Why, for people.
    public let reason: String
}
