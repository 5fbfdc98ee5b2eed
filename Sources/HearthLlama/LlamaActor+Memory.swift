#if Llama
    import CLlamaShim
    import HearthBase
    import HearthInference

    extension LlamaActor {
        /// What makes the vectors of the model for text. A context of its own is made the first time, as long as fits beside what
        /// is loaded; what is kept of conversations and pictures gives way to it.
        /// - Throws: `model-does-not-fit` with both numbers, unless the model's configuration ignores that; `generation-failed`.
        func embedder(of loop: GenerationLoop) throws -> TextEmbedder {
            let model = loop.model
            // Beside its own answers the number of threads has just been chosen, from better evidence.
            if loop.runs.isEmpty { model.chooseThreads() }
            if let made = model.embedder { return made }
            let method = try EmbeddingMethod(model)
            let wanted = method.window(model.information.contextLength)
            let plan = try memory.embedding(wanted, of: .text)
            memory.entries[.text]?.embedding = plan
            shareRoom()
            do {
                return try model.makeEmbedder(method, window: plan?.window ?? wanted)
            } catch {
                memory.entries[.text]?.embedding = nil
                shareRoom()
                throw error
            }
        }

        /// Bounds what is kept of conversations and pictures by what the models leave of the memory.
        func shareRoom() {
            var gaveWay = false
            for (role, loop) in loops {
                if loop.model.keep(memory.kept(for: role)) { gaveWay = true }
            }
            // What the allocator keeps of it would be room that nobody has.
            if gaveWay { hearth_memory_trim() }
        }

        /// What the GPU has once some roles' models are given back.
        func freeGPU(without roles: [EngineRole]) -> GPUMemory {
            guard var gpu = LlamaFacts.read().gpuMemory else { return .none }
            gpu.free += memory.gpuBytes(of: roles)
            return gpu
        }
    }
#endif
