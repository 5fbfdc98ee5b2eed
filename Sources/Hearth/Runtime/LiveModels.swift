import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore
import HearthTransfer

/// One family across its versions.
final class LiveFamily: Sendable {
    struct State: Sendable {
        /// The release that serves new requests.
        var serving: ReleaseIdentity
        /// The requests and swaps in progress. While there are any, a new live release is loaded for them.
        var users = 0
        /// A live release that could not be loaded.
        var failed: ReleaseIdentity?
    }

    let family: Family
    /// The lookup of the live release with its load or swap: one at a time.
    let turn = TurnQueue()
    let state: Locked<State>

    init(_ release: ReleaseIdentity) {
        family = release.family
        state = Locked(State(serving: release))
    }

    var serving: ReleaseIdentity { state.withLock { $0.serving } }

    /// Counts as a user during `body`.
    func using<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        state.withLock { $0.users += 1 }
        defer { state.withLock { $0.users -= 1 } }
        return try await body()
    }
}

/// The models of an app, loaded on first use and kept up to date: joins delivery and engines.
///
/// A new live release replaces the old one in memory: answers in progress end on the old one, later ones use the new
/// one, then `onReady` is called. If there is no room for both, the old one leaves first, and new requests wait. While
/// a release is loaded, no process deletes its files.
///
/// If a new release cannot be loaded, the old one keeps answering and `ModelEvent.swapFailed` is sent. The load is
/// tried again after an activation, when `loadStored()` finds the release, and after the family was unloaded, not at
/// every use.
package final class LiveModels: Sendable {
    /// The manager that delivers releases.
    package let manager: ModelManager
    /// The engines in memory, of all families.
    package let pool: EnginePool

    private let files: EngineFiles
    let time: TimeSource
    private let families = Locked<[Family: LiveFamily]>([:])
    private let registration: Locked<Task<Void, Never>?>
    private let watch: Task<Void, Never>

    /// The models of a manager.
    /// - Parameters:
    ///   - memory: the ledger of engines, by default of the manager's device memory.
    ///   - pressure: reports when memory is short; idle engines are unloaded then.
    ///   - time: the clock for checks of memory pressure.
    package init(
        manager: ModelManager, engines: EngineRegistry = .standard, configuration: Configuration = Configuration(),
        memory: EngineMemory? = nil, pressure: any MemoryPressureSource = SystemMemoryPressure(),
        time: TimeSource = .system
    ) {
        self.manager = manager
        self.time = time
        let memory =
            memory ?? EngineMemory(deviceMemory: manager.deviceMemory) { pressure.read().availableBytes }
        let files = EngineFiles(
            manager: manager, engines: engines, configuration: configuration, memory: memory)
        self.files = files
        let pool = EnginePool(memory: memory) { try await files.prepare($0) }
        self.pool = pool
        watch = Task { [weak pool] in
            // A strong reference would keep the pool alive.
            while let interval = await pool?.relieve(pressure) {
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
    /// - Throws: as `ModelManager.model`. If another release has replaced a loaded one, also the errors of its load,
    ///   unless the replaced release can still answer.
    package func model(
        _ family: Family, policy: ModelPolicy = .localWithBackgroundUpdate, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> LiveModel {
        await registration.withLock { $0 }?.value
        let found = try await manager.model(family, policy: policy, options: options, progress: progress)
        guard let release = found.identity else {
            throw StoreError(.notInstalled, "\(family) is not installed", context: ErrorContext(model: family.name))
        }
        note(found)
        let line = families.withLock { families in
            let line = families[family] ?? LiveFamily(release)
            families[family] = line
            return line
        }
        if isWanted(line) { try await line.turn.turnUnlessCancelled { try await follow(line, found) } }
        return LiveModel(models: self, line: line)
    }

    /// Leases the live engine. A loaded model follows every activation in this process; before a load, the disk is
    /// asked, because another process may have changed or removed the live release.
    func lease(
        _ line: LiveFamily, room: EnginePool.Room, progress: @escaping @Sendable (Float) -> Void
    ) async throws -> EngineLease {
        try await line.using {
            if let lease = try pool.leaseIfLoaded(.release(line.serving)) { return lease }
            return try await line.turn.turnUnlessCancelled {
                if let lease = try pool.leaseIfLoaded(.release(line.serving)) { return lease }
                try await follow(line, progress: progress)
                return try await pool.lease(.release(line.serving), room: room, progress: progress)
            }
        }
    }

    /// The release that the next lease gets if it can be loaded.
    func release(_ line: LiveFamily) async -> ReleaseIdentity {
        let serving = line.serving
        if isWanted(line) { return serving }
        do {
            guard let release = try await manager.availability(of: line.family).identity else { return serving }
            return line.state.withLock { $0.failed } == release ? serving : release
        } catch {
            Log.write(.info, "live", "the live release of \(line.family) cannot be read: \(error)")
            return serving
        }
    }

    /// Whether a model is in memory or has users. Otherwise its first use looks up the live release.
    private func isWanted(_ line: LiveFamily) -> Bool {
        line.state.withLock { $0.users > 0 } || pool.holds(.release(line.serving))
    }

    // MARK: Swaps, in the family's turn

    /// Swaps to the live release, unless its load has failed before.
    /// - Parameter found: used if nothing is live: an installed release can be used without being live.
    private func follow(
        _ line: LiveFamily, _ found: ModelAvailability = .none,
        progress: @escaping @Sendable (Float) -> Void = { _ in }
    ) async throws {
        let now = try await manager.availability(of: line.family)
        let wanted = now == .none ? found : now
        note(wanted)
        let (serving, failed) = line.state.withLock { ($0.serving, $0.failed) }
        guard let release = wanted.identity, serving != release else { return }
        if failed == release, try await canAnswer(serving) { return }
        do {
            try await swap(line, to: release, progress: progress)
        } catch {
            try Task.checkCancellation()
            if error is CancellationError { throw error }
            await manager.couldNotLoad(wanted, error)
            guard try await canAnswer(serving) else { throw error }
        }
    }

    /// Swaps a wanted model to the release that became live, or to the live one if another activation was faster.
    private func becameLive(_ model: ModelAvailability) async throws {
        guard let family = model.identity?.family, let line = families.withLock({ $0[family] }) else { return }
        try await line.turn.turnUnlessCancelled {
            guard isWanted(line) else { return line.state.withLock { $0.failed = nil } }
            var wanted = model
            do {
                let now = try await manager.availability(of: family)
                if now != .none { wanted = now }
            } catch {
                Log.write(.info, "live", "the live release of \(family) cannot be read: \(error)")
            }
            note(wanted)
            guard let release = wanted.identity, release != line.serving else { return }
            try await swap(line, to: release)
        }
    }

    /// Loads a release and has it serve new requests; the old one leaves after its last request.
    private func swap(
        _ line: LiveFamily, to release: ReleaseIdentity, progress: @escaping @Sendable (Float) -> Void = { _ in }
    ) async throws {
        let old = EngineSource.release(line.serving)
        do {
            let lease = try await line.using {
                try await pool.lease(.release(release), replacing: old, progress: progress)
            }
            line.state.withLock { ($0.serving, $0.failed) = (release, nil) }
            if pool.isKept(old) { pool.keep(.release(release)) }
            pool.retire { $0 == old }
            lease.end()
        } catch let error as DeliveryError where error.code == .modelUnloading {
            // The model is being unloaded: its next use looks up the live release.
        } catch {
            if !(error is CancellationError) { line.state.withLock { $0.failed = release } }
            throw error
        }
    }

    /// Whether a release is in memory or can be loaded.
    private func canAnswer(_ release: ReleaseIdentity) async throws -> Bool {
        if pool.holds(.release(release)) || files.bundled.withLock({ $0[release] }) != nil { return true }
        do {
            return try await manager.store.installed(release) != nil
        } catch is StoreError {
            return false
        }
    }

    /// Records whether a release is bundled.
    private func note(_ model: ModelAvailability) {
        guard let identity = model.identity else { return }
        files.bundled.withLock { bundled in
            if case .bundled(let release) = model { bundled[identity] = release } else { bundled[identity] = nil }
        }
    }

    // MARK: Unloading

    /// Unloads a family's engines as soon as no answer needs them. The next use loads again.
    package func retire(_ family: Family) {
        forgetFailure(of: family)
        pool.retire { $0.release?.family == family }
    }

    /// Unloads a family's engines and returns when they no longer use its files, or when the task is cancelled.
    /// Meanwhile, new requests fail with `model-unloading`; later ones load the model again.
    package func unload(_ family: Family) async {
        forgetFailure(of: family)
        do {
            try await pool.drop { $0.release?.family == family }
        } catch {
            // The cancelled task does not wait, and the engines leave all the same.
        }
    }

    private func forgetFailure(of family: Family) {
        families.withLock { $0[family] }?.state.withLock { $0.failed = nil }
    }

    /// Stops loads, artifact builds and answers of installed releases, and background updates; no other starts.
    /// Returns when they have ended and their marks on the disk are removed, after `limit` at the latest, also in a
    /// cancelled task.
    ///
    /// Call it only before the app ends: installed releases answer no more. Before, the app cancels its own pulls,
    /// `checkForUpdates` and `activate` calls and waits for them. Bundled models keep answering: they leave no marks
    /// on the disk.
    /// - Parameter unloading: whether to unload all engines as well, which saves computed states.
    package func stop(within limit: Duration = .seconds(5), unloading: Bool = false) async {
        await files.stop(within: limit, time)
        guard unloading else { return }
        let end = Task { [pool] in
            do { try await pool.drop { _ in true } } catch {}  // only a cancelled task throws
        }
        await files.finish(end, within: limit, time)
    }
}
