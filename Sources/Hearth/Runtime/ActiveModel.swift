import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore

/// One model across its versions: each request gets the live release's engine, and swaps happen between requests.
///
/// ```swift
/// let model = ActiveModel(cache: cache, live: installed.identity, bytes: size)
/// let lease = try await model.lease()      // loads the live release's engine if needed
/// answer(with: lease.engine)
/// lease.end()
/// try await model.swap(to: newer, bytes: newSize)
/// ```
/// Requests in progress finish on their engine, which is unloaded after its last lease. The free memory decides
/// whether both versions are in memory for a while, or the old one is unloaded first while new requests wait. If the
/// new one cannot be loaded, the old one keeps serving. ``SwapState`` makes the decisions.
public actor ActiveModel<Engine: Sendable> {
    /// The cache that holds the engines.
    public nonisolated let cache: ModelCache<Engine>
    private let freeMemory: @Sendable () -> UInt64?
    private(set) var swapState: SwapState
    private var sizes: [ReleaseIdentity: UInt64] = [:]
    private var callers: [SwapState.Caller: CheckedContinuation<ReleaseIdentity, any Error>] = [:]
    private var swaps: [SwapState.SwapID: CheckedContinuation<SwapState.Outcome, Never>] = [:]
    private var failures: [SwapState.SwapID: any Error] = [:]
    private var load: Task<Void, Never>?
    private var emptying: Task<Void, Never>?
    private var lastNumber: UInt64 = 0

    /// A model over a cache. Nothing is loaded before the first request.
    /// - Parameters:
    ///   - live: the release that serves now, `nil` before the first swap.
    ///   - bytes: an estimate of its engine's memory.
    ///   - freeMemory: the available memory in bytes, `nil` if unknown. Blocks at most to read a few small files.
    public init(
        cache: ModelCache<Engine>, live: ReleaseIdentity? = nil, bytes: UInt64 = 0,
        freeMemory: @escaping @Sendable () -> UInt64?
    ) {
        self.cache = cache
        self.freeMemory = freeMemory
        swapState = SwapState(live: live)
        if let live { sizes[live] = bytes }
    }

    /// The release that new requests get.
    public var live: ReleaseIdentity? { swapState.live }

    // MARK: Leases

    /// Leases the engine of the live release. Waits for its load, or for a swap that must free memory first.
    /// - Throws: `StoreError` with `no-active-release` before the first swap; errors of the load;
    ///   `CancellationError`.
    public func lease() async throws -> EngineLease<Engine> {
        let release = try await enter()
        defer { carryOut(swapState.entered(release)) }
        return try await cache.lease(release, bytes: sizes[release] ?? 0)
    }

    private func enter() async throws -> ReleaseIdentity {
        try Task.checkCancellation()
        let caller = nextNumber()
        switch swapState.ask(caller) {
        case .enter(let release): return release
        case .nothing: throw StoreError(.noActiveRelease, "no release of this model is live yet")
        case .waits: break
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { callers[caller] = $0 }
        } onCancel: {
            Task { await self.leave(caller) }
        }
    }

    private func leave(_ caller: SwapState.Caller) {
        // A caller that was just admitted continues, and checks for its cancellation there.
        guard swapState.withdraw(caller) else { return }
        callers.removeValue(forKey: caller)?.resume(throwing: CancellationError())
    }

    // MARK: Swaps

    /// The result of a swap that did not fail.
    public enum SwapOutcome: Sendable, Hashable {
        case swapped
        /// The release was live already.
        case unchanged
        /// A later swap replaced this one before it began.
        case superseded
    }

    /// Makes a release live for new requests. One swap runs at a time; of those waiting, only the newest is kept.
    /// - Parameter bytes: an estimate of its engine's memory.
    /// - Throws: errors of the load, and `CancellationError`; the old release keeps serving then.
    @discardableResult
    public func swap(to release: ReleaseIdentity, bytes: UInt64) async throws -> SwapOutcome {
        try Task.checkCancellation()
        let id = nextNumber()
        sizes[release] = bytes
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                swaps[id] = continuation
                carryOut(swapState.swap(SwapState.Swap(id: id, target: release)))
            }
        } onCancel: {
            Task { await self.cancel(id) }
        }
        let failure = failures.removeValue(forKey: id)
        let known = [swapState.live, swapState.running?.target, swapState.next?.target]
        sizes = sizes.filter { known.contains($0.key) }
        switch outcome {
        case .swapped: return .swapped
        case .unchanged: return .unchanged
        case .superseded: return .superseded
        case .cancelled: throw CancellationError()
        case .failed: throw failure ?? CancellationError()
        }
    }

    private func cancel(_ id: SwapState.SwapID) { carryOut(swapState.cancel(id)) }

    // MARK: Effects

    private func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    private func carryOut(_ effects: [SwapState.Effect]) {
        for effect in effects { carryOut(effect) }
    }

    private func carryOut(_ effect: SwapState.Effect) {
        switch effect {
        case .decide(let swap):
            let plan = SwapPlan(
                neededBytes: sizes[swap.target] ?? 0, freeBytes: freeMemory(), budgetBytes: cache.freeBytes)
            carryOut(swapState.decided(plan.order))
        case .load(let release): load = Task { await self.bring(release) }
        case .cancelLoad: load?.cancel()
        case .empty(let release, let id): emptying = Task { await self.empty(release, for: id) }
        case .cancelEmptying: emptying?.cancel()
        case .retire(let release): cache.retire(release)
        case .admit(let admitted, let release):
            for caller in admitted { callers.removeValue(forKey: caller)?.resume(returning: release) }
        case .finish(let id, let outcome): swaps.removeValue(forKey: id)?.resume(returning: outcome)
        }
    }

    private func bring(_ release: ReleaseIdentity) async {
        do {
            // Hold the lease until new callers are sent to the release, so that it is not unloaded before.
            let lease = try await cache.lease(release, bytes: sizes[release] ?? 0)
            carryOut(swapState.loaded())
            lease.end()
        } catch {
            if let swap = swapState.running { failures[swap.id] = failures[swap.id] ?? error }
            carryOut(swapState.loadFailed(isCancelled: error is CancellationError))
        }
    }

    private func empty(_ release: ReleaseIdentity, for id: SwapState.SwapID) async {
        do {
            try await cache.drop(release)
            carryOut(swapState.emptied(for: id))
        } catch {
            // The swap was cancelled; its result does not depend on the load.
        }
    }
}
