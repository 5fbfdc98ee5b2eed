import HearthBase

/// The engines in memory, by release: each loaded once however many ask for it, and kept for the next one who does.
///
/// ```swift
/// let cache = ModelCache(budget: 4 << 30, load: { try await open($0) }, unload: { await $0.unload() })
/// let lease = try await cache.lease(release, bytes: size)
/// answer(with: lease.engine)
/// lease.end()
/// ```
/// An engine nobody uses goes when another needs its room, when memory gets short, or when it is dropped; one with a lease
/// never does. What may happen when is decided by ``CacheState``; this carries it out.
public final class ModelCache<Engine: Sendable>: Sendable {
    private typealias Continuation = CheckedContinuation<EngineLease<Engine>, any Error>

    private struct Core: Sendable {
        var state: CacheState
        var engines: [CacheState.Slot: (release: ReleaseIdentity, engine: Engine)] = [:]
        var loads: [CacheState.Slot: Task<Void, Never>] = [:]
        var waiters: [CacheState.Waiter: Continuation] = [:]
        var watchers: [CacheState.Watcher: CheckedContinuation<Void, any Error>] = [:]
        /// Those whose cancellation came before their question, or after their answer.
        var cancelled: Set<UInt64> = []
        var lastNumber: UInt64 = 0
        /// What is being dropped, all that is meant of it: nobody new gets any of it meanwhile.
        var leaving: [UInt64: @Sendable (ReleaseIdentity) -> Bool] = [:]
    }

    private let core: Locked<Core>
    private let load: @Sendable (ReleaseIdentity) async throws -> LoadedEngine<Engine>
    private let unload: @Sendable (ReleaseIdentity, Engine) async -> Void

    /// An empty cache.
    /// - Parameters:
    ///   - budget: the bytes loaded engines may take together; idle ones go to stay within it. What is in use may exceed it.
    ///   - load: opens the engine of a release; cancelled when nobody waits for it any more.
    ///   - unload: gives an engine's memory back; called once for every engine that was loaded, after its last use.
    public init(
        budget: UInt64, load: @escaping @Sendable (ReleaseIdentity) async throws -> LoadedEngine<Engine>,
        unload: @escaping @Sendable (ReleaseIdentity, Engine) async -> Void
    ) {
        core = Locked(Core(state: CacheState(budget: budget)))
        self.load = load
        self.unload = unload
    }

    deinit {
        // No lease is left, as each holds the cache. What is still loaded is given back like any other engine.
        let engines = core.withLock { core in
            defer { core.engines = [:] }
            return Array(core.engines.values)
        }
        let unload = unload
        for (release, engine) in engines { Task { await unload(release, engine) } }
    }

    // MARK: Using

    /// The engine of a release, loaded if it is not; others who ask meanwhile wait for the same load.
    /// - Parameter bytes: about what it takes in memory, for the budget.
    /// - Throws: what loading throws; ``DeliveryError`` with `model-unloading` during ``drop(where:)``; `CancellationError`, after
    ///   which the load goes on only if others wait for it.
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
                // It has its answer, or has not asked yet.
                core.cancelled.insert(waiter)
                return []
            }
            continuation = core.waiters.removeValue(forKey: waiter)
            return effects
        }
        continuation?.resume(throwing: CancellationError())
    }

    // MARK: Letting go

    /// Has the engine of a release unloaded as soon as nobody uses it.
    public func retire(_ release: ReleaseIdentity) { change { $0.state.retire(release) } }

    /// Has the engine of a release unloaded as soon as nobody uses it, those included who come meanwhile, and returns when its
    /// memory is free.
    /// - Throws: `CancellationError`; the engine stays then, if it has not gone yet.
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

    /// Has the engines of all releases that are meant unloaded as soon as nobody uses them, also those on their way in.
    public func retire(where isMeant: (ReleaseIdentity) -> Bool) {
        for release in present.filter(isMeant) { retire(release) }
    }

    /// The same, and returns when none of them is in memory any more, nor on its way in or out: whoever asked before is served
    /// first, and whoever asks meanwhile is refused.
    /// - Throws: `CancellationError`; those that have not gone yet may stay then.
    public func drop(where isMeant: @escaping @Sendable (ReleaseIdentity) -> Bool) async throws {
        let number = nextNumber()
        core.withLock { $0.leaving[number] = isMeant }
        defer { core.withLock { _ = $0.leaving.removeValue(forKey: number) } }
        while case let meant = present.filter(isMeant), !meant.isEmpty {
            // All at once, and waited for one by one.
            for release in meant { retire(release) }
            for release in meant { try await drop(release) }
        }
    }

    /// What is in memory, on its way in or on its way out.
    private var present: [ReleaseIdentity] { core.withLock { Array($0.state.entries.keys) } }

    /// Gives idle engines up until `bytes` are won back, the longest unused first; all of them unless said otherwise.
    public func dropIdle(_ bytes: UInt64 = .max) { change { $0.state.relieve(bytes) } }

    // MARK: Looking

    /// What is loaded now, also what is about to go.
    public var loaded: Set<ReleaseIdentity> { core.withLock { Set($0.engines.values.map(\.release)) } }

    /// The bytes of what is in memory, on its way in or on its way out.
    public var usedBytes: UInt64 { core.withLock { $0.state.usedBytes } }

    /// The bytes that may still be loaded within the budget.
    public var freeBytes: UInt64 {
        core.withLock { $0.state.budget - min($0.state.budget, $0.state.usedBytes) }
    }

    // MARK: Carrying out

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

    /// Changes the state, and does what follows from that after unlocking.
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
            // From here on nobody can reach it.
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
            // Whoever wanted it may have left since the load was decided on.
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
