import HearthBase
import HearthCatalog
import HearthDelivery

/// Engines in memory by release: each is loaded once, shared by its requests and kept for later ones.
///
/// ```swift
/// let cache = ModelCache(budget: 4 << 30, load: { try await open($0) }, unload: { await $0.unload() })
/// let lease = try await cache.lease(release, bytes: size)
/// answer(with: lease.engine)
/// lease.end()
/// ```
/// An idle engine is unloaded when another needs its memory, when memory is short, or when it is dropped; an engine
/// with a lease never is. ``CacheState`` makes the decisions.
public final class ModelCache<Engine: Sendable>: Sendable {
    private typealias Continuation = CheckedContinuation<EngineLease<Engine>, any Error>

    private struct Core: Sendable {
        var state: CacheState
        var engines: [CacheState.Slot: (release: ReleaseIdentity, engine: Engine)] = [:]
        var loads: [CacheState.Slot: Task<Void, Never>] = [:]
        var waiters: [CacheState.Waiter: Continuation] = [:]
        var watchers: [CacheState.Watcher: CheckedContinuation<Void, any Error>] = [:]
        /// Waiters cancelled before they asked, or after their answer.
        var cancelled: Set<UInt64> = []
        var lastNumber: UInt64 = 0
        /// The releases of each active drop, for which new requests are refused.
        var leaving: [UInt64: @Sendable (ReleaseIdentity) -> Bool] = [:]
    }

    private let core: Locked<Core>
    private let load: @Sendable (ReleaseIdentity) async throws -> LoadedEngine<Engine>
    private let unload: @Sendable (ReleaseIdentity, Engine) async -> Void

    /// An empty cache.
    /// - Parameters:
    ///   - budget: the bytes for all loaded engines, kept by unloading idle ones. Engines in use may exceed it.
    ///   - load: opens the engine of a release; cancelled when no request waits for it any more.
    ///   - unload: frees an engine's memory; called once for every loaded engine, after its last use.
    public init(
        budget: UInt64, load: @escaping @Sendable (ReleaseIdentity) async throws -> LoadedEngine<Engine>,
        unload: @escaping @Sendable (ReleaseIdentity, Engine) async -> Void
    ) {
        core = Locked(Core(state: CacheState(budget: budget)))
        self.load = load
        self.unload = unload
    }

    deinit {
        // Leases hold the cache, so none is left; unload the remaining engines.
        let engines = core.withLock { core in
            defer { core.engines = [:] }
            return Array(core.engines.values)
        }
        let unload = unload
        for (release, engine) in engines { Task { await unload(release, engine) } }
    }

    // MARK: Leases

    /// Leases a release's engine, loading it if needed; concurrent requests share the load.
    /// - Parameter bytes: an estimate of its memory, for the budget.
    /// - Throws: errors of the load; `DeliveryError` with `model-unloading` during ``drop(where:)``;
    ///   `CancellationError`, after which the load continues only if others wait for it.
    public func lease(_ release: ReleaseIdentity, bytes: UInt64) async throws -> EngineLease<Engine> {
        try Task.checkCancellation()
        let waiter = nextNumber()
        defer { core.withLock { _ = $0.cancelled.remove(waiter) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Continuation) in
                var refusal: (any Error)?
                change { core in
                    if core.cancelled.contains(waiter) { refusal = CancellationError() }
                    if core.leaving.values.contains(where: { $0(release) }) { refusal = Self.unloading(release) }
                    if refusal != nil { return [] }
                    let (answer, effects) = core.state.take(release, bytes: bytes, for: waiter)
                    core.waiters[waiter] = continuation
                    if case .granted(let slot) = answer { return [.grant([waiter], slot)] + effects }
                    return effects
                }
                if let refusal { continuation.resume(throwing: refusal) }
            }
        } onCancel: {
            cancel(waiter)
        }
    }

    private static func unloading(_ release: ReleaseIdentity) -> DeliveryError {
        DeliveryError(
            .modelUnloading, "\(release) is being unloaded",
            context: ErrorContext(model: release.description, remedy: "Ask again when that is done."),
            disposition: .tryLater)
    }

    private func cancel(_ waiter: CacheState.Waiter) {
        var continuation: Continuation?
        change { core in
            guard let effects = core.state.withdraw(waiter) else {
                // The waiter has its answer, or has not asked yet.
                core.cancelled.insert(waiter)
                return []
            }
            continuation = core.waiters.removeValue(forKey: waiter)
            return effects
        }
        continuation?.resume(throwing: CancellationError())
    }

    // MARK: Unloading

    /// Unloads a release's engine after its last lease.
    public func retire(_ release: ReleaseIdentity) { change { $0.state.retire(release) } }

    /// Unloads a release's engine after its last lease, including new ones, and returns when its memory is free.
    /// - Throws: `CancellationError`; the engine stays unless it was unloaded already.
    public func drop(_ release: ReleaseIdentity) async throws {
        let watcher = nextNumber()
        defer { core.withLock { _ = $0.cancelled.remove(watcher) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                var isCancelled = false
                change { core in
                    isCancelled = core.cancelled.contains(watcher)
                    if isCancelled { return [] }
                    core.watchers[watcher] = continuation
                    if core.state.watch(release, watcher) { return [.gone([watcher])] }
                    return core.state.retire(release)
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            var continuation: CheckedContinuation<Void, any Error>?
            change { core in
                guard core.state.unwatch(watcher) else {
                    core.cancelled.insert(watcher)
                    return []
                }
                core.state.keep(release)
                continuation = core.watchers.removeValue(forKey: watcher)
                return []
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Unloads the engines of matching releases after their last leases, also those being loaded.
    public func retire(where isMeant: (ReleaseIdentity) -> Bool) {
        for release in present.filter(isMeant) { retire(release) }
    }

    /// Unloads the engines of matching releases and returns when none is in memory, loading or unloading. Earlier
    /// requests are served first; new ones are refused meanwhile.
    /// - Throws: `CancellationError`; engines that were not unloaded yet may stay then.
    public func drop(where isMeant: @escaping @Sendable (ReleaseIdentity) -> Bool) async throws {
        let number = nextNumber()
        core.withLock { $0.leaving[number] = isMeant }
        defer { core.withLock { _ = $0.leaving.removeValue(forKey: number) } }
        while case let meant = present.filter(isMeant), !meant.isEmpty {
            // Retire all of them before waiting for each.
            for release in meant { retire(release) }
            for release in meant { try await drop(release) }
        }
    }

    /// Releases that are loaded, loading or unloading.
    private var present: [ReleaseIdentity] { core.withLock { Array($0.state.entries.keys) } }

    /// Unloads idle engines, the least recently used first, until `bytes` are freed; by default all of them.
    public func dropIdle(_ bytes: UInt64 = .max) { change { $0.state.relieve(bytes) } }

    /// Unloads idle engines if memory is short. Engines with a lease stay.
    /// - Returns: the time until the next check.
    public func relieve(_ source: any MemoryPressureSource) async -> Duration {
        do {
            let shortage = try await blocking { source.read().shortage }
            if shortage > 0 { dropIdle(shortage) }
        } catch {
            Log.write(.error, "live", "\(error)")  // reading throws nothing
        }
        return .seconds(2)
    }

    // MARK: Lookup

    /// The loaded releases, also those about to be unloaded.
    public var loaded: Set<ReleaseIdentity> { core.withLock { Set($0.engines.values.map(\.release)) } }

    /// The memory of engines that are loaded, loading or unloading, in bytes.
    public var usedBytes: UInt64 { core.withLock { $0.state.usedBytes } }

    /// The remaining budget, in bytes.
    public var freeBytes: UInt64 {
        core.withLock { $0.state.budget - min($0.state.budget, $0.state.usedBytes) }
    }

    // MARK: Effects

    private enum Action: Sendable {
        case grant(Continuation, EngineLease<Engine>)
        case load(ReleaseIdentity, CacheState.Slot)
        case cancel(Task<Void, Never>)
        case unload(ReleaseIdentity, Engine, CacheState.Slot)
        case fail(Continuation, any Error)
        case gone(CheckedContinuation<Void, any Error>)
    }

    private func nextNumber() -> UInt64 {
        core.withLock { core in
            core.lastNumber += 1
            return core.lastNumber
        }
    }

    /// Changes the state and carries out the effects after unlocking.
    private func change(error: (any Error)? = nil, _ body: (inout Core) -> [CacheState.Effect]) {
        let due = core.withLock { core in
            body(&core).flatMap { actions(for: $0, in: &core, error: error) }
        }
        for action in due { perform(action) }
    }

    private func actions(for effect: CacheState.Effect, in core: inout Core, error: (any Error)?) -> [Action] {
        switch effect {
        case .load(let release, let slot): return [.load(release, slot)]
        case .cancelLoad(let slot): return core.loads[slot].map { [.cancel($0)] } ?? []
        case .unload(let slot):
            // From here on no caller can reach the engine.
            guard let (release, engine) = core.engines.removeValue(forKey: slot) else { return [] }
            return [.unload(release, engine, slot)]
        case .grant(let waiters, let slot):
            guard let (release, engine) = core.engines[slot] else { return [] }
            return waiters.compactMap { waiter in
                core.waiters.removeValue(forKey: waiter).map { continuation in
                    let lease = EngineLease(release, engine) { self.change { $0.state.giveBack(slot) } }
                    return .grant(continuation, lease)
                }
            }
        case .fail(let waiters, _):
            return waiters.compactMap { waiter in
                core.waiters.removeValue(forKey: waiter).map { .fail($0, error ?? CancellationError()) }
            }
        case .gone(let watchers):
            return watchers.compactMap { core.watchers.removeValue(forKey: $0).map { .gone($0) } }
        }
    }

    private func perform(_ action: Action) {
        switch action {
        case .grant(let continuation, let lease): continuation.resume(returning: lease)
        case .fail(let continuation, let error): continuation.resume(throwing: error)
        case .gone(let continuation): continuation.resume()
        case .cancel(let task): task.cancel()
        case .unload(let release, let engine, let slot):
            Task {
                await unload(release, engine)
                change { $0.state.ended(slot) }
            }
        case .load(let release, let slot): begin(release, slot)
        }
    }

    private func begin(_ release: ReleaseIdentity, _ slot: CacheState.Slot) {
        core.withLock { core in
            let task = Task { await self.bring(release, slot) }
            core.loads[slot] = task
            // The waiters may have left after the load was decided.
            if core.state.isEnding(slot) { task.cancel() }
        }
    }

    private func bring(_ release: ReleaseIdentity, _ slot: CacheState.Slot) async {
        do {
            let loaded = try await load(release)
            change { core in
                core.loads[slot] = nil
                core.engines[slot] = (release, loaded.engine)
                return core.state.loaded(slot, bytes: loaded.bytes)
            }
        } catch {
            change(error: error) { core in
                core.loads[slot] = nil
                return core.state.failed(slot)
            }
        }
    }
}
