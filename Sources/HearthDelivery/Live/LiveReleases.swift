import HearthBase
import HearthCatalog
import HearthStore

/// Knows which release of each family was announced as live, recovers, activates and announces releases.
actor LiveReleases {
    nonisolated let store: ModelStore
    nonisolated let bundled: [BundledSource]
    nonisolated let device: DeviceLimits
    /// Sends events to listeners.
    nonisolated let events = EventHub()
    private nonisolated let probe: (any ReleaseProbe)?
    private nonisolated let time: TimeSource
    /// The release last announced as live, by family.
    private var announced: [Family: ReleaseIdentity] = [:]
    /// Counts changes to the announced releases, by family.
    private var announcements: [Family: UInt64] = [:]
    private var swapBodies: [@Sendable (ModelAvailability) async throws -> Void] = []
    private var readyBodies: [@MainActor @Sendable (ModelAvailability) -> Void] = []
    /// Set once the interrupted work of ended processes is recovered.
    private var hasRecovered = false

    init(
        store: ModelStore, bundled: [BundledSource], device: DeviceLimits, probe: (any ReleaseProbe)?, time: TimeSource
    ) {
        self.store = store
        self.bundled = bundled
        self.device = device
        self.probe = probe
        self.time = time
    }

    // MARK: Announcements

    func onReady(_ body: @escaping @MainActor @Sendable (ModelAvailability) -> Void) { readyBodies.append(body) }

    func onActivation(_ swap: @escaping @Sendable (ModelAvailability) async throws -> Void) { swapBodies.append(swap) }

    /// Finds the live releases at an app's start, and announces each once.
    func loadStored() async -> StoredModels {
        var stored = StoredModels()
        let bundled = await bundledReleases()
        do {
            try await recover()
        } catch {
            // A read-only home, or one locked by another process, can still be read.
            Log.write(.info, "live", "what ended processes left stays until the next start: \(error)")
        }
        let counts = announcements
        do {
            (stored.models, stored.problems) = try await store.usable(beside: bundled)
        } catch {
            Log.write(.warning, "live", "what is stored cannot be read: \(error)")
            stored.failure = error
            stored.models = bundled.mapValues { .bundled($0) }
        }
        for (family, problem) in stored.problems { Self.log(problem, of: family) }
        // A model that is gone is announced again when it comes back.
        let known = stored.failure == nil ? Set(announced.keys) : []
        for family in known.union(stored.models.keys).sorted() {
            if announcements[family] == counts[family] {
                await announce(stored.models[family] ?? .none, in: family)
            } else {
                // Another release became live since the read, so the result may be out of date.
                await becameLive(nil, in: family)
            }
        }
        return stored
    }

    /// Announces the live model of a release's family; a bundled one goes before an older download.
    func becameLive(_ release: InstalledRelease) async { await becameLive(release, in: release.identity.family) }

    /// Announces the live model of a family, which may be a bundled one.
    ///
    /// Called whenever something may have become live: reads the live model from the disk, calls `onActivation`, posts
    /// the event, then calls `onReady`. A repetition is harmless.
    private func becameLive(_ release: InstalledRelease?, in family: Family) async {
        while true {
            let count = announcements[family]
            let found: ModelAvailability
            do {
                found = try await usableModel(of: family)
            } catch {
                Log.write(.info, "live", "\(family): \(error)")
                guard let release else { return }
                found = .downloaded(release)
            }
            // If another release became live during the read, the result may be out of date: read again.
            if announcements[family] == count { return await announce(found, in: family) }
        }
    }

    /// Announces a model of the app's own as the live one, until another becomes live.
    func show(_ model: BundledRelease) async {
        announced[model.identity.family] = nil
        await announce(.bundled(model), in: model.identity.family)
    }

    /// Announces a live model that was read from the disk after the family's latest announcement.
    private func announce(_ model: ModelAvailability, in family: Family) async {
        guard let identity = model.identity else {
            // A model that comes back is announced again, and lookups under way read again.
            announced[family] = nil
            announcements[family, default: 0] += 1
            return
        }
        guard announced[family] != identity else { return }
        announced[family] = identity
        announcements[family, default: 0] += 1
        do {
            for swap in swapBodies { try await swap(model) }
        } catch {
            couldNotLoad(model, error)
            return
        }
        // Another release became live meanwhile; its own call announces it.
        guard announced[identity.family] == identity else { return }
        if case .downloaded(let release) = model { events.post(.activated(release)) }
        for body in readyBodies { await body(model) }
    }

    /// Reports that a live release could not be loaded; the next call announces it again.
    func couldNotLoad(_ model: ModelAvailability, _ error: any Error) {
        guard let identity = model.identity else { return }
        Log.write(.warning, "live", "\(identity) is live and cannot be loaded: \(error)")
        if announced[identity.family] == identity { announced[identity.family] = nil }
        if case .downloaded(let release) = model { events.post(.swapFailed(release, error)) }
    }

    private func announce(_ rollback: Rollback) async {
        await becameLive(rollback.to, in: rollback.from.family)
        events.post(.rolledBack(from: rollback.from, to: rollback.to?.identity, reason: rollback.reason))
    }

    // MARK: Changes

    func activate(
        _ identity: ReleaseIdentity, options: ActivationOptions,
        progress: @escaping @Sendable (ActivationProgress) -> Void
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
            store: store, preparer: device.preparer, probe: options.probes ? probe : nil, time: time,
            identity: identity, rehashes: options.rehashes,
            ignoresMemory: device.ignoresMemory || options.ignoresMemory, progress: progress, post: events.post
        ).run()
        await becameLive(release)
        return release
    }

    func rollBack(_ family: Family, reason: String) async throws -> Rollback {
        try await recover(family)
        let hasBundled = await bundledReleases()[family] != nil
        let rollback = try await store.rollBack(family, hasBundled: hasBundled, because: reason)
        await announce(rollback)
        return rollback
    }

    func remove(_ family: Family, version: ReleaseVersion?, variant: Variant?) async throws -> Removal {
        // Invalidates lookups of the live release that are not announced yet.
        announcements[family, default: 0] += 1
        let removal = try await store.remove(family, version: version, variant: variant)
        // And lookups made while the removal waited for other processes.
        announcements[family, default: 0] += 1
        for identity in removal.removed { events.post(.removed(identity)) }
        if let known = announced[family], removal.removed.contains(known) { announced[family] = nil }
        if removal.active != .unchanged { await becameLive(nil, in: family) }
        return removal
    }

    // MARK: Recovery

    /// Finishes or undoes the interrupted work of ended processes.
    @discardableResult
    func recover() async throws -> [Rollback] { try await recoverEach().rollbacksUnlessFailed() }

    /// Recovers before work on one family, unless this process has recovered before; failures of other families are
    /// logged, not thrown.
    func recover(_ family: Family) async throws {
        guard !hasRecovered else { return }
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
        for held in outcome.heldBack { events.post(.heldBack(held.release, reason: held.reason)) }
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
}
