import HearthBase
import HearthCatalog
import HearthStore
import HearthTransfer

/// The models on this device: which are installed and live, and changes to them.
extension ModelManager {
    /// Lists every installed release.
    public func installed() async throws -> [InstalledRelease] { try await live.installed() }

    /// Finds an installed release without the network: the one of the given version and variant, else the active one.
    /// - Throws: `StoreError` with `not-installed`; ``DeliveryError`` with `ambiguous-reference`.
    public func installed(
        _ family: Family, version: ReleaseVersion? = nil, variant: Variant? = nil
    ) async throws -> InstalledRelease {
        try await installed().only(family, version, variant)
    }

    /// Finds the usable model of a family: the bundled one, unless the active download is newer or pinned.
    ///
    /// Never uses the network and reads no model bytes. A bundled folder or download that is unusable is logged and
    /// ignored.
    public func availability(of family: Family) async throws -> ModelAvailability {
        try await live.availability(of: family)
    }

    /// Finds the usable model of every family, as ``availability(of:)`` does.
    public func availabilities() async throws -> [Family: ModelAvailability] { try await live.availabilities() }

    /// Verifies a bundled release, once: the result is remembered until its files change. Call it before the first use.
    /// - Throws: `StoreError` with `release-damaged`; `FileError`.
    public func checked(_ release: BundledRelease) async throws -> BundledRelease {
        let checks = BundledChecks(folder: store.layout.catalogs, fileSystem: fetching.fileSystem)
        try await StopFlag.blocking { try checks.check(release, $0) }
        return release
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

    // MARK: - Opening

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
        try await opening.weights(of: release, under: lease, progress: progress)
    }

    /// The bytes an engine reads of a release: its files, with the artifact in place of the weights.
    /// - Parameter weights: the result of `weightsToOpen(of:under:progress:)`, `nil` if unknown. A release whose
    ///   artifact is not made yet counts with its own weights.
    package func openedSize(of release: InstalledRelease, opening weights: Path? = nil) async -> UInt64 {
        await opening.size(of: release, opening: weights)
    }

    // MARK: - Verification and removal

    /// Verifies a release against its receipt, and its artifacts against their records.
    ///
    /// The release may be damaged or unverified. Reads about 1.8 GB a second; stops soon after cancellation.
    /// - Throws: `StoreError` with `not-installed`, `receipt-damaged`; a missing or changed file is part of the report.
    public func verify(
        _ identity: ReleaseIdentity, progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await repairing.verify(identity, progress: progress)
    }

    /// Verifies a release and replaces its damaged files.
    ///
    /// | damaged file | replacement |
    /// | --- | --- |
    /// | another release has it undamaged | that release's file, without the network |
    /// | it has a chunk index | its own intact chunks, and the damaged ones from its source |
    /// | it came in an archive | the archive, fetched and unpacked again |
    /// | any other | the whole file from its source |
    ///
    /// A rename puts the new file in place of the damaged one: a process that has the damaged file open keeps it. Every
    /// release that shared the damaged file gets the new one.
    ///
    /// A damaged artifact is removed and made again; a process that has it open keeps its bytes.
    /// - Throws: `StoreError` with `not-installed`, `receipt-damaged`, `not-repairable`; the errors of a transfer.
    public func repair(
        _ identity: ReleaseIdentity, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> RepairReport {
        try await repairing.repair(identity, options: options, progress: progress)
    }

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

    /// Plans a collection: what would be removed, what would stay, and why. Changes nothing.
    /// - Parameters:
    ///   - budget: the most bytes that releases may take afterwards; `nil` removes only unneeded items.
    /// - Throws: `FileError`.
    package func collectionPlan(budget: UInt64? = nil) async throws -> CollectionPlan {
        try await collecting.plan(budget: budget)
    }

    /// Carries out a plan in small steps, between which other processes can work. Items needed since the plan stay.
    /// - Returns: the removals that were done.
    /// - Throws: `home-busy`, `FileError`, `CancellationError`; earlier removals stay done.
    package func collect(_ plan: CollectionPlan) async throws -> [CollectionPlan.Removal] {
        try await collecting.collect(plan)
    }
}
