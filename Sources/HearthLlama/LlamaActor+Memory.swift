#if Llama
import CLlamaShim
import HearthBase
import HearthInference

extension LlamaActor {
    /// The embedder of the model for text. The first call makes its context, with the longest window that fits
    /// beside the loaded models; kept states and pictures are dropped for it. A context that is shorter than wanted
    /// is made again after a model is unloaded.
    /// - Throws: `not-enough-memory` with both numbers, unless the model's configuration ignores memory;
    ///   `generation-failed` if llama.cpp cannot allocate the context.
    func embedder(of loop: GenerationLoop) throws -> TextEmbedder {
        let model = loop.model
        if let made = model.embedder { return made }
        let method = try EmbeddingMethod(model.weights, answers: model.sequences.context.hasMemory)
        let wanted = method.window(model.information.contextLength)
        let made = try makeRoom(forVectors: wanted) { window in
            try TextEmbedder(model.weights, method, window, threads: model.threads)
        }
        if made.window.length < wanted.length {
            Log.write(
                .warning, "memory",
                "texts to embed may have \(made.window.length) instead of \(wanted.length) tokens")
        }
        model.embedder = made
        return made
    }

    /// Makes a context for vectors with the longest window that fits by plan. Each failure halves the window.
    /// - Throws: the last error; the ledger then counts no context.
    func makeRoom<Made>(
        forVectors wanted: EmbeddingWindow, _ make: (EmbeddingWindow) throws -> Made
    ) throws -> Made {
        do {
            let planned = try memory.planVectors(wanted, of: .text)?.window ?? wanted
            return try planned.longest { window in
                _ = try memory.planVectors(window, of: .text)
                shareRoom()
                return try make(window)
            }
        } catch {
            memory.entries[.text]?.vectors = nil
            shareRoom()
            throw error
        }
    }

    /// Frees a context for vectors that is shorter than wanted. Called after a model is unloaded; the next call
    /// makes a longer one.
    func releaseShortEmbedder() {
        guard let model = loops[.text]?.model, let embedder = model.embedder,
            embedder.method.window(model.information.contextLength).isLarger(than: embedder.window)
        else { return }
        model.embedder = nil
        memory.entries[.text]?.vectors = nil
        for request in mailbox.withLock({ $0.vectors }) { request.restartText() }
    }

    /// Limits kept states and pictures to the memory that the models leave free.
    func shareRoom() {
        var hasDropped = false
        for (role, loop) in loops where loop.model.keep(memory.kept(for: role)) { hasDropped = true }
        // No model can use memory that the allocator keeps.
        if hasDropped { hearth_memory_trim() }
    }

    /// Forgets the computed tokens of all conversations that are not being answered, of all models. Files in a
    /// `stateFolder` stay.
    public func forget() async {
        for loop in loops.values { loop.model.conversations.forgetIdle() }
        hearth_memory_trim()
    }

    /// The memory of the GPU after the models of some roles are unloaded.
    func freeGPU(without roles: [EngineRole]) -> GPUMemory {
        guard var gpu = LlamaFacts.read().gpuMemory else { return .none }
        gpu.free += memory.gpuBytes(of: roles)
        return gpu
    }
}
#endif
