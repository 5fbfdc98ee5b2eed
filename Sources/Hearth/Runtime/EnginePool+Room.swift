import HearthBase
import HearthInference

/// Finds or makes the memory of a load: which engines leave, and when.
extension EnginePool {
    /// Whether a source lacks memory beside those that stay.
    /// - Parameters:
    ///   - free: the available memory; `nil` if unknown.
    ///   - freed: the bytes that left since `free` was read.
    private func lacksRoom(
        for alone: UInt64, beside staying: UInt64, free: UInt64?, freed: UInt64 = 0
    ) -> Bool {
        // Contexts grow during use: an eighth is kept free.
        staying.addingSaturating(alone) > memory.budget
            || alone.addingSaturating(alone / 8) > (free ?? .max).addingSaturating(freed)
    }

    /// Enters the planned bytes of a source in the ledger if it fits beside all other engines.
    /// - Returns: the bytes of the others.
    /// - Throws: `not-enough-memory`.
    func findRoom(
        for source: EngineSource, _ number: UInt64, _ prepared: PreparedEngine
    ) async throws -> UInt64 {
        let occupied = memory.usedBytes
        let (alone, free) = try await blocking { [memory] in (try prepared.plan(0), memory.free()) }
        guard occupied == 0 || !(prepared.isVision && memory.isSmall),
            !lacksRoom(for: alone, beside: occupied, free: free)
        else {
            throw LLMError(
                .doesNotFit, "\(source.name) does not fit beside the models in memory",
                context: ErrorContext(model: source.name), disposition: .tryLater)
        }
        memory.set(try await blocking { try prepared.plan(occupied) }, of: number)
        return occupied
    }

    /// Has engines leave until the source fits, and enters its planned bytes in the ledger.
    /// - Returns: the bytes of the engines that stay.
    /// - Throws: `not-enough-memory`.
    func makeRoom(
        _ number: UInt64, _ prepared: PreparedEngine, replacing old: EngineSource?
    ) async throws -> UInt64 {
        let (alone, free) = try await blocking { [memory] in (try prepared.plan(0), memory.free()) }
        if prepared.isVision, memory.isSmall {
            try await leave { !$1.isVision }
        }
        let used = memory.usedBytes
        let isShort = try await state.wait { state -> Bool? in
            if state.entries.values.contains(where: { $0.isUnloading && $0.number != number }) { return nil }
            let staying = memory.usedBytes
            let freed = used - min(used, staying)
            guard lacksRoom(for: alone, beside: staying, free: free, freed: freed) else { return false }
            guard let idle = state.inOrderOfLeaving(\.isIdle).first(where: { !state.kept.contains($0) }) else {
                return true
            }
            state.entries[idle]?.isLeaving = true
            unloadLeaving(&state)
            return nil
        }
        if isShort, let old { try await leave { other, _ in other == old } }
        while true {
            let occupied = memory.usedBytes
            do {
                memory.set(try await blocking { try prepared.plan(occupied) }, of: number)
                return occupied
            } catch let error as LLMError where error.code == .doesNotFit {
                // Engines in use leave after their requests, one after the other.
                let next = state.read { $0.inOrderOfLeaving { $0.engine != nil }.first }
                guard let next else { throw error }
                try await leave { other, _ in other == next }
            }
        }
    }

    /// Has engines leave, and returns when they are unloaded.
    private func leave(_ isMeant: (EngineSource, Entry) -> Bool) async throws {
        try await state.wait { state in
            var isOver = true
            for (source, entry) in state.entries where isMeant(source, entry) {
                switch entry.phase {
                case .loading: continue  // waits for its turn, without memory
                case .loaded: state.entries[source]?.isLeaving = true
                case .unloading: break
                }
                isOver = false
            }
            unloadLeaving(&state)
            return isOver ? () : nil
        }
    }

    /// Unloads the idle engines that no client keeps.
    package func dropIdle() {
        state.change { state in
            for (source, entry) in state.entries where entry.isIdle && !state.kept.contains(source) {
                state.entries[source]?.isLeaving = true
            }
            unloadLeaving(&state)
        }
    }

    /// Marks the loaded engine of a source as kept by a client for later requests.
    func keep(_ source: EngineSource) {
        state.change { if $0.entries[source] != nil { $0.kept.insert(source) } }
    }

    /// Whether a client keeps the engine of a source.
    func isKept(_ source: EngineSource) -> Bool { state.read { $0.kept.contains(source) } }

    /// Unloads idle engines until `bytes` are freed.
    private func free(_ bytes: UInt64) {
        state.change { state in
            var freed: UInt64 = 0
            for source in state.inOrderOfLeaving(\.isIdle) where freed < bytes {
                freed = freed.addingSaturating(state.entries[source].flatMap { memory[$0.number] } ?? 0)
                state.entries[source]?.isLeaving = true
            }
            unloadLeaving(&state)
        }
    }

    /// Unloads idle engines if memory is short. Engines with a lease stay.
    /// - Returns: the time until the next check.
    func relieve(_ source: any MemoryPressureSource) async -> Duration {
        let shortage = await blocking { source.read().shortage }
        if shortage > 0 { free(shortage) }
        return .seconds(2)
    }
}

extension EnginePool.State {
    /// The sources of some engines in the order in which they leave: what a client keeps leaves last, then the least
    /// recently used leaves first.
    func inOrderOfLeaving(_ isMeant: (EnginePool.Entry) -> Bool) -> [EngineSource] {
        entries.filter { isMeant($0.value) }.map { (isKept: kept.contains($0.key) ? 1 : 0, $0.value.lastUse, $0.key) }
            .sorted { ($0.isKept, $0.1) < ($1.isKept, $1.1) }.map(\.2)
    }
}
