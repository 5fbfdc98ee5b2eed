import HearthBase
import HearthInference

/// The unloading of engines: after their requests, for others that need the memory, and for good.
extension EnginePool {
    /// Unloads idle engines that are to leave.
    func unloadLeaving(_ state: inout State) {
        for (source, entry) in state.entries where entry.isLeaving && entry.isIdle {
            guard let engine = entry.engine else { continue }
            state.entries[source]?.phase = .unloading
            Task {
                await engine.reader.unload()
                entry.prepared?.close()
                self.memory.set(nil, of: entry.number)
                self.state.change { state in
                    if !entry.isWidening {
                        state.windows[source] = nil
                        state.kept.remove(source)
                    }
                    state.entries[source] = nil
                }
            }
        }
    }

    /// Unloads the engines of matching sources after their last leases, also those being loaded.
    package func retire(where isMeant: (EngineSource) -> Bool) {
        state.change { state in
            state.leaveForGood(isMeant)
            unloadLeaving(&state)
        }
    }

    /// Unloads the engines of matching sources and returns when none is in memory, loading or unloading. Earlier
    /// requests are served first, new ones are refused meanwhile, and loads without a request are cancelled.
    /// - Throws: `CancellationError`; the engines leave all the same.
    package func drop(where isMeant: @escaping @Sendable (EngineSource) -> Bool) async throws {
        let number = state.change { state in
            let number = state.next()
            state.refusals[number] = isMeant
            return number
        }
        defer { state.change { _ = $0.refusals.removeValue(forKey: number) } }
        try await state.wait { state in
            state.leaveForGood(isMeant)
            for (source, entry) in state.entries where isMeant(source) {
                if case .loading = entry.phase, entry.waiters == 0 {
                    state.entries[source]?.phase = .unloading
                    entry.task?.cancel()
                }
            }
            unloadLeaving(&state)
            return state.entries.keys.contains(where: isMeant) || state.asking.keys.contains(where: isMeant) ? nil : ()
        }
    }
}
