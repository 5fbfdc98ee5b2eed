import HearthCatalog
import HearthDelivery

/// Decides which release new requests get and how releases are swapped; ``ActiveModel`` carries out the decisions.
///
/// ```
///                     ┌────────── loadThenDrop ──────────> loading ── loaded ──────────────────┐
///                     │                                       └────── failed: the old serves on ┤
///     steady ─ swap ──┤                                                                         ├──> steady, or the
///                     │                                                          ┌── loaded ────┤    next swap
///                     └─ dropThenLoad ──> emptying ── emptied ──> filling ───────┤              │
///                        (callers wait)      └ cancelled: the old ┐              └── failed     │
///                                                serves on        │                     v       │
///                                                                 └────────────────> restoring ─┘
/// ```
/// During a swap, one more may wait; a third one supersedes it. Callers entering the old release count as its users,
/// so it is not unloaded before they have its engine.
struct SwapState: Sendable {
    typealias SwapID = UInt64
    typealias Caller = UInt64

    struct Swap: Sendable, Hashable {
        let id: SwapID
        let target: ReleaseIdentity
    }

    enum Phase: Sendable, Hashable {
        case steady
        /// The order of a new swap is being decided.
        case deciding(Swap)
        case loading(Swap)
        case emptying(Swap)
        case filling(Swap, before: ReleaseIdentity)
        case restoring(Swap, before: ReleaseIdentity)
    }

    enum Outcome: Sendable, Hashable {
        case swapped
        /// The release is live already.
        case unchanged
        case failed
        case cancelled
        /// A later swap replaced it before it began.
        case superseded
    }

    enum Effect: Hashable {
        /// Choose the order of this swap.
        case decide(Swap)
        /// Load this release and report the result. Keep it loaded until the next effects are carried out.
        case load(ReleaseIdentity)
        case cancelLoad
        /// Unload this release after its last use, then report that for this swap.
        case empty(ReleaseIdentity, SwapID)
        case cancelEmptying
        /// Unload this release after its last use, without waiting.
        case retire(ReleaseIdentity)
        /// Let these callers continue with that release.
        case admit([Caller], ReleaseIdentity)
        case finish(SwapID, Outcome)
    }

    enum Answer: Hashable {
        /// Continue with this release; report when you have its engine or failed to get it.
        case enter(ReleaseIdentity)
        case waits
        /// No release was ever live.
        case nothing
    }

    /// The release for new callers.
    private(set) var live: ReleaseIdentity?
    private(set) var phase = Phase.steady
    private(set) var next: Swap?
    private(set) var waiting: [Caller] = []
    /// The number of callers that were told a release and don't have its engine yet.
    private(set) var entering: [ReleaseIdentity: Int] = [:]
    /// Releases to retire once no caller is entering them.
    private var leaving: Set<ReleaseIdentity> = []
    /// Set while the live release is to be emptied once no caller is entering it.
    private var emptiesLater = false

    /// Whether callers are admitted.
    private var isOpen: Bool {
        switch phase {
        case .steady, .deciding, .loading: true
        case .emptying, .filling, .restoring: false
        }
    }

    /// The swap under way.
    var running: Swap? {
        switch phase {
        case .steady: nil
        case .deciding(let swap), .loading(let swap), .emptying(let swap), .filling(let swap, _),
            .restoring(let swap, _):
            swap
        }
    }

    init(live: ReleaseIdentity? = nil) { self.live = live }

    // MARK: Callers

    /// A caller asks for the live engine.
    mutating func ask(_ caller: Caller) -> Answer {
        // A caller may wait for the very first load.
        guard let live else {
            if phase == .steady { return .nothing }
            waiting.append(caller)
            return .waits
        }
        guard isOpen else {
            waiting.append(caller)
            return .waits
        }
        entering[live, default: 0] += 1
        return .enter(live)
    }

    /// Records that a caller got the engine of its release, or failed to.
    mutating func entered(_ release: ReleaseIdentity) -> [Effect] {
        guard let count = entering[release] else { return [] }
        entering[release] = count == 1 ? nil : count - 1
        guard count == 1 else { return [] }
        if emptiesLater, release == live, case .emptying(let swap) = phase {
            emptiesLater = false
            return [.empty(release, swap.id)]
        }
        return leaving.remove(release) == nil ? [] : [.retire(release)]
    }

    /// Removes a waiting caller.
    /// - Returns: whether it was waiting.
    mutating func withdraw(_ caller: Caller) -> Bool {
        guard let index = waiting.firstIndex(of: caller) else { return false }
        waiting.remove(at: index)
        return true
    }

    // MARK: Swaps

    /// Starts a swap, or queues it behind the running one.
    mutating func swap(_ swap: Swap) -> [Effect] {
        guard phase == .steady else {
            let earlier = next
            next = swap
            return earlier.map { [.finish($0.id, .superseded)] } ?? []
        }
        return begin(swap)
    }

    private mutating func begin(_ swap: Swap) -> [Effect] {
        if swap.target == live { return [.finish(swap.id, .unchanged)] + proceed() }
        // Keep a release that becomes live again before it is unloaded.
        leaving.remove(swap.target)
        phase = .deciding(swap)
        return [.decide(swap)]
    }

    /// Continues a swap in the chosen order.
    mutating func decided(_ order: SwapOrder) -> [Effect] {
        guard case .deciding(let swap) = phase else { return [] }
        guard order == .dropThenLoad, let live else {
            phase = .loading(swap)
            return [.load(swap.target)]
        }
        phase = .emptying(swap)
        if entering[live] != nil {
            emptiesLater = true
            return []
        }
        return [.empty(live, swap.id)]
    }

    /// Records that nothing of the old release is in memory.
    mutating func emptied(for id: SwapID) -> [Effect] {
        guard case .emptying(let swap) = phase, swap.id == id, let before = live else { return [] }
        phase = .filling(swap, before: before)
        return [.load(swap.target)]
    }

    /// Records that the requested load completed.
    mutating func loaded() -> [Effect] {
        switch phase {
        case .loading(let swap):
            let before = live
            live = swap.target
            let retired = before.map { retire($0) } ?? []
            return retired + admit() + [.finish(swap.id, .swapped)] + proceed()
        case .filling(let swap, _):
            live = swap.target
            return admit() + [.finish(swap.id, .swapped)] + proceed()
        case .restoring(let swap, _): return admit() + [.finish(swap.id, .failed)] + proceed()
        case .steady, .deciding, .emptying: return []
        }
    }

    /// Records that the requested load failed or was cancelled.
    mutating func loadFailed(isCancelled: Bool = false) -> [Effect] {
        switch phase {
        case .loading(let swap):
            // Admit waiting callers also without an old release: each tries to load, and gets the error.
            let told = admit(swap.target)
            return told + [.finish(swap.id, isCancelled ? .cancelled : .failed)] + proceed()
        case .filling(let swap, let before):
            phase = .restoring(swap, before: before)
            return [.load(before)]
        case .restoring(let swap, _):
            // The old release stays live: each caller tries to load it, and gets the error.
            return admit() + [.finish(swap.id, .failed)] + proceed()
        case .steady, .deciding, .emptying: return []
        }
    }

    /// Cancels a swap.
    mutating func cancel(_ id: SwapID) -> [Effect] {
        if next?.id == id {
            next = nil
            return [.finish(id, .cancelled)]
        }
        switch phase {
        case .deciding(let swap) where swap.id == id:
            return [.finish(id, .cancelled)] + proceed()
        case .emptying(let swap) where swap.id == id:
            let isWaiting = emptiesLater
            emptiesLater = false
            return (isWaiting ? [] : [.cancelEmptying]) + admit() + [.finish(id, .cancelled)] + proceed()
        case .loading(let swap) where swap.id == id, .filling(let swap, _) where swap.id == id:
            return [.cancelLoad]
        default: return []
        }
    }

    // MARK: Rules

    private mutating func retire(_ release: ReleaseIdentity) -> [Effect] {
        guard entering[release] != nil else { return [.retire(release)] }
        leaving.insert(release)
        return []
    }

    /// Admits all waiting callers.
    private mutating func admit(_ other: ReleaseIdentity? = nil) -> [Effect] {
        guard !waiting.isEmpty, let release = live ?? other else { return [] }
        defer { waiting = [] }
        entering[release, default: 0] += waiting.count
        return [.admit(waiting, release)]
    }

    private mutating func proceed() -> [Effect] {
        phase = .steady
        guard let swap = next else { return [] }
        next = nil
        return begin(swap)
    }
}
