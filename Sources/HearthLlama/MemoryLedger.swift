#if Llama
import HearthInference

/// The planned memory of one engine's models, and the rest for data that can be dropped at any time.
struct MemoryLedger {
    /// The memory of one model.
    struct Entry {
        /// The memory that the process may use, from the model's configuration.
        var deviceMemory: UInt64
        /// The bytes in the machine's memory.
        var hostBytes: UInt64
        /// The bytes on a GPU with memory of its own.
        var gpuBytes: UInt64
        /// The kept data, if there is room for all of it.
        var kept = KeptBytes()
        /// Whether kept data is limited to the free memory; `false` without a plan, or if the configuration ignores
        /// memory.
        var isBounded = true
        /// The plan of the load; `nil` if the model's sizes are unknown.
        var plan: LoadPlan?
        /// The GPU that holds the layers.
        var gpu: GPUMemory?
        /// The context for vectors.
        var vectors: EmbeddingPlan?

        fileprivate var allHostBytes: UInt64 { min(hostBytes, most) + min(vectors?.hostBytes ?? 0, most) }
        fileprivate var allGPUBytes: UInt64 {
            let vectors = vectors.map { $0.estimate.total - min($0.estimate.total, $0.hostBytes) }
            return min(gpuBytes, most) + min(vectors ?? 0, most)
        }
    }

    var entries: [EngineRole: Entry] = [:]
    /// The model being loaded, and the roles whose models it replaces.
    var arrival: (hostBytes: UInt64, replaced: [EngineRole])?

    /// The bytes in use after the models of some roles are unloaded.
    func hostBytes(without roles: [EngineRole] = []) -> UInt64 {
        entries.filter { !roles.contains($0.key) }.values.reduce(0) { $0 + $1.allHostBytes }
    }

    /// The bytes of a GPU that the models of some roles use.
    func gpuBytes(of roles: [EngineRole]) -> UInt64 {
        roles.reduce(0) { $0 + (entries[$1]?.allGPUBytes ?? 0) }
    }

    /// The memory for more data of a role's model, if all kept data is dropped. The larger of two sums counts as
    /// occupied: the memory in use now, and the memory in use after a running load.
    func room(for role: EngineRole) -> MemoryPlan.Device {
        var occupied = hostBytes()
        if let arrival, !arrival.replaced.contains(role) {
            occupied = max(occupied, hostBytes(without: arrival.replaced) + min(arrival.hostBytes, most))
        }
        return MemoryPlan.Device(memory: entries[role]?.deviceMemory ?? 0, occupied: occupied)
    }

    /// The limits of kept data for a role's model: each kind of data gets at most an equal part of the free memory.
    func kept(for role: EngineRole) -> KeptBytes {
        guard let entry = entries[role] else { return KeptBytes() }
        guard entry.isBounded else { return entry.kept }
        let part = room(for: role).budget / max(1, entries.values.reduce(0) { $0 + $1.kept.kinds })
        return KeptBytes(
            states: entry.kept.states.map { min($0, part) }, pictures: entry.kept.pictures.map { min($0, part) })
    }

    /// Plans a context for vectors of a role's model, in place of the present one, and counts it. Returns `nil` if
    /// the model's sizes are unknown.
    /// - Throws: `not-enough-memory`, with both numbers; nothing is counted then.
    mutating func planVectors(_ wanted: EmbeddingWindow, of role: EngineRole) throws(LLMError) -> EmbeddingPlan? {
        entries[role]?.vectors = nil
        guard let entry = entries[role], let plan = entry.plan else { return nil }
        let vectors = try plan.embedding(wanted, gpu: entry.gpu, on: room(for: role))
        entries[role]?.vectors = vectors
        return vectors
    }
}

extension MemoryLedger.Entry {
    /// The memory of a loaded model.
    init(_ order: LoadOrder, _ model: LoadedModel) {
        // Without a plan only the size of the weights is known.
        let hostBytes = order.hostBytes ?? model.information.size ?? 0
        let total = order.plan?.estimate.total ?? 0
        let configuration = order.configuration
        self.init(
            deviceMemory: configuration.deviceMemory, hostBytes: hostBytes,
            gpuBytes: total - min(total, hostBytes),
            kept: KeptBytes(
                states: configuration.stateFolder == nil ? configuration.resolvedStateBytes : nil,
                pictures: model.projector == nil ? nil : configuration.resolvedPictureBytes),
            isBounded: order.plan != nil && !configuration.ignoresMemory, plan: order.plan, gpu: order.gpu)
    }
}

/// The largest counted size, so that sums of sizes from files cannot overflow.
private let most: UInt64 = 1 << 60
#endif
