import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore
import HearthTransfer

/// The models of an app, loaded on first use and kept up to date: joins delivery and engines.
///
/// ```swift
/// let models = LiveModels(manager: manager)
/// let model = try await models.model(family)       // the installed release at once; updates in the background
/// let session = LanguageModelSession(model: model) // each answer uses the live release
/// ```
/// A new live release replaces the old one in memory: answers in progress end on the old one, later ones use the new
/// one, then `onReady` is called. While a release is loaded, no process deletes its files.
///
/// If a new release cannot be loaded, the old one keeps answering and `ModelEvent.swapFailed` is sent. The load is
/// tried again after an activation, when `loadStored()` finds the release, and after the family was unloaded, not at
/// every use.
///
/// Call ``stop(within:)`` before the app ends: an end during an answer counts as a crash of the model.
public final class LiveModels: Sendable {
    /// An engine that can answer.
    public typealias Engine = any InferenceEngine

    /// The manager that delivers releases.
    public let manager: ModelManager
    /// The engines in memory, of all families.
    public let cache: ModelCache<Engine>

    private let files: EngineFiles
    let time: TimeSource
    private let freeMemory: @Sendable () -> UInt64?
    /// Bundled releases, which are used in place.
    private let bundled: Locked<[ReleaseIdentity: BundledRelease]>
    private let models = Locked<[Family: ActiveModel<Engine>]>([:])
    /// The number of requests entering each family. While there are any, a new live release is loaded for them.
    private let entering = Locked<[Family: Int]>([:])
    /// Live releases that could not be loaded.
    private let failed = Locked<[Family: ReleaseIdentity]>([:])
    private let registration: Locked<Task<Void, Never>?>
    private let watch: Task<Void, Never>

    /// The models of a manager.
    /// - Parameters:
    ///   - budget: the bytes for all loaded engines, kept by unloading idle ones; by default half of the memory.
    ///   - pressure: reports when memory is short; idle engines are unloaded then.
    ///   - time: the clock for checks of memory pressure.
    ///   - open: loads an engine for the files of a release; by default with the engine and settings of the manager's
    ///     probe, else llama.cpp with default settings.
    public init(
        manager: ModelManager, budget: UInt64 = DeviceMemory.read().usable / 2,
        pressure: any MemoryPressureSource = SystemMemoryPressure(), time: TimeSource = .system,
        open: (@Sendable (ReleaseFiles) async throws -> Engine)? = nil
    ) {
        self.manager = manager
        self.time = time
        let bundled = Locked<[ReleaseIdentity: BundledRelease]>([:])
        self.bundled = bundled
        let opening = EngineFiles(
            manager: manager,
            open: open ?? (manager.probe as? EngineReleaseProbe)?.opening
                ?? EngineRegistry.standard.opening(Configuration(), deviceMemory: manager.deviceMemory))
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
            // A strong reference would keep the cache alive.
            while let interval = await cache?.relieve(pressure) {
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

    /// A model of this app; nothing is loaded before its first use. If the live release cannot be loaded and the
    /// previous one can, that one answers.
    /// - Parameters:
    ///   - policy: whether to use the installed release or ask for updates.
    ///   - options: limits for a download.
    ///   - progress: as in `pull`.
    /// - Throws: as `ModelManager.model`. If another release has replaced a loaded one, also the errors of its load,
    ///   unless the replaced release can still answer.
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

    /// Leases the live engine. A loaded model follows every activation in this process; before a load, the disk is
    /// asked, because another process may have changed or removed the live release.
    func lease(_ family: Family, of active: ActiveModel<Engine>) async throws -> EngineLease<Engine> {
        try await whileEntering(family) {
            // If a release becomes live from here on, its activation sees this request in `entering`.
            if await !isLoaded(active) { try await follow(family, with: active) }
            return try await active.lease()
        }
    }

    /// The release that the next lease gets if it can be loaded.
    func release(_ family: Family, of active: ActiveModel<Engine>) async -> ReleaseIdentity? {
        let serving = await active.live
        if await isWanted(family, active) { return serving }
        do {
            guard let release = try await manager.availability(of: family).identity else { return serving }
            return failed.withLock { $0[family] } == release ? serving : release
        } catch {
            Log.write(.info, "live", "what is live of \(family) cannot be read: \(error)")
            return serving
        }
    }

    /// Whether the engine that serves is in memory.
    func isLoaded(_ active: ActiveModel<Engine>) async -> Bool {
        guard let serving = await active.live else { return false }
        return cache.loaded.contains(serving)
    }

    /// Whether a model is in memory or a request is entering it. Otherwise its first use looks up the live release.
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

    /// Swaps a wanted model to the live release. Another process may have changed that, or this process during the
    /// lookup. Activations in this process reach `active` once it is registered, so one more look is enough.
    /// - Parameter found: used if nothing is live: an installed release can be used without being live.
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

    /// Whether a release is in memory or can be loaded.
    private func canAnswer(_ release: ReleaseIdentity) async throws -> Bool {
        if cache.loaded.contains(release) || bundled.withLock({ $0[release] }) != nil { return true }
        do {
            return try await manager.store.installed(release) != nil
        } catch is StoreError {
            return false
        }
    }

    /// Unloads a family's engines as soon as no answer needs them. The next use loads again.
    public func retire(_ family: Family) {
        failed.withLock { $0[family] = nil }
        cache.retire { $0.family == family }
    }

    /// Unloads a family's engines and returns when they no longer use its files, or when the task is cancelled.
    /// Meanwhile, new requests fail with `model-unloading`; later ones load the model again.
    public func unload(_ family: Family) async {
        failed.withLock { $0[family] = nil }
        do {
            try await cache.drop { $0.family == family }
        } catch {
            retire(family)
        }
    }

    /// Stops loads, artifact builds and answers of installed releases, and background updates; no other starts.
    /// Returns when they have ended and their marks on the disk are removed, after `limit` at the latest, also in a
    /// cancelled task.
    ///
    /// Call it only before the app ends: installed releases answer no more. Before, the app cancels its own pulls,
    /// `checkForUpdates` and `activate` calls and waits for them. Bundled models keep answering: they leave no marks
    /// on the disk.
    public func stop(within limit: Duration = WatchedEngine.stopLimit) async { await files.stop(within: limit, time) }

    /// Swaps to an activated release, then to the live one if another activation was faster.
    private func becameLive(_ model: ModelAvailability) async throws {
        try await swap(to: model)
        guard let family = model.identity?.family, let active = models.withLock({ $0[family] }) else { return }
        do {
            try await follow(family, model, with: active)
        } catch {
            // The activated release serves; listeners were told about the other one.
            Log.write(.info, "live", "what else became live of \(family) is left for its next use: \(error)")
        }
    }

    /// Swaps to a release if the model is loaded; otherwise its next use looks up the live release.
    /// - Returns: whether the release serves now.
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
            // The model is being unloaded: its next use looks up the live release.
            return false
        } catch {
            if !(error is CancellationError) { failed.withLock { $0[release.family] = release } }
            throw error
        }
    }

    /// Records whether a release is bundled.
    private func note(_ model: ModelAvailability) {
        guard let identity = model.identity else { return }
        bundled.withLock { bundled in
            if case .bundled(let release) = model { bundled[identity] = release } else { bundled[identity] = nil }
        }
    }
}
