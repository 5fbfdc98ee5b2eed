import HearthBase

/// One model through all its versions: whoever asks gets the engine of the live release, and a new release takes the old
/// one's place without anybody noticing.
///
/// ```swift
/// let model = ActiveModel(cache: cache, live: installed.identity, bytes: size)
/// let lease = try await model.lease()      // the engine of the live release, loaded if it is not
/// answer(with: lease.engine)
/// lease.end()
/// try await model.swap(to: newer, bytes: newSize)
/// ```
/// Requests under way finish on the engine they began with; it is unloaded when its last lease ends, and not before. Whether
/// both versions are in memory for a while, or the old one goes first while new requests wait, is chosen by the memory that is
/// free. Where the new one cannot be loaded, the old one serves on. The rules are ``SwapState``'s; this carries them out.
public actor ActiveModel<Engine: Sendable> {
    /// Where the engines are.
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

    /// A model whose engines `cache` holds; nothing is loaded before somebody asks.
    /// - Parameters:
    ///   - live: the release that serves now, `nil` until the first swap.
    ///   - bytes: about what its engine takes in memory.
    ///   - freeMemory: the bytes that could be taken now without harm, `nil` where nobody knows. Blocks at most for the reading
    ///     of a few small files.
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

    // MARK: Using

    /// The engine of the live release. Waits while it is loaded, or while a swap has to empty the memory first.
    /// - Throws: `StoreError` with `no-active-release` before the first swap; what loading throws; `CancellationError`.
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
        // Who was let in a moment ago goes on, and notices its cancellation there.
        guard swapState.withdraw(caller) else { return }
        callers.removeValue(forKey: caller)?.resume(throwing: CancellationError())
    }

    // MARK: Swapping

    /// How a swap ended that did not fail.
    public enum SwapOutcome: Sendable, Hashable {
        case swapped
        /// The release served already.
        case unchanged
        /// A later swap made this one needless before it began.
        case superseded
    }

    /// Makes another release the one that new requests get. One swap runs at a time; the newest of those that wait is next.
    /// - Parameter bytes: about what its engine takes in memory.
    /// - Throws: what loading throws, and `CancellationError`; the old release serves on then.
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

    // MARK: Carrying out

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
            // Held until new callers are sent to it, so that it does not go before the first of them comes.
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
            // The swap was cancelled, and its end does not depend on this one's.
        }
    }
}
