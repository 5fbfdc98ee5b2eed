/// Which engines are in memory, who uses them, and which may go: what ``ModelCache`` carries out.
///
/// ```
///                 take                 loaded
///     absent ────────────> loading ────────────> loaded: in use <───> loaded: idle
///       ^                     │ failed, or           give back / take      │ no room, memory pressure, or dropped
///       │                     │ nobody waits any more                      v
///       └─────────────────────┴──────────────────────────────────────── ending ──> loading, if somebody waits again
/// ```
/// An engine goes only when nobody holds a lease on it, and each engine once. A slot is one engine: it never comes back.
struct CacheState: Sendable {
    /// One engine, from the beginning of its load to the end of its unloading.
    typealias Slot = UInt64
    /// Somebody who waits for an engine.
    typealias Waiter = UInt64
    /// Somebody who waits until an engine is gone.
    typealias Watcher = UInt64

    /// What is to be done, in this order.
    enum Effect: Hashable {
        case load(ReleaseIdentity, Slot)
        case cancelLoad(Slot)
        case unload(Slot)
        /// These have a lease on a slot's engine now.
        case grant([Waiter], Slot)
        /// The load of a slot failed for these.
        case fail([Waiter], Slot)
        /// What these waited to see gone is gone.
        case gone([Watcher])
    }

    enum Answer: Hashable {
        case granted(Slot)
        case waits
    }

    struct Entry: Sendable {
        enum Phase: Sendable, Hashable {
            /// Wanted, and held back until what has to make room for it is gone.
            case waitingForRoom
            case loading
            case loaded
            /// Being unloaded, or a load that nobody waits for any more.
            case ending
        }

        var slot: Slot
        var phase: Phase
        var waiters: [Waiter] = []
        var watchers: [Watcher] = []
        var leases = 0
        /// What it takes: the estimate before the load, the engine's own word after it.
        var bytes: UInt64
        /// When it was last used, in calls.
        var lastUse: UInt64
        /// To be unloaded as soon as it is idle, unless somebody takes it before.
        var isRetired = false

        var isIdle: Bool { phase == .loaded && leases == 0 }

        /// Whether it goes when it is idle: whoever takes it before that does not have those who wait for its end wait for ever.
        var isLeaving: Bool { isRetired || !watchers.isEmpty }
    }

    /// What loaded engines may take together; idle ones go to stay within it.
    let budget: UInt64
    private(set) var entries: [ReleaseIdentity: Entry] = [:]
    private var slots: [Slot: ReleaseIdentity] = [:]
    private var lastSlot: Slot = 0
    private var tick: UInt64 = 0

    init(budget: UInt64) { self.budget = budget }

    /// What is in memory, on its way in or on its way out, in bytes.
    var usedBytes: UInt64 {
        entries.values.reduce(0) { $1.phase == .waitingForRoom ? $0 : $0.addingSaturating($1.bytes) }
    }

    /// Whether a slot's engine is on its way out.
    func isEnding(_ slot: Slot) -> Bool { slots[slot].flatMap { entries[$0] }?.phase == .ending }

    // MARK: Using

    /// Somebody wants an engine of `release`, which takes about `bytes`.
    mutating func take(_ release: ReleaseIdentity, bytes: UInt64, for waiter: Waiter) -> (Answer, [Effect]) {
        tick += 1
        guard let entry = entries[release] else {
            begin(release, bytes: bytes, waiters: [waiter])
            return (.waits, settle())
        }
        entries[release]?.lastUse = tick
        entries[release]?.isRetired = false
        if entry.phase == .loaded {
            entries[release]?.leases += 1
            return (.granted(entry.slot), [])
        }
        entries[release]?.waiters.append(waiter)
        return (.waits, [])
    }

    /// Somebody no longer waits. The last one out cancels the load.
    /// - Returns: `nil` if nobody of that number waits: the answer is on its way already.
    mutating func withdraw(_ waiter: Waiter) -> [Effect]? {
        guard let (release, entry) = entries.first(where: { $0.value.waiters.contains(waiter) }) else { return nil }
        entries[release]?.waiters.removeAll { $0 == waiter }
        guard entry.waiters.count == 1 else { return [] }
        switch entry.phase {
        case .waitingForRoom: return remove(entry.slot) + settle()
        case .loading:
            entries[release]?.phase = .ending
            return [.cancelLoad(entry.slot)]
        case .loaded, .ending: return []
        }
    }

    /// A lease on a slot's engine ended.
    mutating func giveBack(_ slot: Slot) -> [Effect] {
        guard let release = slots[slot], let entry = entries[release], entry.leases > 0 else { return [] }
        tick += 1
        entries[release]?.leases -= 1
        entries[release]?.lastUse = tick
        return settle()
    }

    // MARK: Loading and unloading

    /// The engine of a slot is there, and takes so many bytes.
    mutating func loaded(_ slot: Slot, bytes: UInt64) -> [Effect] {
        guard let release = slots[slot], let entry = entries[release] else { return [] }
        entries[release]?.bytes = bytes
        if entry.phase == .ending, entry.waiters.isEmpty {
            // The last one who wanted it left, and the load came to its end before it heard of that.
            return [.unload(slot)]
        }
        entries[release]?.phase = .loaded
        entries[release]?.leases = entry.waiters.count
        entries[release]?.waiters = []
        return (entry.waiters.isEmpty ? [] : [.grant(entry.waiters, slot)]) + settle()
    }

    /// The load of a slot failed, or was cancelled.
    mutating func failed(_ slot: Slot) -> [Effect] {
        guard let release = slots[slot], let entry = entries[release] else { return [] }
        if entry.phase == .ending { return ended(slot) }
        return (entry.waiters.isEmpty ? [] : [.fail(entry.waiters, slot)]) + remove(slot) + settle()
    }

    /// The engine of a slot is unloaded.
    mutating func ended(_ slot: Slot) -> [Effect] {
        guard let release = slots[slot], let entry = entries[release] else { return [] }
        let effects = remove(slot)
        if !entry.waiters.isEmpty { begin(release, bytes: entry.bytes, waiters: entry.waiters) }
        return effects + settle()
    }

    // MARK: Letting go

    /// Has the engine of a release go as soon as it is idle; whoever takes it before that keeps it, unless somebody waits for its end.
    mutating func retire(_ release: ReleaseIdentity) -> [Effect] {
        guard entries[release] != nil else { return [] }
        entries[release]?.isRetired = true
        return settle()
    }

    /// The same for every release.
    mutating func retireAll() -> [Effect] {
        for release in entries.keys { entries[release]?.isRetired = true }
        return settle()
    }

    /// Keeps an engine that was to go when idle, if it is still there.
    mutating func keep(_ release: ReleaseIdentity) { entries[release]?.isRetired = false }

    /// Gives idle engines up, the longest unused first, until `bytes` are won back.
    mutating func relieve(_ bytes: UInt64) -> [Effect] {
        var won: UInt64 = 0
        var effects: [Effect] = []
        for (release, entry) in idle() where won < bytes {
            won = won.addingSaturating(entry.bytes)
            effects.append(unload(release))
        }
        return effects
    }

    /// Has a watcher told when nothing of a release is in memory. Its engine goes the next time it is idle, whoever takes it before.
    /// - Returns: whether that is so already.
    mutating func watch(_ release: ReleaseIdentity, _ watcher: Watcher) -> Bool {
        guard entries[release] != nil else { return true }
        entries[release]?.watchers.append(watcher)
        return false
    }

    /// - Returns: whether it was still watching.
    mutating func unwatch(_ watcher: Watcher) -> Bool {
        guard let release = entries.first(where: { $0.value.watchers.contains(watcher) })?.key else { return false }
        entries[release]?.watchers.removeAll { $0 == watcher }
        return true
    }

    // MARK: The rules

    private mutating func begin(_ release: ReleaseIdentity, bytes: UInt64, waiters: [Waiter]) {
        lastSlot += 1
        slots[lastSlot] = release
        entries[release] = Entry(
            slot: lastSlot, phase: .waitingForRoom, waiters: waiters, bytes: bytes, lastUse: tick)
    }

    private mutating func remove(_ slot: Slot) -> [Effect] {
        guard let release = slots.removeValue(forKey: slot), let entry = entries.removeValue(forKey: release) else {
            return []
        }
        return entry.watchers.isEmpty ? [] : [.gone(entry.watchers)]
    }

    private mutating func unload(_ release: ReleaseIdentity) -> Effect {
        entries[release]?.phase = .ending
        return .unload(entries[release]?.slot ?? 0)
    }

    /// The idle engines, the longest unused first.
    private func idle() -> [(ReleaseIdentity, Entry)] {
        entries.filter { $0.value.isIdle }.sorted { $0.value.lastUse < $1.value.lastUse }.map { ($0.key, $0.value) }
    }

    /// Brings about what the rules ask for: the retired go, loads begin once there is room for them, and idle engines stay
    /// within the budget, but for the one that was used last.
    private mutating func settle() -> [Effect] {
        var effects: [Effect] = []
        for (release, entry) in idle() where entry.isLeaving { effects.append(unload(release)) }

        let waiting = entries.filter { $0.value.phase == .waitingForRoom }.sorted { $0.value.slot < $1.value.slot }
        for (release, entry) in waiting {
            let others = usedBytes
            var staying = entries.values.reduce(UInt64(0)) {
                $1.phase == .loaded || $1.phase == .loading ? $0.addingSaturating($1.bytes) : $0
            }
            for (other, otherEntry) in idle() where staying.addingSaturating(entry.bytes) > budget {
                staying -= min(staying, otherEntry.bytes)
                effects.append(unload(other))
            }
            // Where those in use leave no room, waiting for them could last for ever: it is loaded beside them.
            let isLeaving = entries.values.contains { $0.phase == .ending }
            guard others.addingSaturating(entry.bytes) <= budget || !isLeaving else { continue }
            entries[release]?.phase = .loading
            effects.append(.load(release, entry.slot))
        }

        let newest = entries.values.map(\.lastUse).max()
        for (release, entry) in idle() where entry.lastUse != newest {
            let staying = entries.values.reduce(UInt64(0)) {
                $1.phase == .ending ? $0 : $0.addingSaturating($1.bytes)
            }
            if staying <= budget { break }
            effects.append(unload(release))
        }
        return effects
    }
}

extension UInt64 {
    /// The sum, or the largest number there is.
    func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? .max : sum
    }
}
