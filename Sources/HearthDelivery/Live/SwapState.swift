/// Which release new requests get, and how one takes another's place: what ``ActiveModel`` carries out.
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
/// While a swap runs, one more may wait; a third takes the place of the second, which nobody needs any more. Callers on their
/// way in with the old release count as its users, so it is not dropped under them.
struct SwapState: Sendable {
    typealias SwapID = UInt64
    typealias Caller = UInt64

    struct Swap: Sendable, Hashable {
        let id: SwapID
        let target: ReleaseIdentity
    }

    enum Phase: Sendable, Hashable {
        case steady
        /// A swap begins; its order is being decided.
        case deciding(Swap)
        case loading(Swap)
        case emptying(Swap)
        case filling(Swap, before: ReleaseIdentity)
        case restoring(Swap, before: ReleaseIdentity)
    }

    enum Outcome: Sendable, Hashable {
        case swapped
        /// It serves already.
        case unchanged
        case failed
        case cancelled
        /// A later swap made it needless before it began.
        case superseded
    }

    enum Effect: Hashable {
        /// Say in which order this swap is to run.
        case decide(Swap)
        /// Load this, and say how that ended. It stays loaded until the next effects are carried out.
        case load(ReleaseIdentity)
        case cancelLoad
        /// Have this gone once its users are, and say so, for that swap.
        case empty(ReleaseIdentity, SwapID)
        case cancelEmptying
        /// Have this gone once its users are; nobody waits for that.
        case retire(ReleaseIdentity)
        /// These go on with that release.
        case admit([Caller], ReleaseIdentity)
        case finish(SwapID, Outcome)
    }

    enum Answer: Hashable {
        /// Go on with this release, and say when you have its engine, or failed to get it.
        case enter(ReleaseIdentity)
        case waits
        /// Nothing was ever made live.
        case nothing
    }

    /// What new callers get.
    private(set) var live: ReleaseIdentity?
    private(set) var phase = Phase.steady
    private(set) var next: Swap?
    private(set) var waiting: [Caller] = []
    /// Callers who were told a release and have not its engine yet.
    private(set) var entering: [ReleaseIdentity: Int] = [:]
    /// To be retired once nobody is on the way in.
    private var leaving: Set<ReleaseIdentity> = []
    /// The release to be emptied once nobody is on the way in.
    private var emptiesLater = false

    /// Whether callers are let in.
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

    /// Somebody wants the live engine.
    mutating func ask(_ caller: Caller) -> Answer {
        // The first load of all is worth waiting for.
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

    /// A caller got the engine of the release it was told, or failed to.
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

    /// A caller no longer waits.
    /// - Returns: whether it did.
    mutating func withdraw(_ caller: Caller) -> Bool {
        guard let index = waiting.firstIndex(of: caller) else { return false }
        waiting.remove(at: index)
        return true
    }

    // MARK: Swaps

    /// Somebody wants another release to be live.
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
        // A release that comes back before it went stays.
        leaving.remove(swap.target)
        phase = .deciding(swap)
        return [.decide(swap)]
    }

    /// The order of the swap that begins.
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

    /// Nothing of the old release is in memory any more.
    mutating func emptied(for id: SwapID) -> [Effect] {
        guard case .emptying(let swap) = phase, swap.id == id, let before = live else { return [] }
        phase = .filling(swap, before: before)
        return [.load(swap.target)]
    }

    /// The load that was asked for came to its end.
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

    /// The load that was asked for failed, or was cancelled.
    mutating func loadFailed(isCancelled: Bool = false) -> [Effect] {
        switch phase {
        case .loading(let swap):
            // Without an old one those who wait go on too, to learn why there is none.
            let told = admit(swap.target)
            return told + [.finish(swap.id, isCancelled ? .cancelled : .failed)] + proceed()
        case .filling(let swap, let before):
            phase = .restoring(swap, before: before)
            return [.load(before)]
        case .restoring(let swap, _):
            // It stays the live one: each caller tries to load it, and hears why that fails.
            return admit() + [.finish(swap.id, .failed)] + proceed()
        case .steady, .deciding, .emptying: return []
        }
    }

    /// Whoever asked for a swap no longer wants it.
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

    // MARK: The rules

    private mutating func retire(_ release: ReleaseIdentity) -> [Effect] {
        guard entering[release] != nil else { return [.retire(release)] }
        leaving.insert(release)
        return []
    }

    /// Lets those in who wait; each is then on its way in.
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
