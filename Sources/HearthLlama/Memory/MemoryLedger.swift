#if Llama
    import HearthInference

    /// What the models of an engine take of the machine's memory, as planned, and what that leaves to what can be given up at any
    /// time: a decision without effects.
    struct MemoryLedger {
        /// What can be given up: it only makes later answers faster.
        struct Kept: Sendable, Hashable {
            /// The most bytes of the states of conversations; `nil` where none are kept in memory.
            var states: UInt64?
            /// The most bytes of encoded pictures; `nil` for a model that sees none.
            var pictures: UInt64?

            /// Of how many kinds something is kept.
            fileprivate var kinds: UInt64 { [states, pictures].reduce(0) { $0 + ($1 ?? 0 > 0 ? 1 : 0) } }
        }

        /// What one model takes.
        struct Entry {
            /// What a process may have, as the model was loaded with.
            var deviceMemory: UInt64
            /// The bytes of the machine's memory it takes by itself.
            var hostBytes: UInt64
            /// And of that of a GPU that has its own.
            var gpuBytes: UInt64
            /// What is kept for it where there is room for everything.
            var kept = Kept()
            /// What is kept is bounded by what is left: not without a plan, and not for who insists.
            var isBounded = true
            /// How it was planned, `nil` where its sizes are not known.
            var plan: LoadPlan?
            /// Where its layers lie.
            var gpu: GPUMemory?
            /// The context for vectors, once there is one.
            var embedding: EmbeddingPlan?
            /// What was taken beside it when its window was decided on last.
            var embeddedBeside: Taken?

            fileprivate var allHostBytes: UInt64 { min(hostBytes, most) + min(embedding?.hostBytes ?? 0, most) }
            fileprivate var allGPUBytes: UInt64 {
                let embedder = embedding.map { $0.estimate.total - min($0.estimate.total, $0.hostBytes) }
                return min(gpuBytes, most) + min(embedder ?? 0, most)
            }
        }

        /// A model on its way.
        struct Arrival: Sendable, Hashable {
            var hostBytes: UInt64
            /// The roles whose models are gone by the time it takes them.
            var replaced: [EngineRole]
        }

        var entries: [EngineRole: Entry] = [:]
        var arrival: Arrival?

        /// The bytes that stay taken when some roles' models are given back.
        func hostBytes(without roles: [EngineRole] = []) -> UInt64 {
            entries.filter { !roles.contains($0.key) }.values.reduce(0) { $0 + $1.allHostBytes }
        }

        /// The bytes of a GPU that are free once some roles' models are given back.
        func gpuBytes(of roles: [EngineRole]) -> UInt64 {
            roles.reduce(0) { $0 + (entries[$1]?.allGPUBytes ?? 0) }
        }

        /// The bytes that are not there for more of a role's model: those taken now, or those that will be once the model on
        /// its way is there, whichever are more.
        func hostBytes(beside role: EngineRole) -> UInt64 {
            let present = hostBytes()
            guard let arrival, !arrival.replaced.contains(role) else { return present }
            return max(present, hostBytes(without: arrival.replaced) + min(arrival.hostBytes, most))
        }

        /// What a role's model may take more, with everything that is kept given up.
        func room(for role: EngineRole) -> MemoryPlan.Device {
            MemoryPlan.Device(memory: entries[role]?.deviceMemory ?? 0, occupied: hostBytes(beside: role))
        }

        /// What may be kept for a role's model: no more than an equal part of what is left, of as many as there are.
        func kept(for role: EngineRole) -> Kept {
            guard let entry = entries[role] else { return Kept() }
            guard entry.isBounded else { return entry.kept }
            let part = room(for: role).budget / max(1, entries.values.reduce(0) { $0 + $1.kept.kinds })
            return Kept(
                states: entry.kept.states.map { min($0, part) }, pictures: entry.kept.pictures.map { min($0, part) })
        }
    }

    extension MemoryLedger.Arrival {
        /// What a model is going to take that has been fitted, before its layers are placed.
        /// - Parameter gpu: what a GPU has, once the replaced models are gone.
        init(_ order: LoadOrder, replaced: [EngineRole], gpu: GPUMemory) {
            self.init(hostBytes: order.plan?.hostBytes(expecting: gpu) ?? 0, replaced: replaced)
        }
    }

    extension MemoryLedger.Entry {
        /// What a model takes that has been loaded.
        init(_ order: LoadOrder, _ model: LoadedModel) {
            // Without a plan no more is known than its weights.
            let hostBytes = order.hostBytes ?? model.information.size ?? 0
            let total = order.plan?.estimate.total ?? 0
            let configuration = order.configuration
            self.init(
                deviceMemory: configuration.deviceMemory, hostBytes: hostBytes,
                gpuBytes: total - min(total, hostBytes),
                kept: MemoryLedger.Kept(
                    states: configuration.stateFolder == nil ? configuration.resolvedStateBytes : nil,
                    pictures: model.projector == nil ? nil : configuration.resolvedPictureBytes),
                isBounded: order.plan != nil && !configuration.ignoresMemory, plan: order.plan, gpu: order.gpu)
        }
    }

    /// No size is taken for more than this, so that a sum of them stays one.
    private let most: UInt64 = 1 << 60
#endif
