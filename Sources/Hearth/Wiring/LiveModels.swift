import HearthBase
import HearthDelivery
import HearthInference

/// The models of an app, loaded when first used and kept fresh: delivery and engines joined.
///
/// ```swift
/// let models = LiveModels(manager: manager)
/// let model = try await models.model(family)       // what is here, at once; an update comes behind
/// let session = LanguageModelSession(model: model) // each answer is the live release's, also after an update
/// ```
/// A release that becomes live takes the old one's place in memory: answers under way end on the old one, later ones come from
/// the new one, and `onReady` follows. As long as a release is loaded, no process unlinks its files.
///
/// One that cannot be loaded leaves the old one answering, which ``ModelEvent/swapFailed(_:_:)`` tells. It is tried again when it
/// is made live again, when `loadStored()` finds it, and after the family was unloaded; not at every use.
///
/// An app that ends calls ``stop(within:)`` before: one that ends in the middle of an answer looks as if the model had ended it.
public final class LiveModels: Sendable {
    /// An engine of this app, ready to answer.
    public typealias Engine = any InferenceEngine

    /// Where releases come from.
    public let manager: ModelManager
    /// The engines in memory, of all families.
    public let cache: ModelCache<Engine>

    private let files: EngineFiles
    private let time: TimeSource
    private let freeMemory: @Sendable () -> UInt64?
    /// Those among them that came with the app, and are used from where they lie.
    private let bundled: Locked<[ReleaseIdentity: BundledRelease]>
    private let models = Locked<[Family: ActiveModel<Engine>]>([:])
    /// How many are on their way to an engine of a family. From then on what becomes live is loaded for them.
    private let entering = Locked<[Family: Int]>([:])
    /// The releases that are live on the disk and could not be loaded.
    private let failed = Locked<[Family: ReleaseIdentity]>([:])
    private let registration: Locked<Task<Void, Never>?>
    private let watch: Task<Void, Never>

    /// The models of `manager`.
    /// - Parameters:
    ///   - budget: the bytes loaded engines may take together before idle ones go; half of what the device offers unless said.
    ///   - pressure: who says when memory gets short; idle engines go then.
    ///   - time: the clock of that.
    ///   - open: loads an engine for the files of a release; llama.cpp with the usual settings unless said otherwise.
    public init(
        manager: ModelManager, budget: UInt64 = DeviceMemory.read().usable / 2,
        pressure: any MemoryPressureSource = SystemMemory(), time: TimeSource = .system,
        open: @escaping @Sendable (ReleaseFiles) async throws -> Engine = {
            try await EngineOpening.open($0.weights, projector: $0.projector)
        }
    ) {
        self.manager = manager
        self.time = time
        let bundled = Locked<[ReleaseIdentity: BundledRelease]>([:])
        self.bundled = bundled
        let opening = EngineFiles(manager: manager, open: open)
        files = opening
        let cache = ModelCache<Engine>(budget: budget) { identity in
            if let release = bundled.withLock({ $0[identity] }) { return try await opening.load(release) }
            return try await opening.load(identity)
        } unload: { identity, engine in
            await engine.unload()
            opening.unloaded(identity)
        }
        self.cache = cache
        freeMemory = { pressure.read().availableBytes }
        watch = Task { [weak cache] in
            // Not held by its own watch: it would never go.
            while let interval = await cache?.giveWay(to: pressure) {
                do { try await time.sleep(for: interval) } catch { return }
            }
        }
        registration = Locked(nil)
        registration.withLock { registration in
            registration = Task { [weak self] in
                await manager.onActivation { [weak self] in try await self?.becameLive($0) }
            }
        }
    }

    deinit { watch.cancel() }

    /// A model of this app; nothing is loaded before it is used. Where the live release cannot be loaded and the one before
    /// can still answer, that one does.
    /// - Parameters:
    ///   - policy: how fresh it has to be.
    ///   - options: what a download may do.
    ///   - progress: as in `pull`.
    /// - Throws: as `ModelManager.model`. Where an engine of the family is in memory and another release is live by now, also what
    ///   loading that one throws, unless the one in memory or its release on the disk can still answer.
    public func model(
        _ family: Family, policy: ModelPolicy = .localWithBackgroundUpdate, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> LiveModel {
        await registration.withLock { $0 }?.value
        let model = try await manager.model(family, policy: policy, options: options, progress: progress)
        guard let release = model.identity else {
            throw StoreError(.notInstalled, "\(family) is not installed", context: ErrorContext(model: family.name))
        }
        note(model)
        let bytes = await manager.memoryEstimate(of: model)
        let active = models.withLock { models in
            if let active = models[family] { return active }
            let active = ActiveModel<Engine>(
                cache: cache, live: release, bytes: bytes, freeMemory: freeMemory)
            models[family] = active
            return active
        }
        try await follow(family, model, with: active)
        return LiveModel(family: family, models: self, active: active)
    }

    /// The engine of what is live now. What is loaded was told of every change in this process; before anything is loaded the disk is
    /// asked, for another process may have changed it, and what served may be gone.
    func lease(_ family: Family, of active: ActiveModel<Engine>) async throws -> EngineLease<Engine> {
        try await whileEntering(family) {
            // Whatever becomes live from here on sees that somebody is on the way in, or is found now.
            if await !isLoaded(active) { try await follow(family, with: active) }
            return try await active.lease()
        }
    }

    /// What the next lease is on, where loading it does not fail.
    func release(_ family: Family, of active: ActiveModel<Engine>) async -> ReleaseIdentity? {
        let serving = await active.live
        if await isWanted(family, active) { return serving }
        do {
            guard let release = try await manager.availability(of: family).identity else { return serving }
            return failed.withLock { $0[family] } == release ? serving : release
        } catch {
            Log.write(.info, "delivery.live", "what is live of \(family) cannot be read: \(error)")
            return serving
        }
    }

    private func isLoaded(_ active: ActiveModel<Engine>) async -> Bool {
        guard let serving = await active.live else { return false }
        return cache.loaded.contains(serving)
    }

    /// Whether a model is in memory or somebody is on the way to it. Else what becomes live waits on the disk for its first use.
    private func isWanted(_ family: Family, _ active: ActiveModel<Engine>) async -> Bool {
        if entering.withLock({ $0[family] != nil }) { return true }
        return await isLoaded(active)
    }

    private func whileEntering<Result>(_ family: Family, _ body: () async throws -> Result) async rethrows -> Result {
        entering.withLock { $0[family, default: 0] += 1 }
        defer {
            entering.withLock { entering in
                let count = entering[family] ?? 0
                entering[family] = count > 1 ? count - 1 : nil
            }
        }
        return try await body()
    }

    /// Has a model that is wanted serve what is live on the disk. Another process may have changed that since it was last asked for,
    /// and this one while it was looked up: from the time `active` is known every change here reaches it, so one more look is
    /// enough.
    /// - Parameter found: what is used where nothing is live: an installed release can be used without being live.
    private func follow(
        _ family: Family, _ found: ModelAvailability = .none, with active: ActiveModel<Engine>
    ) async throws {
        while await isWanted(family, active) {
            let now = try await manager.availability(of: family)
            let wanted = now == .none ? found : now
            note(wanted)
            guard let serving = await active.live, let release = wanted.identity, serving != release else { return }
            if failed.withLock({ $0[family] }) == release, try await canAnswer(serving) { return }
            do {
                guard try await swap(to: wanted) else { return }
            } catch {
                try Task.checkCancellation()
                if error is CancellationError { throw error }
                await manager.couldNotLoad(wanted, error)
                guard try await canAnswer(serving) else { throw error }
                return
            }
        }
    }

    /// Whether a release is in memory, or could be brought there.
    private func canAnswer(_ release: ReleaseIdentity) async throws -> Bool {
        if cache.loaded.contains(release) || bundled.withLock({ $0[release] }) != nil { return true }
        do {
            return try await manager.store.installed(release) != nil
        } catch is StoreError {
            return false
        }
    }

    /// Has the engines of a family unloaded as soon as no answer needs them. The next use loads again.
    public func retire(_ family: Family) {
        failed.withLock { $0[family] = nil }
        cache.retire { $0.family == family }
    }

    /// The same, and returns when they are gone and nothing of the family's files is in use here any more; earlier if the task is
    /// cancelled. Whoever asks for the model until then is refused with `model-unloading`; whoever asks afterwards loads it again.
    public func unload(_ family: Family) async {
        failed.withLock { $0[family] = nil }
        do {
            try await cache.drop { $0.family == family }
        } catch {
            retire(family)
        }
    }

    /// Stops the loads and answers of installed releases, what is being made for a load, and the updates that came behind, and
    /// begins no other; returns when they have ended and the disk does not say any more that somebody loads or answers, at the latest
    /// after `limit`. Also in a task that was cancelled.
    ///
    /// To be called before the app ends, and only then: no installed release answers any more afterwards. What the app itself has
    /// under way with the manager, a pull, `checkForUpdates` or `activate` in a task of its own, it cancels before and waits for. A model that
    /// came with the app leaves nothing on the disk when it ends in an answer, and answers on.
    public func stop(within limit: Duration = WatchedEngine.patience) async { await files.stop(within: limit, time) }

    /// Puts what became live in the place of the one in memory. What became so later may have been quicker: then that is put back.
    private func becameLive(_ model: ModelAvailability) async throws {
        try await swap(to: model)
        guard let family = model.identity?.family, let active = models.withLock({ $0[family] }) else { return }
        do {
            try await follow(family, model, with: active)
        } catch {
            // The model serves; of another one that could not be loaded everybody was told.
            Log.write(.info, "delivery.live", "what else became live of \(family) is left for its next use: \(error)")
        }
    }

    /// Puts a model in the place of the one in memory, if there is one. Where there is none the next use finds it on the disk.
    /// - Returns: whether it was put there.
    @discardableResult
    private func swap(to model: ModelAvailability) async throws -> Bool {
        guard let release = model.identity, let active = models.withLock({ $0[release.family] }) else { return false }
        note(model)
        guard await isWanted(release.family, active) else {
            failed.withLock { $0[release.family] = nil }
            return false
        }
        do {
            let bytes = await manager.memoryEstimate(of: model)
            try await whileEntering(release.family) { _ = try await active.swap(to: release, bytes: bytes) }
            failed.withLock { $0[release.family] = nil }
            return true
        } catch let error as DeliveryError where error.code == .modelUnloading {
            // Nobody uses it any more: the next use finds it on the disk.
            return false
        } catch {
            if !(error is CancellationError) { failed.withLock { $0[release.family] = release } }
            throw error
        }
    }

    /// Remembers where a model lies that came with the app.
    private func note(_ model: ModelAvailability) {
        guard let identity = model.identity else { return }
        bundled.withLock { bundled in
            if case .bundled(let release) = model { bundled[identity] = release } else { bundled[identity] = nil }
        }
    }
}
