#if Llama
import HearthBase
import HearthInference

extension LlamaActor {
    /// Counts tokens outside the engine's thread. A count does not wait for an answer, and a cancelled caller does
    /// not wait for the count.
    public nonisolated func tokenize(
        _ text: String, controlTokens: Bool, wholePrompt: Bool
    ) async throws -> [TokenID] {
        try await tokenize(text, controlTokens: controlTokens, wholePrompt: wholePrompt, role: .text)
    }

    public nonisolated func count(_ messages: [ChatMessage]) async throws -> Int {
        try await count(messages, role: .text)
    }

    nonisolated func tokenize(
        _ text: String, controlTokens: Bool, wholePrompt: Bool, role: EngineRole
    ) async throws -> [TokenID] {
        try await counting(role) { facts in
            try facts.weights.vocabulary.tokens(of: text, addSpecial: wholePrompt, parseSpecial: controlTokens)
        }
    }

    nonisolated func count(_ messages: [ChatMessage], role: EngineRole) async throws -> Int {
        try await counting(role) { try $0.weights.count(messages, projector: $0.projector) }
    }

    public nonisolated func pieces(of tokens: [TokenID]) async throws -> [[UInt8]] {
        try await pieces(of: tokens, role: .text)
    }

    public nonisolated func rendered(
        _ messages: [ChatMessage], options: GenerationOptions
    ) async throws -> (text: String, tokenCount: Int) {
        try await rendered(messages, options: options, role: .text)
    }

    nonisolated func pieces(of tokens: [TokenID], role: EngineRole) async throws -> [[UInt8]] {
        try await counting(role) { try $0.weights.vocabulary.pieces(of: tokens) }
    }

    nonisolated func rendered(
        _ messages: [ChatMessage], options: GenerationOptions, role: EngineRole
    ) async throws -> (text: String, tokenCount: Int) {
        try await counting(role) { try $0.weights.rendered(messages, options, projector: $0.projector) }
    }

    private nonisolated func counting<Result: Sendable>(
        _ role: EngineRole, _ body: @escaping @Sendable (Facts) throws -> Result
    ) async throws -> Result {
        _ = try answering(role)
        return try await abandonable { _ in
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
