#if Llama
import HearthBase
import HearthInference

extension LlamaActor {
    private nonisolated var text: RoleModel { RoleModel(engine: self, role: .text) }

    public nonisolated func tokenize(
        _ text: String, controlTokens: Bool, wholePrompt: Bool
    ) async throws -> [TokenID] {
        try await self.text.tokenize(text, controlTokens: controlTokens, wholePrompt: wholePrompt)
    }

    public nonisolated func count(_ messages: [ChatMessage]) async throws -> Int { try await text.count(messages) }

    public nonisolated func pieces(of tokens: [TokenID]) async throws -> [[UInt8]] {
        try await text.pieces(of: tokens)
    }

    public nonisolated func rendered(
        _ messages: [ChatMessage], options: GenerationOptions
    ) async throws -> (text: String, tokenCount: Int) { try await text.rendered(messages, options: options) }

    /// Reads a role's model outside the engine's thread. A count does not wait for an answer, and a cancelled caller
    /// does not wait for the count.
    nonisolated func counting<Result: Sendable>(
        _ role: EngineRole, _ body: @escaping @Sendable (Facts) throws -> Result
    ) async throws -> Result {
        _ = try answering(role)
        return try await abandonable {
            try await self.counts.turnUnlessCancelled {
                // Read after the wait, because a waiting caller must not keep a model in memory.
                let facts = try self.answering(role)
                return try await blocking { try body(facts) }
            }
        }
    }

    /// The vectors of texts. Parts of a text are computed between two steps of the running generations. The first
    /// call makes a context for vectors, which is kept so that no conversation is disturbed. Its window is at most
    /// 2048 tokens; it is shorter if only fewer fit beside the loaded models (``EmbeddingPlan``), until a model is
    /// unloaded. If another model is loaded during the call, that model makes all vectors. A call waits for a model
    /// that is being read. A cancelled call throws at once.
    public nonisolated func embed(_ texts: [String]) async throws -> [[Float]] {
        if texts.isEmpty {
            _ = try answering(.text)
            return []
        }
        let request = VectorRequest(texts)
        return try await request.reply.value(cancelling: request.signal) {
            mailbox.withLock { $0.add(request) }
            serve()
        }
    }
}
#endif
