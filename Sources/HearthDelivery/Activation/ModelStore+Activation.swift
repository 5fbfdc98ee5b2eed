import Foundation
import HearthBase

extension ModelStore {
    var marks: MarkFiles { MarkFiles(layout: layout, fileSystem: fileSystem) }

    // MARK: - Marks

    /// Says on the disk what this process is about to do with a release.
    func mark(_ identity: ReleaseIdentity, _ mark: ActivityMark, token: String) throws {
        try marks.put(mark, identity, token: token)
    }

    /// Says that it has ended.
    func unmark(_ identity: ReleaseIdentity, token: String) throws {
        try marks.remove(identity, token: token)
    }

    /// Performs `body`, which loads a release or answers with it, in such a way that a process that dies inside of it is noticed.
    ///
    /// Costs the reading of one small file, and nothing more, for a release that is not on probation; else the writing and
    /// the removal of a mark. A disk that refuses the mark keeps nobody from the model.
    /// - Throws: what `body` throws, and nothing else.
    public func guarding<Result>(
        _ identity: ReleaseIdentity, _ stage: GuardedStage, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        guard let token = await beginGuarding(identity, stage) else { return try await body() }
        let stopwatch = time.stopwatch()
        do {
            let result = try await body()
            await endGuarding(identity, token, seconds: stage == .load ? stopwatch.elapsed.seconds : 0)
            return result
        } catch {
            await endGuarding(identity, token, seconds: stage == .load ? stopwatch.elapsed.seconds : 0)
            throw error
        }
    }

    private func beginGuarding(_ identity: ReleaseIdentity, _ stage: GuardedStage) -> String? {
        do {
            guard try activation.state(of: identity.family).probation?.release == identity else { return nil }
            let token = ActivityMark.token()
            try mark(identity, ActivityMark(stage == .load ? .load : .generate, at: time.now), token: token)
            return token
        } catch {
            Log.write(.warning, "delivery.activation", "\(identity) is used without a mark: \(error)")
            return nil
        }
    }

    private func endGuarding(_ identity: ReleaseIdentity, _ token: String, seconds: Double) async {
        do {
            try unmark(identity, token: token)
            if seconds > 0 { try await count(.used(seconds: seconds), of: identity) }
        } catch {
            Log.write(.warning, "delivery.activation", "the probation of \(identity) is not recorded: \(error)")
        }
    }

    /// Counts an answer that `identity` has given to its end, in so many seconds.
    /// - Returns: whether that has ended its probation.
    @discardableResult
    public func recordAnswer(_ identity: ReleaseIdentity, seconds: Double) async throws -> Bool {
        try await count(.answered(seconds: seconds), of: identity)
    }

    @discardableResult
    private func count(_ event: Probation.Event, of identity: ReleaseIdentity) async throws -> Bool {
        guard try activation.state(of: identity.family).probation?.release == identity else { return false }
        return try await committing {
            var state = try activation.stateBeforeChange(of: identity.family)
            guard let probation = state.probation, probation.release == identity else { return false }
            switch probation.after(event) {
            case .goesOn(let next): state.probation = next
            case .passed, .failed: state.probation = nil
            }
            try activation.write(state, of: identity.family)
            guard state.probation == nil else { return false }
            Log.write(.info, "delivery.activation", "\(identity) has passed its probation")
            clearMarks(of: identity.family) { $0.release == identity }
            return true
        }
    }

    // MARK: - The switch

    /// Makes a release live that has passed everything, and puts it on probation.
    func commit(_ identity: ReleaseIdentity) async throws -> InstalledRelease {
        try await prepare()
        return try await committing {
            guard try read(identity) != nil else { throw notInstalled(identity.description) }
            let state = try activation.stateBeforeChange(of: identity.family)
            try activation.write(state.committing(identity, at: time.now), of: identity.family)
            // It has passed: what ended while it was tried does not count any more.
            clearMarks(of: identity.family) { $0.release == identity && $0.mark?.stage == .probe }
            guard let release = try read(identity) else { throw notInstalled(identity.description) }
            return release
        }
    }

    /// Notes that a release is not to be tried again by itself.
    func holdBack(_ identity: ReleaseIdentity, because reason: String) async throws {
        try await committing {
            let state = try activation.stateBeforeChange(of: identity.family)
            try activation.write(
                state.holdingBack(identity, because: reason, at: time.now), of: identity.family)
        }
    }

    /// Goes back to the release that was live before, else to what came with the app; the one that was left is held back.
    /// - Throws: `not-installed`, `nothing-before`, `receipt-damaged`, `release-damaged`, `home-busy`.
    func rollBack(_ family: Family, hasBundled: Bool = false, because reason: String) async throws -> Rollback {
        try await prepare()
        return try await committing {
            let state = try activation.stateBeforeChange(of: family)
            guard let from = state.active else {
                throw try shelf.releases(of: family).isEmpty ? notInstalled(family.name) : Self.nothingActive(family)
            }
            let to = state.previous.flatMap { $0 != from ? $0 : nil }
            guard to != nil || hasBundled else { throw Self.nothingBefore(family, from) }
            return try goBack(from: from, to: to, because: reason, state)
        }
    }

    /// The intention is on the disk before the link is switched, so that a start after an end in between knows it.
    private func goBack(
        from: ReleaseIdentity, to: ReleaseIdentity?, because reason: String, _ state: ReleaseState
    ) throws -> Rollback {
        if let to, try read(to) == nil { throw notInstalled(to.description) }
        let token = ActivityMark.token()
        try marks.put(
            ActivityMark(.rollback, at: time.now, target: to?.folderName, reason: reason), from, token: token)
        let next =
            to.map { state.rolledBack(to: $0, because: reason, at: time.now) }
            ?? state.retired(because: reason, at: time.now)
        try activation.write(next, of: from.family)
        clearMarks(of: from.family) { $0.release == from && $0.mark?.process == .current || $0.token == token }
        let release = try to.flatMap { try read($0) }
        if let to, release == nil { throw notInstalled(to.description) }
        return Rollback(from: from, to: release, reason: HeldBack.bounded(reason))
    }

    /// Holds on to a release, or lets go of the one held on to.
    /// - Throws: `not-installed`, `home-busy`.
    func pin(_ family: Family, to identity: ReleaseIdentity?) async throws {
        try await prepare()
        try await committing {
            if let identity, try read(identity) == nil { throw notInstalled(identity.description) }
            if try shelf.releases(of: family).isEmpty { throw notInstalled(family.name) }
            var state = try activation.stateBeforeChange(of: family)
            guard state.pinned != identity else { return }
            state.pinned = identity
            try activation.write(state, of: family)
        }
    }

    // MARK: - After an interruption

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
    private func clearMarks(of family: Family, _ isMeant: (MarkFiles.Found) -> Bool) {
        do {
            for found in try marks.all(of: family) where isMeant(found) {
                try marks.remove(found.release, token: found.token)
            }
            try marks.tidy(family)
        } catch {
            Log.write(.info, "delivery.activation", "marks of \(family) stay until the next start: \(error)")
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

/// What may end a process, and so is watched while a release is on probation.
public enum GuardedStage: String, Sendable, Hashable { case load, generate }

/// A way back that was gone.
public struct Rollback: Sendable, Hashable {
    /// What was live, and is held back now.
    public let from: ReleaseIdentity
    /// What is live again; `nil` for what came with the app.
    public let to: InstalledRelease?
    /// Why, for people.
    public let reason: String
}
