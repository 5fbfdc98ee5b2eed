import HearthBase
import HearthCatalog
import HearthDelivery

/// Decides when engines are loaded and unloaded; ``ModelCache`` carries out the decisions.
///
/// ```
///                 take                 loaded
///     absent ────────────> loading ────────────> loaded: in use <───> loaded: idle
///       ^                     │ failed, or           give back / take      │ no room, memory pressure, or dropped
///       │                     │ no waiter is left                          v
///       └─────────────────────┴──────────────────────────────────────── ending ──> loading, if a caller waits again
/// ```
/// An engine is unloaded once, and only without leases. Each load gets a new slot.
struct CacheState: Sendable {
    /// One engine, from the beginning of its load to the end of its unloading.
    typealias Slot = UInt64
    /// A caller waiting for an engine.
    typealias Waiter = UInt64
    /// A caller waiting until an engine is unloaded.
    typealias Watcher = UInt64

    /// Actions for ``ModelCache``, in this order.
    enum Effect: Hashable {
        case load(ReleaseIdentity, Slot)
        case cancelLoad(Slot)
        case unload(Slot)
        /// Give these callers a lease on a slot's engine.
        case grant([Waiter], Slot)
        /// Report a failed load to these callers.
        case fail([Waiter], Slot)
        /// Tell these watchers that their engine is unloaded.
        case gone([Watcher])
    }

    enum Answer: Hashable {
        case granted(Slot)
        case waits
    }

    struct Entry: Sendable {
        enum Phase: Sendable, Hashable {
            /// Waiting until other engines are unloaded.
            case waitingForRoom
            case loading
            case loaded
            /// Being unloaded, or loading without a waiter.
            case ending
        }

        var slot: Slot
        var phase: Phase
        var waiters: [Waiter] = []
        var watchers: [Watcher] = []
        var leases = 0
        /// The memory needed: an estimate before the load, the engine's own figure after it.
        var bytes: UInt64
        /// The tick of the last use.
        var lastUse: UInt64
        /// Unload when idle, unless a caller takes it before.
        var isRetired = false

        var isIdle: Bool { phase == .loaded && leases == 0 }

        /// Whether to unload it when idle. Being taken meanwhile clears ``isRetired``, but not watchers.
        var isLeaving: Bool { isRetired || !watchers.isEmpty }
    }

    /// The limit for all loaded engines; idle ones are unloaded to stay within it.
    let budget: UInt64
    private(set) var entries: [ReleaseIdentity: Entry] = [:]
    private var slots: [Slot: ReleaseIdentity] = [:]
    private var lastSlot: Slot = 0
    private var tick: UInt64 = 0

    init(budget: UInt64) { self.budget = budget }

    /// The memory of engines that are loading, loaded or unloading, in bytes.
    var usedBytes: UInt64 {
        entries.values.reduce(0) { $1.phase == .waitingForRoom ? $0 : $0.addingSaturating($1.bytes) }
    }

    /// Whether a slot's engine is being unloaded.
    func isEnding(_ slot: Slot) -> Bool { slots[slot].flatMap { entries[$0] }?.phase == .ending }

    // MARK: Leases

    /// A caller asks for an engine of `release`, which takes about `bytes`.
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

    /// Removes a waiting caller. If it was the last one, the load is cancelled.
    /// - Returns: `nil` if the caller does not wait: it has its answer already.
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

    /// Ends a lease on a slot's engine.
    mutating func giveBack(_ slot: Slot) -> [Effect] {
        guard let release = slots[slot], let entry = entries[release], entry.leases > 0 else { return [] }
        tick += 1
        entries[release]?.leases -= 1
        entries[release]?.lastUse = tick
        return settle()
    }

    // MARK: Loading and unloading

    /// Records that a slot's engine is loaded.
    mutating func loaded(_ slot: Slot, bytes: UInt64) -> [Effect] {
        guard let release = slots[slot], let entry = entries[release] else { return [] }
        entries[release]?.bytes = bytes
        if entry.phase == .ending, entry.waiters.isEmpty {
            // Its last waiter left before the load could be cancelled.
            return [.unload(slot)]
        }
        entries[release]?.phase = .loaded
        entries[release]?.leases = entry.waiters.count
        entries[release]?.waiters = []
        return (entry.waiters.isEmpty ? [] : [.grant(entry.waiters, slot)]) + settle()
    }

    /// Records that a load failed or was cancelled.
    mutating func failed(_ slot: Slot) -> [Effect] {
        guard let release = slots[slot], let entry = entries[release] else { return [] }
        if entry.phase == .ending { return ended(slot) }
        return (entry.waiters.isEmpty ? [] : [.fail(entry.waiters, slot)]) + remove(slot) + settle()
    }

    /// Records that a slot's engine is unloaded.
    mutating func ended(_ slot: Slot) -> [Effect] {
        guard let release = slots[slot], let entry = entries[release] else { return [] }
        let effects = remove(slot)
        if !entry.waiters.isEmpty { begin(release, bytes: entry.bytes, waiters: entry.waiters) }
        return effects + settle()
    }

    // MARK: Unloading idle engines

    /// Unloads a release's engine as soon as it is idle. Without a watcher, a caller that takes it before keeps it.
    mutating func retire(_ release: ReleaseIdentity) -> [Effect] {
        guard entries[release] != nil else { return [] }
        entries[release]?.isRetired = true
        return settle()
    }

    /// Unloads every engine as soon as it is idle.
    mutating func retireAll() -> [Effect] {
        for release in entries.keys { entries[release]?.isRetired = true }
        return settle()
    }

    /// Revokes ``retire(_:)``, if the engine is still loaded.
    mutating func keep(_ release: ReleaseIdentity) { entries[release]?.isRetired = false }

    /// Unloads idle engines, the least recently used first, until `bytes` are freed.
    mutating func relieve(_ bytes: UInt64) -> [Effect] {
        var won: UInt64 = 0
        var effects: [Effect] = []
        for (release, entry) in idle() where won < bytes {
            won = won.addingSaturating(entry.bytes)
            effects.append(unload(release))
        }
        return effects
    }

    /// Adds a watcher for the end of a release's engine, which is unloaded when it is next idle.
    /// - Returns: whether nothing of the release is in memory already.
    mutating func watch(_ release: ReleaseIdentity, _ watcher: Watcher) -> Bool {
        guard entries[release] != nil else { return true }
        entries[release]?.watchers.append(watcher)
        return false
    }

    /// - Returns: whether the watcher was still waiting.
    mutating func unwatch(_ watcher: Watcher) -> Bool {
        guard let release = entries.first(where: { $0.value.watchers.contains(watcher) })?.key else { return false }
        entries[release]?.watchers.removeAll { $0 == watcher }
        return true
    }

    // MARK: Rules

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

    /// The idle engines, the least recently used first.
    private func idle() -> [(ReleaseIdentity, Entry)] {
        entries.filter { $0.value.isIdle }.sorted { $0.value.lastUse < $1.value.lastUse }.map { ($0.key, $0.value) }
    }

    /// Applies the rules: retired engines are unloaded, loads start once they have room, and idle engines stay within
    /// the budget, except the most recently used one.
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
            // If engines in use leave no room, load beside them: waiting could last forever.
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
