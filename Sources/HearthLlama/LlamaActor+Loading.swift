#if Llama
    import CLlamaShim
    import HearthBase
    import HearthInference
    import Synchronization

    extension LlamaActor {
        /// Loads a model in place of the role's present one and warms it up.
        ///
        /// The files are looked at first: one that is not there, is no model or does not fit the memory leaves the present one and
        /// its answers alone. Then what that was asked is answered, and it is given back before the new one is read. On a device
        /// of less than 6 GiB (whole GiB) loading one for vision gives back the one for text too. What the other role's model
        /// takes, with its context for vectors, counts unless it is given back; what is kept of conversations and pictures gives
        /// way. Where the configuration says nothing of the context, a shorter one is taken if only that fits. What is being read
        /// is read on a thread of its own: the other role's answers go on meanwhile. Loads come one after the other.
        /// - Parameters:
        ///   - path: a GGUF file.
        ///   - role: what it is for.
        ///   - configuration: in place of the engine's own.
        ///   - projector: the GGUF file (`mmproj`) that makes pictures readable for it; without one they are left out.
        ///   - supportsVision: a model for text that answers questions about pictures too, as one with a projector does.
        ///   - progress: 0...1, called on the thread that reads.
        /// - Throws: `model-does-not-fit` with both numbers, unless the configuration ignores that; `cannot-load-model`, with what
        ///   llama.cpp found; `chat-template-failed`; `CancellationError`, which leaves the present model where it is until the new
        ///   one is being read. What was given back for it stays unloaded. While it waits for loads before it or for the engine's thread
        ///   it is thrown at once; from then on after the step that is being computed, or after the tensor that is being read.
        public nonisolated func load(
            _ path: Path, role: EngineRole = .text, projector: Path? = nil, configuration: LlamaConfiguration? = nil,
            supportsVision: Bool = false,
            progress: @escaping @Sendable (Float) -> Void = { _ in }
        ) async throws {
            let signal = StopSignal()
            let configuration = configuration ?? self.configuration
            try await withTaskCancellationHandler {
                let plan = try await abandonable { _ in
                    try await blocking {
                        try ModelFile.check(path, as: .model)
                        if let projector { try ModelFile.check(projector, as: .projector) }
                        return LoadPlan(path, projector: projector, configuration: configuration)
                    }
                }
                let order = LoadOrder(
                    path: path, projector: projector, role: role, configuration: configuration, plan: plan,
                    supportsVision: supportsVision, signal: signal)
                try await changes.turnUnlessCancelled { try await load(order, progress) }
            } onCancel: {
                signal.cancel()
            }
        }

        /// Stops what runs and gives the memory of all models back. What was computed for conversations is written to the
        /// configuration's `stateFolder` before, if there is one.
        public nonisolated func unload() async {
            stop()
            await changes.turn {
                knock()
                await leave(EngineRole.allCases)
            }
        }

        /// Stops what this role's model is doing or is to do, and gives its memory back.
        public nonisolated func unload(_ role: EngineRole) async {
            let facts = facts.withLock { $0 }
            // Also those who wait for the model while it is being read.
            let served = EngineRole.allCases.filter { (Self.answering($0, facts) ?? $0) == role }
            stop(served)
            await changes.turn {
                knock()
                await leave([role])
            }
        }

        /// Waits until what is being loaded or unloaded is.
        /// - Throws: `CancellationError`, at once.
        nonisolated func settle() async throws { try await changes.turnUnlessCancelled {} }

        /// How many loads and unloads, and others who wait for them, wait for the one under way.
        nonisolated var waitingForChange: Int { changes.waitingCount }

        private nonisolated func load(
            _ order: LoadOrder, _ progress: @escaping @Sendable (Float) -> Void
        ) async throws {
            let order = try await abandonable { wait in
                self.knock()
                return try await self.makeRoom(for: order, wait)
            }
            do {
                let loaded = try await ModelLoader().load(order, progress: progress)
                knock()
                await take(loaded, order)
            } catch {
                knock()
                await take(nil, order)
                throw error
            }
        }

        /// Gives back what is in the way of a model, once that has answered what it was asked.
        /// - Parameter wait: of whoever wants it loaded, for the engine's thread.
        /// - Returns: the order with a plan that fits.
        private func makeRoom(for order: LoadOrder, _ wait: Abandonment) async throws -> LoadOrder {
            visitors.subtract(1, ordering: .relaxed)
            try wait.begin()
            if order.signal.isSet { throw CancellationError() }
            let replaced = RolePlan(deviceMemory: order.configuration.deviceMemory)
                .unloadedFirst(loading: order.role, loaded: Set(loops.keys))
            var order = order
            let gpu = LlamaFacts.hasGPU ? freeGPU(without: replaced) : .none
            try order.plan?.fit(beside: memory.hostBytes(without: replaced), gpu: gpu)
            // Who embeds while the models on their way out still answer leaves it its room.
            memory.arrival = MemoryLedger.Arrival(order, replaced: replaced, gpu: gpu)
            await answerAll(asked: replaced, unless: order.signal)
            defer { departure = nil }
            if order.signal.isSet {
                memory.arrival = nil
                throw CancellationError()
            }
            closeModels(replaced)
            // Only now is the memory of what it replaces free.
            if LlamaFacts.hasGPU { order.place(on: LlamaFacts.read().devices) }
            memory.arrival?.hostBytes = order.hostBytes ?? 0
            reading = order
            shareRoom()
            return order
        }

        /// Lets a model that has been read answer; `nil` where nothing came of it.
        private func take(_ loaded: LoadedModel?, _ order: LoadOrder) {
            visitors.subtract(1, ordering: .relaxed)
            reading = nil
            memory.arrival = nil
            if let loaded {
                // Its thread's accounts begin here; those of another model under way go on.
                if loops.isEmpty { load.restart() }
                loops[order.role] = GenerationLoop(loaded, load: load, time: time)
                let fact = Facts(
                    information: loaded.information, weights: loaded.weights, admission: loaded.admission,
                    projector: loaded.projector, supportsVision: order.role == .text && loaded.supportsVision)
                facts.withLock { $0[order.role] = fact }
                memory.entries[order.role] = MemoryLedger.Entry(order, loaded)
            }
            shareRoom()
            wake()
        }

        private func leave(_ roles: [EngineRole]) {
            visitors.subtract(1, ordering: .relaxed)
            closeModels(roles)
            shareRoom()
        }

        private func closeModels(_ roles: [EngineRole]) {
            var isGone = false
            for role in roles {
                _ = facts.withLock { $0.removeValue(forKey: role) }
                memory.entries[role] = nil
                guard let loop = loops.removeValue(forKey: role) else { continue }
                forget(loop.end(throwing: CancellationError()).map(\.request))
                loop.model.conversations.saveAll(loop.model)
                isGone = true
            }
            // What the allocator keeps of a model for later is a good part of it. It takes a look at all the memory of the process.
            if isGone { hearth_memory_trim() }
        }
    }
#endif
