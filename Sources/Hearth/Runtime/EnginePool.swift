import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference

/// Engines in memory: each is loaded once, shared by its requests and kept for later ones.
///
/// ```
///   absent ── lease ──> loading ──> loaded: in use <──> loaded: idle ── leaves ──> unloading ──> absent
/// ```
/// Loads run one at a time, each planned with what the others occupy (``EngineMemory``). Idle engines leave, the least
/// recently used first, when another needs their memory, when memory is short or when they are retired. Engines that a
/// client keeps leave last, and not at all where nothing needs their memory. An engine in use leaves after its last lease;
/// requests for it wait meanwhile and load it again. A load belongs to the pool: it goes on if the request that began it
/// is cancelled.
package final class EnginePool: Sendable {
    enum Phase: Sendable {
        case loading
        case loaded(any InferenceEngine)
        case unloading
    }

    /// How a load finds its memory.
    package enum Room: Sendable, Hashable {
        /// Other engines leave where it needs their memory.
        case made
        /// All others stay: the load fails where it does not fit beside them.
        case found
    }

    /// The outcome of one load for the requests that wait for it.
    final class Load: Sendable {
        let room: Room
        let failure = Locked<(any Error)?>(nil)

        init(_ room: Room) { self.room = room }
    }

    struct Entry: Sendable {
        /// Its number in the ledger.
        let number: UInt64
        let load: Load
        var phase = Phase.loading
        var task: Task<Void, Never>?
        var isVision = false
        /// Requests waiting for the load.
        var waiters = 1
        var leases = 0
        /// Set when no new request may use it; it is unloaded once it is idle.
        var isLeaving = false
        /// Whether it leaves to be loaded with a larger context.
        var isWidening = false
        var lastUse: UInt64
        /// What it was opened from; `nil` before that.
        var prepared: PreparedEngine?

        var engine: (any InferenceEngine)? {
            guard case .loaded(let engine) = phase else { return nil }
            return engine
        }
        var isUnloading: Bool {
            guard case .unloading = phase else { return false }
            return true
        }
        var isIdle: Bool { engine != nil && leases == 0 && waiters == 0 }
    }

    struct State: Sendable {
        var entries: [EngineSource: Entry] = [:]
        /// Requests by source. An unload waits for those before it.
        var asking: [EngineSource: Int] = [:]
        /// The sources of each unload under way, for which new requests are refused.
        var refusals: [UInt64: @Sendable (EngineSource) -> Bool] = [:]
        /// The context windows that requests made larger, until their engines leave for another reason.
        var windows: [EngineSource: Int] = [:]
        /// The shortest larger windows with which engines could not be loaded.
        var brokenWindows: [EngineSource: Int] = [:]
        /// The sources that clients keep for later requests.
        var kept: Set<EngineSource> = []
        /// Numbers entries, unloads and uses.
        var last: UInt64 = 0

        mutating func next() -> UInt64 {
            last += 1
            return last
        }
    }

    let state = WaitableState(State())
    package let memory: EngineMemory
    private let prepare: @Sendable (EngineSource) async throws -> PreparedEngine

    init(memory: EngineMemory, prepare: @escaping @Sendable (EngineSource) async throws -> PreparedEngine) {
        self.memory = memory
        self.prepare = prepare
    }

    deinit {
        // Leases and loads hold the pool, so no engine is in use.
        for entry in state.read({ Array($0.entries.values) }) {
            guard let engine = entry.engine else { continue }
            Task {
                await engine.reader.unload()
                entry.prepared?.close()
            }
        }
    }

    // MARK: Leases

    /// Leases the engine if it is loaded and not about to leave.
    /// - Throws: `DeliveryError` with `model-unloading` during ``drop(where:)``.
    func leaseIfLoaded(_ source: EngineSource) throws -> EngineLease? {
        try state.change { state in
            try Self.refuse(source, state)
            guard state.entries[source]?.isLeaving == false else { return nil }
            return grant(source, &state)
        }
    }

    /// Leases an engine, loading it if needed; concurrent requests share the load.
    /// - Parameters:
    ///   - old: the version that this one replaces. It leaves first if there is no room for both.
    ///   - room: how the load finds its memory, if this request begins it.
    ///   - progress: takes the progress of the load, 0...1, if this request begins it.
    /// - Throws: errors of the load; `DeliveryError` with `model-unloading` during ``drop(where:)``;
    ///   `CancellationError`.
    package func lease(
        _ source: EngineSource, replacing old: EngineSource? = nil, room: Room = .made,
        progress: @escaping @Sendable (Float) -> Void = { _ in }
    ) async throws -> EngineLease {
        try state.change { state in
            try Self.refuse(source, state)
            state.asking[source, default: 0] += 1
        }
        var joined: Load?
        defer {
            state.change { state in
                let others = (state.asking[source] ?? 1) - 1
                state.asking[source] = others == 0 ? nil : others
                if let joined, state.entries[source]?.load === joined { state.entries[source]?.waiters -= 1 }
                unloadLeaving(&state)
            }
        }
        return try await state.wait { state in
            if let load = joined, let failure = load.failure.withLock({ $0 }) {
                // A load that found no room beside the others is tried again where room may be made.
                guard room == .made, load.room == .found else { throw failure }
                joined = nil
            }
            guard let entry = state.entries[source] else {
                joined = begin(source, replacing: old, room, progress, &state)
                return nil
            }
            switch entry.phase {
            case .loading:
                if joined !== entry.load {
                    joined = entry.load
                    state.entries[source]?.waiters += 1
                }
                return nil
            case .loaded:
                // A request that waited for the load is served before the engine leaves.
                return entry.isLeaving && joined !== entry.load ? nil : grant(source, &state)
            case .unloading: return nil
            }
        }
    }

    private static func refuse(_ source: EngineSource, _ state: State) throws {
        guard state.refusals.values.contains(where: { $0(source) }) else { return }
        throw DeliveryError(
            .modelUnloading, "\(source.name) is being unloaded",
            context: ErrorContext(model: source.name, remedy: "Ask again when that is done."), disposition: .tryLater)
    }

    private func grant(_ source: EngineSource, _ state: inout State) -> EngineLease? {
        guard let entry = state.entries[source], let engine = entry.engine else { return nil }
        let now = state.next()
        state.entries[source]?.leases += 1
        state.entries[source]?.lastUse = now
        return EngineLease(source, engine) {
            self.state.change { state in
                let now = state.next()
                state.entries[source]?.leases -= 1
                state.entries[source]?.lastUse = now
                self.unloadLeaving(&state)
            }
        }
    }

    /// Has the loaded engines forget the computed tokens of conversations that are not being answered.
    package func forgetConversations() async {
        let sources = state.read { Array($0.entries.keys) }
        for source in sources {
            // An engine that is being unloaded holds nothing soon.
            guard let lease = try? leaseIfLoaded(source) else { continue }
            await lease.engine.reader.forget()
            lease.end()
        }
    }

    /// Whether a request uses the engine of a source.
    func isLeased(_ source: EngineSource) -> Bool { state.read { ($0.entries[source]?.leases ?? 0) > 0 } }

    // MARK: Loading

    private func begin(
        _ source: EngineSource, replacing old: EngineSource?, _ room: Room,
        _ progress: @escaping @Sendable (Float) -> Void, _ state: inout State
    ) -> Load {
        let number = state.next()
        var entry = Entry(number: number, load: Load(room), lastUse: number)
        entry.task = Task { await self.bring(source, number, replacing: old, room, progress) }
        state.entries[source] = entry
        return entry.load
    }

    private func bring(
        _ source: EngineSource, _ number: UInt64, replacing old: EngineSource?, _ room: Room,
        _ progress: @escaping @Sendable (Float) -> Void
    ) async {
        var close: @Sendable () -> Void = {}
        do {
            let prepared = try await prepare(source)
            close = prepared.close
            try await memory.turn.turnUnlessCancelled {
                if let window = state.read({ $0.windows[source] }), let widened = prepared.widened?(window, false) {
                    do {
                        return try await open(source, number, widened, replacing: old, room, progress)
                    } catch  where !(error is CancellationError) {
                        // The usual window still serves most requests.
                        memory.set(nil, of: number)
                        state.change { state in
                            state.windows[source] = nil
                            state.brokenWindows[source] = min(window, state.brokenWindows[source] ?? window)
                        }
                    }
                }
                try await open(source, number, prepared, replacing: old, room, progress)
            }
        } catch {
            close()
            memory.set(nil, of: number)
            state.change { state in
                state.windows[source] = nil
                state.kept.remove(source)
                state.entries.removeValue(forKey: source)?.load.failure.withLock { $0 = error }
            }
        }
    }

    /// Opens an engine whose load has its turn.
    private func open(
        _ source: EngineSource, _ number: UInt64, _ prepared: PreparedEngine, replacing old: EngineSource?,
        _ room: Room, _ progress: @escaping @Sendable (Float) -> Void
    ) async throws {
        let occupied =
            switch room {
            case .made: try await makeRoom(number, prepared, replacing: old)
            case .found: try await findRoom(for: source, number, prepared)
            }
        let engine = try await prepared.open(occupied, progress)
        state.change { state in
            // A load without a request was cancelled too late: the engine leaves at once.
            let isLeaving = state.entries[source]?.isUnloading == true
            state.entries[source]?.phase = .loaded(engine)
            if isLeaving { state.entries[source]?.isLeaving = true }
            state.entries[source]?.isVision = prepared.isVision
            state.entries[source]?.prepared = prepared
            unloadLeaving(&state)
        }
    }

    // MARK: Lookup

    /// The loaded sources, also those that leave after their last lease.
    package var loaded: Set<EngineSource> {
        state.read { Set($0.entries.filter { $0.value.engine != nil }.keys) }
    }

    /// Whether an engine is loaded or being loaded.
    func holds(_ source: EngineSource) -> Bool {
        state.read { state in state.entries[source].map { !$0.isUnloading } ?? false }
    }
}
