import Foundation
import HearthBase
import HearthCatalog

/// The live release of each family.
extension ModelStore {
    /// The live release of a family, `nil` if there is none.
    /// - Throws: `receipt-damaged`, `release-damaged` if the live release is damaged.
    package func active(_ family: Family) async throws -> InstalledRelease? {
        try await state(of: family).active.flatMap { try home.find($0) }
    }

    /// Finds the usable model of each family, and the problems of unusable live releases.
    package func usable(
        beside bundled: [Family: BundledRelease]
    ) async throws -> (models: [Family: ModelAvailability], problems: [Family: any Error]) {
        try await inspect()
        return try home.usable(beside: bundled)
    }

    /// The recorded state of a family: live, previous and pinned release.
    package func state(of family: Family) async throws -> ReleaseState {
        try await inspect()
        return try home.activation.state(of: family)
    }

    /// Makes an installed release the live one of its family. Readers see the old release or the new one, never
    /// neither.
    ///
    /// An unverified release may become live too: its receipt says `verified: false`, as the user allowed at
    /// installation.
    /// - Throws: `not-installed`, `receipt-damaged`, `release-damaged`, `home-busy`.
    @discardableResult
    package func activate(_ identity: ReleaseIdentity) async throws -> InstalledRelease {
        try await prepare()
        return try await home.committing { try home.activate(identity) }
    }

    /// Makes a release live after it has passed every step, and puts it on probation.
    /// - Parameter token: of the mark of this commit; the caller removes the mark.
    package func commit(_ identity: ReleaseIdentity, token: String) async throws -> InstalledRelease {
        try await prepare()
        return try await home.committing { try home.commit(identity, token: token) }
    }

    /// Holds a release back from updates, unless it is live.
    /// - Returns: whether it is held back now.
    package func holdBack(_ identity: ReleaseIdentity, because reason: String) async throws -> Bool {
        try await home.committing { try home.holdBack(identity, because: reason) }
    }

    /// Makes the previous release live again, else the one bundled with the app; the release that was live is held
    /// back.
    /// - Throws: `not-installed`, `nothing-before`, `receipt-damaged`, `release-damaged`, `home-busy`.
    package func rollBack(_ family: Family, hasBundled: Bool = false, because reason: String) async throws -> Rollback {
        try await prepare()
        return try await home.committing {
            try home.rollBack(family, hasBundled: hasBundled, because: reason)
        }
    }

    /// Pins a release, or removes the pin with `nil`.
    /// - Throws: `not-installed`, `home-busy`.
    package func pin(_ family: Family, to identity: ReleaseIdentity?) async throws {
        try await prepare()
        try await home.committing { try home.pin(family, to: identity) }
    }

    // MARK: Recovery

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
        return try await Recovering(home: home, isRunning: isRunning).recoverEach(bundled: bundled)
    }

    // MARK: Probation

    /// Whether a release is live and not yet proven.
    package func isOnProbation(_ identity: ReleaseIdentity) throws -> Bool { try home.isOnProbation(identity) }

    /// Writes a mark before this process works with a release.
    package func mark(_ identity: ReleaseIdentity, _ mark: ActivityMark, token: String) throws {
        try marks.put(mark, identity, token: token)
    }

    /// Removes the mark after that work.
    package func unmark(_ identity: ReleaseIdentity, token: String) throws {
        try marks.remove(identity, token: token)
    }

    /// Runs `body`, which loads a release or answers with it, so that the next start notices an end of the process in
    /// between.
    ///
    /// For a release on probation it writes and removes a mark; for any other it only reads one small file. If the disk
    /// refuses the mark, `body` runs without one. The time of `body` counts as use even if it throws: surviving it is
    /// what proves a release.
    /// - Parameter marks: whether the end of this process can be the release's doing; not if another process computes.
    /// - Throws: only what `body` throws.
    package func guarding<Result>(
        _ identity: ReleaseIdentity, _ stage: GuardedStage, marks: Bool = true,
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        guard (try? home.isOnProbation(identity)) == true else { return try await body() }
        let token = marks ? await beginGuarding(identity, stage) : nil
        let renewal = token.map { self.marks.renewing(identity, token: $0) }
        defer { renewal?.stop() }
        let stopwatch = home.time.stopwatch()
        do {
            let result = try await body()
            await endGuarding(identity, token, seconds: stopwatch.elapsed.seconds)
            return result
        } catch {
            await endGuarding(identity, token, seconds: stopwatch.elapsed.seconds)
            throw error
        }
    }

    private func beginGuarding(_ identity: ReleaseIdentity, _ stage: GuardedStage) -> String? {
        do {
            let token = ActivityMark.token()
            let mark = ActivityMark(stage == .load ? .load : .generate, at: home.time.now)
            try marks.put(mark, identity, token: token)
            return token
        } catch {
            Log.write(.warning, "activation", "\(identity) is used without a mark: \(error)")
            return nil
        }
    }

    private func endGuarding(_ identity: ReleaseIdentity, _ token: String?, seconds: Double) async {
        do {
            if let token { try marks.remove(identity, token: token) }
            guard seconds > 0, try home.isOnProbation(identity) else { return }
            if let lock = try FileLock.tryAcquire(layout.lock) {
                defer { lock.release() }
                try home.record(.used(seconds: seconds), of: identity)
                return
            }
        } catch {
            return Self.notRecorded(identity, error)
        }
        // A cancelled caller would stop waiting for the lock: a task of its own counts the use.
        let (counting, ended) = AsyncStream<Never>.makeStream()
        Task {
            defer { ended.finish() }
            do {
                try await self.count(.used(seconds: seconds), of: identity)
            } catch {
                Self.notRecorded(identity, error)
            }
        }
        for await _ in counting {}
    }

    private static func notRecorded(_ identity: ReleaseIdentity, _ error: any Error) {
        Log.write(.warning, "activation", "the probation of \(identity) is not recorded: \(error)")
    }

    /// Counts a completed answer of `identity`.
    /// - Parameter seconds: the time of the answer, if ``guarding(_:_:isolation:_:)`` has not counted it.
    /// - Returns: whether this has ended its probation.
    @discardableResult
    package func recordAnswer(_ identity: ReleaseIdentity, seconds: Double = 0) async throws -> Bool {
        try await count(.answered(seconds: seconds), of: identity)
    }

    @discardableResult
    private func count(_ event: Probation.Event, of identity: ReleaseIdentity) async throws -> Bool {
        guard try home.isOnProbation(identity) else { return false }
        return try await home.committing { try home.record(event, of: identity) }
    }
}

/// Stages in which a process may end because of a release; watched during probation.
package enum GuardedStage: String, Sendable, Hashable { case load, generate }
