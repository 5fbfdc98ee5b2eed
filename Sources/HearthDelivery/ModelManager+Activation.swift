import Foundation
import HearthBase

/// What an activation is doing, for people who wait for it.
public enum ActivationProgress: Sendable, Hashable {
    /// Its files are read again.
    case verifying
    /// An engine makes of it what it runs best: what that is, and how much of it is done, 0...1.
    case preparing(String, fraction: Double)
    /// An engine tries it.
    case probing
}

/// How an activation is to be done.
public struct ActivationOptions: Sendable, Hashable {
    /// Read every byte of the release again; a pull has just done that. Default `true`.
    public var rehashes = true
    /// Let an engine try it first, where there is one. Default `true`.
    public var probes = true
    /// Have it tried although it needs more memory than the device has. What a preparer makes of it is tried all the same, as in
    /// ``PullOptions/ignoreMemory``.
    public var ignoresMemory = false

    /// The usual options.
    public init() {}
}

extension ModelManager {
    /// Makes an installed release the live one of its family: checked, prepared, tried, and switched to in one step.
    ///
    /// Whatever fails, the release that was live before stays live and untouched. One that an engine cannot use is held
    /// back, unless it is live already: no update chooses it until a newer one appears. Without a preparer and a probe there is
    /// nothing to wait for. The new release then is on probation: see ``Probation``.
    /// - Throws: ``ActivationError`` with `probe-failed`; `StoreError` with `not-installed`, `release-damaged`,
    ///   `receipt-damaged`, `home-busy`; `FileError`; `CancellationError`.
    @discardableResult
    public func activate(
        _ identity: ReleaseIdentity, options: ActivationOptions = ActivationOptions(),
        progress: @escaping @Sendable (ActivationProgress) -> Void = { _ in }
    ) async throws -> InstalledRelease {
        try await recover(identity.family)
        let before = try await store.state(of: identity.family).active
        // Announced once, and removed or replaced since by whomever: that it becomes live now is news again.
        if before != identity, announced[identity.family] == identity { announced[identity.family] = nil }
        let release = try await ActivationRun(
            store: store, preparer: preparer, probe: options.probes ? probe : nil, time: time, identity: identity,
            rehashes: options.rehashes, ignoresMemory: ignoresMemory || options.ignoresMemory, progress: progress,
            tell: hub.post
        ).run()
        await becameLive(release)
        return release
    }

    /// Goes back to the release that was live before, and where there is none to what came with the app; the one that is left is
    /// not chosen again by an update.
    ///
    /// Nothing is loaded and nothing is fetched: what is gone back to was in use before.
    /// - Throws: `StoreError` with `not-installed`, `no-active-release`, `nothing-before`, `release-damaged`, `home-busy`.
    @discardableResult
    public func rollback(_ family: Family, reason: String = "it was rolled back by hand") async throws -> Rollback {
        try await recover(family)
        let hasBundled = await bundledReleases().contains { $0.identity.family == family }
        let rollback = try await store.rollBack(family, hasBundled: hasBundled, because: reason)
        await tell(of: rollback)
        return rollback
    }

    /// Removes a whole family, or those of its releases that have the given version and variant, as `ModelStore.remove` does, and
    /// tells of it.
    /// - Throws: `StoreError` with `not-installed`, `release-in-use`, `home-busy`.
    @discardableResult
    public func remove(
        _ family: Family, version: ReleaseVersion? = nil, variant: Variant? = nil
    ) async throws -> Removal {
        // Whoever has seen what is live of it, and has not said so yet, looks again.
        announcements[family, default: 0] += 1
        let removal = try await store.remove(family, version: version, variant: variant)
        // And whoever has done so while the removal waited for other processes.
        announcements[family, default: 0] += 1
        for identity in removal.removed { hub.post(.removed(identity)) }
        if let known = announced[family], removal.removed.contains(known) { announced[family] = nil }
        if removal.active != .unchanged { await becameLive(nil, in: family) }
        return removal
    }

    /// Holds on to a release: updates do not replace it. It need not be live.
    /// - Throws: `StoreError` with `not-installed`, `home-busy`.
    public func pin(_ identity: ReleaseIdentity) async throws {
        try await store.pin(identity.family, to: identity)
    }

    /// Lets go of the release held on to.
    /// - Throws: `StoreError` with `not-installed`, `home-busy`.
    public func unpin(_ family: Family) async throws { try await store.pin(family, to: nil) }

    /// Counts an answer that a release has given to its end: three of them end its probation.
    /// - Parameter seconds: what it took, where `ModelStore.guarding` has not counted that.
    public func recordAnswer(_ identity: ReleaseIdentity, seconds: Double = 0) async throws {
        try await store.recordAnswer(identity, seconds: seconds)
    }

    /// Finishes or undoes what ended processes were in the middle of, and goes back from releases that have failed their
    /// probation.
    ///
    /// No app has to call it: whoever asks a manager what is here or changes what is live has it done first.
    /// - Returns: the rollbacks that were made, or brought to their end.
    @discardableResult
    public func recover() async throws -> [Rollback] { try await recoverEach().rollbacksUnlessFailed() }

    /// The same before something is done with one family: what cannot be looked after of the others keeps nobody from that.
    func recover(_ family: Family) async throws {
        let failures = try await recoverEach().failures
        for (other, failure) in failures where other != family {
            Log.write(
                .warning, "delivery.activation", "what ended processes left of \(other) stays for now: \(failure)")
        }
        if let failure = failures[family] { throw failure }
    }

    private func recoverEach() async throws -> RecoveryOutcome {
        let outcome = try await store.recoverEach(bundled: Set(await bundledReleases().map(\.identity.family)))
        // Whoever hears of a rollback may ask what is live, and is not to wait for himself.
        if outcome.failures.isEmpty { hasRecovered = true }
        for rollback in outcome.rollbacks { await tell(of: rollback) }
        for held in outcome.heldBack { hub.post(.heldBack(held.release, reason: held.reason)) }
        return outcome
    }

    /// Has that done before this process is first told what is live, and so before it loads anything: a release that ends
    /// every process that loads it would never be left otherwise.
    ///
    /// Where it fails, be it for one family only, the next who asks tries again.
    func recoverAtFirst() async {
        guard !hasRecovered else { return }
        do {
            try await recover()
        } catch {
            // A home that can only be read, or one at work, is still good for reading.
            Log.write(.info, "delivery.live", "what ended processes left stays for now: \(error)")
        }
    }

    private func tell(of rollback: Rollback) async {
        await becameLive(rollback.to, in: rollback.from.family)
        // Last, since a listener who was busy hears only the newest word on what is live.
        hub.post(.rolledBack(from: rollback.from, to: rollback.to?.identity, reason: rollback.reason))
    }

    /// What an engine is to open for a release: what was prepared for this device, a file or a folder, else the release's own weights.
    ///
    /// What is missing, damaged or outdated is made again, which may take a while, from weights that are read again first; where
    /// that fails the release is used as it is, and that is logged. Without a preparer it is always the release's own. Outdated ones
    /// go, unless somebody may read them. A process that ends meanwhile may count as ended by
    /// what was made; one that cancels this before does not.
    /// - Parameter lease: the lease on the release that was taken for this very opening: it does not count as a reader.
    /// - Throws: `StoreError` with `release-damaged` for a release without weights, or with others than were installed where something
    ///   was to be made of them; `CancellationError`.
    public func weightsToOpen(
        of release: InstalledRelease, under lease: ReleaseLease? = nil,
        progress: @escaping @Sendable (ActivationProgress) -> Void = { _ in }
    ) async throws -> Path {
        guard let weights = release.weights else {
            throw StoreError(
                .releaseDamaged, "\(release.identity) holds no weights",
                context: ErrorContext(model: release.identity.description, file: release.folder.string))
        }
        guard let preparer else { return weights }
        let outcome = try await ReleasePreparation(store: store, preparer: preparer, lease: lease, progress: progress)
            .prepare(release, rehashing: false)
        return outcome.prepared?.path ?? weights
    }

    /// The bytes an engine reads of a release: those of its files, with what was prepared for this device in place of those that
    /// was made from.
    /// - Parameter weights: what ``weightsToOpen(of:under:progress:)`` gave; `nil` before it was asked. Then what is still to be
    ///   made, or cannot be looked at, counts as it came.
    public func openedSize(of release: InstalledRelease, opening weights: Path? = nil) async -> UInt64 {
        let total = release.receipt.totalSize
        guard let preparer, weights == nil || weights != release.weights else { return total }
        do {
            guard let recipe = try await preparer.recipe(for: release) else { return total }
            let prepared = try await blocking { [store] in try store.preparedFiles.any(of: release, by: recipe) }
            guard let prepared else { return total }
            let replaced = recipe.sourceFiles(in: release).map(\.size).saturatedSum
            return [total - min(total, replaced), prepared.size].saturatedSum
        } catch {
            Log.write(.info, "delivery.activation", "what was made of \(release.identity) is not known: \(error)")
            return total
        }
    }
}
