import HearthBase
import HearthCatalog
import HearthStore
import HearthTransfer

/// The models on this device: which are installed and live, and changes to them.
extension ModelManager {
    /// Lists every installed release.
    public func installed() async throws -> [InstalledRelease] {
        await live.recoverAtFirst()
        return try await store.installed()
    }

    /// Finds an installed release without the network: the one of the given version and variant, else the active one.
    /// - Throws: `StoreError` with `not-installed`; ``DeliveryError`` with `ambiguous-reference`.
    public func installed(
        _ family: Family, version: ReleaseVersion? = nil, variant: Variant? = nil
    ) async throws -> InstalledRelease {
        try await installed().only(family, version, variant)
    }

    /// Whether an installed release answers with text, and an engine of this program can run it.
    package func canAnswer(_ release: InstalledRelease) -> Bool {
        release.weights != nil && release.receipt.role != .classifier
            && formats?.contains(release.receipt.format) ?? true
    }

    /// Finds the usable model of a family: the bundled one, unless the active download is newer or pinned.
    ///
    /// Never uses the network and reads no model bytes. A bundled folder or download that is unusable is logged and
    /// ignored.
    public func availability(of family: Family) async throws -> ModelAvailability {
        await live.recoverAtFirst()
        return try await live.usableModel(of: family)
    }

    /// Finds the usable model of every family, as ``availability(of:)`` does.
    public func availabilities() async throws -> [Family: ModelAvailability] {
        await live.recoverAtFirst()
        return try await live.usableModels()
    }

    /// Verifies a bundled release, once: the result is remembered until its files change. Call it before the first use.
    /// - Throws: `StoreError` with `release-damaged`; `FileError`.
    public func checked(_ release: BundledRelease) async throws -> BundledRelease {
        let checks = BundledChecks(folder: store.layout.catalogs, fileSystem: fetching.fileSystem)
        try await StopFlag.blocking { try checks.check(release, $0) }
        return release
    }

    /// The bytes that removing all releases of a family frees: files that no other family shares, and artifacts.
    /// - Throws: `FileError`.
    package func bytesFreed(byRemoving family: Family) async throws -> UInt64 {
        let facts = try await store.facts()
        let members = facts.members.filter { $0.identity.family == family }
        return ([facts.owners.freed(by: Set(members.map(\.identity)))] + members.map(\.preparedBytes)).saturatedSum
    }

    // MARK: - Live releases

    /// Finds the live releases in milliseconds, without the network and without opening an engine: the call of an app's
    /// start.
    ///
    /// Each is announced once, to `onReady` and ``events()``. A release that failed its probation is rolled back first.
    /// A later call notices releases that other processes made live.
    /// - Returns: the model that new requests get, by family.
    @discardableResult
    public func loadStoredModel() async -> [Family: ModelAvailability] { await loadStored().models }

    /// The same, with the problems of unusable releases.
    @discardableResult
    package func loadStored() async -> StoredModels { await live.loadStored() }

    /// Streams the model events of this process from now on, to any number of listeners. A listener that does not read
    /// loses the oldest events beyond 256.
    ///
    /// ```swift
    /// for await event in manager.events() {
    ///     if case .activated(let release) = event { print("\(release.identity) is live") }
    /// }
    /// ```
    public func events() -> AsyncStream<ModelEvent> { live.events.stream() }

    /// Registers a callback on the main actor for each model that becomes usable.
    ///
    /// It is called once for each activation, and never before new requests get the model. A release that was live at
    /// the app's start counts when ``loadStoredModel()`` finds it, and so does a bundled one.
    public func onReady(_ body: @escaping @MainActor @Sendable (ModelAvailability) -> Void) async {
        await live.onReady(body)
    }

    /// Registers a callback for each release that becomes live, awaited before its event. Load the new engine there.
    ///
    /// If `swap` throws, ``ModelEvent/swapFailed(_:_:)`` is posted, and the release is not reported as ready.
    ///
    /// If another release of the family becomes live meanwhile, `swap` is called for it before the earlier call ends,
    /// and either may end first. So each call ensures at its end that the release live by then serves.
    public func onActivation(_ swap: @escaping @Sendable (ModelAvailability) async throws -> Void) async {
        await live.onActivation(swap)
    }

    /// Reports that a live release could not be loaded in place of the one before. The release is then announced again
    /// by the next call, as for ``onActivation(_:)``.
    public func couldNotLoad(_ model: ModelAvailability, _ error: any Error) async {
        await live.couldNotLoad(model, error)
    }

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
        try await live.activate(identity, options: options, progress: progress)
    }

    /// Activates an installed release.
    public func use(_ family: Family, version: ReleaseVersion?, variant: Variant?) async throws -> InstalledRelease {
        let release = try await installed(family, version: version, variant: variant)
        return try await activate(release.identity)
    }

    /// Returns to the release that was live before, else to the bundled one. Updates skip the abandoned release.
    ///
    /// Loads and fetches nothing.
    /// - Throws: `StoreError` with `not-installed`, `no-active-release`, `nothing-before`, `release-damaged`,
    ///   `home-busy`.
    @discardableResult
    public func rollback(_ family: Family, reason: String = "it was rolled back by hand") async throws -> Rollback {
        try await live.rollBack(family, reason: reason)
    }

    /// Finishes or undoes the interrupted work of ended processes, and rolls back releases that failed their probation.
    ///
    /// Apps need not call it: the first of `installed`, `availability`, `pull`, `activate` and `rollback` recovers.
    /// - Returns: the rollbacks made or completed.
    @discardableResult
    public func recover() async throws -> [Rollback] { try await live.recover() }

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

    /// Rolls back a release on probation that failed in use.
    /// - Returns: the rollback; `nil` for a release that is proven or no longer live.
    /// - Throws: `StoreError`, also if there is no release to go back to.
    package func refute(_ identity: ReleaseIdentity, reason: String) async throws -> Rollback? {
        guard try await store.isOnProbation(identity) else { return nil }
        return try await rollback(identity.family, reason: reason)
    }

    // MARK: - Verification and removal

    /// Removes a family, or its releases with the given version and variant, and posts events.
    /// - Returns: the removed releases.
    /// - Throws: `StoreError` with `not-installed`, `release-in-use`, `home-busy`.
    @discardableResult
    public func remove(
        _ family: Family, version: ReleaseVersion? = nil, variant: Variant? = nil
    ) async throws -> [ReleaseIdentity] {
        try await removal(of: family, version: version, variant: variant).removed
    }

    /// Removes the same, and tells what is live afterwards.
    package func removal(of family: Family, version: ReleaseVersion?, variant: Variant?) async throws -> Removal {
        try await live.remove(family, version: version, variant: variant)
    }

}

extension ModelManager {
    /// The memory that an engine needs for an installed release on this device; `nil` if that is unknown.
    package func memory(of release: InstalledRelease) async -> ReleaseMemory? {
        guard let preflight = admission.preflight, let weights = release.weights else { return nil }
        // A receipt that cannot be read counts as none: an engine then opens the release's own file.
        let isRefused = (try? await store.refusedArtifact(of: release)) ?? nil
        let artifact = (try? await store.artifact(of: release)) ?? nil
        let opened = device.ignoresMemory || isRefused != nil ? nil : artifact?.path
        return await preflight.memory(of: release, weights: opened ?? weights)
    }
}
