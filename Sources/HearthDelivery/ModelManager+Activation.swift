import Foundation
import HearthBase
import HearthCatalog
import HearthStore

extension ModelManager {
    /// Activates an installed release: verifies it, prepares its artifact, probes it, then switches to it in one step.
    ///
    /// If a step fails, the release that was live before stays live. A release that an engine cannot use is held back,
    /// unless it is live already: updates skip it until a newer one appears. Without a preparer or a probe, that step
    /// is skipped. The new live release is on probation.
    /// - Throws: `StoreError` with `probe-failed`, `not-installed`, `release-damaged`,
    ///   `receipt-damaged`, `home-busy`; `FileError`; `CancellationError`.
    @discardableResult
    package func activate(
        _ identity: ReleaseIdentity, options: ActivationOptions = ActivationOptions(),
        progress: @escaping @Sendable (ActivationProgress) -> Void = { _ in }
    ) async throws -> InstalledRelease {
        try await recover(identity.family)
        return try await activateRecovered(identity, options: options, progress: progress)
    }

    /// Activates a release after `recover` has run.
    func activateRecovered(
        _ identity: ReleaseIdentity, options: ActivationOptions,
        progress: @escaping @Sendable (ActivationProgress) -> Void
    ) async throws -> InstalledRelease {
        let before = try await store.state(of: identity.family).active
        // The release was announced before, then removed or replaced: announce it again.
        if before != identity, announced[identity.family] == identity { announced[identity.family] = nil }
        let release = try await ActivationRun(
            store: store, preparer: preparer, probe: options.probes ? probe : nil, time: time, identity: identity,
            rehashes: options.rehashes, ignoresMemory: ignoresMemory || options.ignoresMemory, progress: progress,
            post: hub.post
        ).run()
        await becameLive(release)
        return release
    }

    /// Returns to the release that was live before, else to the bundled one. Updates skip the abandoned release.
    ///
    /// Loads and fetches nothing.
    /// - Throws: `StoreError` with `not-installed`, `no-active-release`, `nothing-before`, `release-damaged`,
    ///   `home-busy`.
    @discardableResult
    public func rollback(_ family: Family, reason: String = "it was rolled back by hand") async throws -> Rollback {
        try await recover(family)
        let hasBundled = await bundledReleases()[family] != nil
        let rollback = try await store.rollBack(family, hasBundled: hasBundled, because: reason)
        await announce(rollback)
        return rollback
    }

    /// Removes a family, or its releases with the given version and variant, and posts events.
    /// - Throws: `StoreError` with `not-installed`, `release-in-use`, `home-busy`.
    @discardableResult
    public func remove(
        _ family: Family, version: ReleaseVersion? = nil, variant: Variant? = nil
    ) async throws -> Removal {
        // Invalidates lookups of the live release that are not announced yet.
        announcements[family, default: 0] += 1
        let removal = try await store.remove(family, version: version, variant: variant)
        // And lookups made while the removal waited for other processes.
        announcements[family, default: 0] += 1
        for identity in removal.removed { hub.post(.removed(identity)) }
        if let known = announced[family], removal.removed.contains(known) { announced[family] = nil }
        if removal.active != .unchanged { await becameLive(nil, in: family) }
        return removal
    }

    /// Pins a release: updates do not replace it. It need not be live.
    /// - Throws: `StoreError` with `not-installed`, `home-busy`.
    public func pin(_ identity: ReleaseIdentity) async throws {
        try await store.pin(identity.family, to: identity)
    }

    /// Unpins the release of a family.
    /// - Throws: `StoreError` with `not-installed`, `home-busy`.
    public func unpin(_ family: Family) async throws { try await store.pin(family, to: nil) }

    /// Counts a complete answer of a release; three of them end its probation.
    /// - Parameter seconds: the time the answer took, unless `ModelStore.guarding` counts it.
    public func recordAnswer(_ identity: ReleaseIdentity, seconds: Double = 0) async throws {
        try await store.recordAnswer(identity, seconds: seconds)
    }

    /// Finishes or undoes the interrupted work of ended processes, and rolls back releases that failed their probation.
    ///
    /// Apps need not call it: `installed`, `availability`, `pull`, `activate` and `rollback` recover first.
    /// - Returns: the rollbacks made or completed.
    @discardableResult
    public func recover() async throws -> [Rollback] { try await recoverEach().rollbacksUnlessFailed() }

    /// Recovers before work on one family; failures of other families are logged, not thrown.
    func recover(_ family: Family) async throws {
        let failures = try await recoverEach().failures
        for (other, failure) in failures where other != family {
            Log.write(
                .warning, "activation", "what ended processes left of \(other) stays for now: \(failure)")
        }
        if let failure = failures[family] { throw failure }
    }

    private func recoverEach() async throws -> RecoveryOutcome {
        let outcome = try await store.recoverEach(bundled: Set(await bundledReleases().keys))
        // Set before the events: a listener may call `availability`, which would otherwise recover again.
        if outcome.failures.isEmpty { hasRecovered = true }
        for rollback in outcome.rollbacks { await announce(rollback) }
        for held in outcome.heldBack { hub.post(.heldBack(held.release, reason: held.reason)) }
        return outcome
    }

    /// Recovers before this process first learns what is live, and so before it loads a release. Otherwise a release
    /// that crashes every process that loads it would never be rolled back.
    ///
    /// After a failure, even of one family, the next call tries again.
    func recoverAtFirst() async {
        guard !hasRecovered else { return }
        do {
            try await recover()
        } catch {
            // A read-only home, or one locked by another process, can still be read.
            Log.write(.info, "live", "what ended processes left stays for now: \(error)")
        }
    }

    private func announce(_ rollback: Rollback) async {
        await becameLive(rollback.to, in: rollback.from.family)
        hub.post(.rolledBack(from: rollback.from, to: rollback.to?.identity, reason: rollback.reason))
    }

    /// Finds the file an engine opens for a release: its artifact for this device, else its weights.
    ///
    /// A missing, damaged or outdated artifact is made again from verified weights, which may take minutes. If that
    /// fails, the weights are used, and the log says why. Outdated artifacts are removed, unless another process reads
    /// the release. If two processes end during a build, the artifact is not made again; a cancelled build does not
    /// count.
    /// - Parameter lease: the caller's lease for this opening; it does not count as a reader.
    /// - Throws: `StoreError` with `release-damaged` if the release has no weights, or if its artifact is to be made
    ///   and they differ from the installed ones; `CancellationError`.
    package func weightsToOpen(
        of release: InstalledRelease, under lease: ReleaseLease? = nil,
        progress: @escaping @Sendable (ActivationProgress) -> Void = { _ in }
    ) async throws -> Path {
        let weights = try release.requireWeights()
        guard let preparer else { return weights }
        let preparation = try await store.prepare(
            release, by: preparer, under: lease, rehashing: false, progress: progress)
        return preparation.artifact?.path ?? weights
    }

    /// The bytes an engine reads of a release: its files, with the artifact in place of the weights.
    /// - Parameter weights: the result of `weightsToOpen(of:under:progress:)`, `nil` if unknown. A release whose
    ///   artifact is not made yet counts with its own weights.
    public func openedSize(of release: InstalledRelease, opening weights: Path? = nil) async -> UInt64 {
        let total = release.receipt.totalSize
        guard let preparer, weights == nil || weights != release.weights else { return total }
        do {
            guard let recipe = try await preparer.recipe(for: release), let source = release.receipt.weights,
                let artifact = try await blocking({ [store] in try store.artifacts.look(for: recipe, of: release) })
            else { return total }
            return [total - min(total, source.size), artifact.size].saturatedSum
        } catch {
            Log.write(
                .info, "activation", "the artifact of \(release.identity) cannot be looked for: \(error)")
            return total
        }
    }
}
