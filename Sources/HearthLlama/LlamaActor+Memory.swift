#if Llama
    import CLlamaShim
    import HearthBase
    import HearthInference

    extension LlamaActor {
        /// What makes the vectors of the model for text. A context of its own is made the first time, as long as fits beside what
        /// is loaded; what is kept of conversations and pictures gives way to it. One that was made shorter than wanted is made
        /// anew once others have left the memory that a longer one needs.
        /// - Throws: `model-does-not-fit` with both numbers, unless the model's configuration ignores that; `generation-failed` where
        ///   llama.cpp has room for none.
        func embedder(of loop: GenerationLoop) throws -> TextEmbedder {
            let model = loop.model
            // Beside its own answers the number of threads has just been chosen, from better evidence.
            if loop.runs.isEmpty { model.chooseThreads() }
            let method = try model.embedder?.method ?? EmbeddingMethod(model)
            let wanted = method.window(model.information.contextLength)
            if let made = model.embedder, !memory.outgrows(made.window, wanted: wanted, of: .text) { return made }
            // There may be no room for both.
            model.letGoOfEmbedder()
            let planned = try memory.embedding(wanted, of: .text)?.window ?? wanted
            return try makeRoom(forVectors: planned) { window in
                let made = try model.makeEmbedder(method, window: window)
                if window.length < wanted.length {
                    Log.write(
                        .warning, "memory",
                        "texts to embed may have \(window.length) instead of \(wanted.length) tokens")
                }
                return made
            }
        }

        /// Counts a context for vectors of the model for text and has what is kept give way to it before it is made: with a shorter
        /// window where that fails, because nothing is planned of a card's own memory.
        /// - Throws: what the last attempt threw; nothing is counted then.
        func makeRoom<Made>(
            forVectors planned: EmbeddingWindow, _ make: (EmbeddingWindow) throws -> Made
        ) throws -> Made {
            do {
                return try planned.longest { window in
                    memory.count(window, of: .text)
                    shareRoom()
                    return try make(window)
                }
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
