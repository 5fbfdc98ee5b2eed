#if Llama
import HearthBase
import HearthInference

extension LlamaActor {
    private nonisolated var text: RoleModel { RoleModel(engine: self, role: .text) }

    public nonisolated func tokenize(
        _ text: String, controlTokens: Bool, wholePrompt: Bool, limit: Int?
    ) async throws -> [TokenID] {
        try await self.text.tokenize(text, controlTokens: controlTokens, wholePrompt: wholePrompt, limit: limit)
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
    /// - Parameter bytes: the bytes of the text.
    /// - Throws: `context-window-exceeded` for more bytes than ``TextLimit`` allows; errors of `body`.
    nonisolated func counting<Result: Sendable>(
        _ role: EngineRole, bytes: Int, _ body: @escaping @Sendable (Facts) throws -> Result
    ) async throws -> Result {
        try TextLimit(window: answering(role).information.contextLength).check(bytes: bytes)
        return try await abandonable {
            try await self.texts.turnUnlessCancelled(bytes: bytes) {
                // Read after the wait, because a waiting caller must not keep a model in memory.
                try body(self.answering(role))
            }
        }
    }

    /// The vectors of texts. Parts of a text are computed between two steps of the running generations. The first
    /// call makes a context for vectors, which is kept so that no conversation is disturbed. Its window is at most
    /// 2048 tokens; it is shorter if only fewer fit beside the loaded models (``EmbeddingPlan``), until a model is
    /// unloaded. If another model is loaded during the call, that model makes all vectors. A call waits for a model
    /// that is being read. A cancelled call throws at once.
    public nonisolated func embed(_ texts: [String]) async throws -> [[Float]] {
        try await vectors(texts) { try $0.tokensToEmbed($1) }
    }

    /// The scores of documents, in the context for vectors.
    public nonisolated func rank(_ query: String, _ documents: [String]) async throws -> [Float] {
        try TextLimit(window: answering(.text).information.contextLength).check(bytes: query.utf8.count)
        return try await vectors(documents) { try $0.tokensToRank(query, $1) }.map { $0[0] }
    }

    private nonisolated func vectors(
        _ texts: [String], _ cut: @escaping @Sendable (ModelWeights, String) throws -> [TokenID]
    ) async throws -> [[Float]] {
        if texts.isEmpty {
            _ = try answering(.text)
            return []
        }
        while true {
            let request = try await vectorRequest(texts, cut)
            do {
                return try await request.reply.value(cancelling: request.signal) {
                    mailbox.withLock { $0.add(request) }
                    serve()
                }
            } catch is VectorRequest.ModelChanged {
                continue
            }
        }
    }

    /// Cuts texts into tokens for their vectors, outside the engine's thread.
    private nonisolated func vectorRequest(
        _ texts: [String], _ cut: @escaping @Sendable (ModelWeights, String) throws -> [TokenID]
    ) async throws -> VectorRequest {
        // Without a model, one may be on its way.
        if (try? answering(.text)) == nil { try await settle() }
        var tokens: [[TokenID]] = []
        var mark: LoadMark?
        while tokens.count < texts.count {
            // Short texts are cut together.
            var batch = [texts[tokens.count]]
            var bytes = batch[0].utf8.count
            for text in texts[(tokens.count + 1)...] {
                guard bytes + text.utf8.count <= 4096 else { break }
                bytes += text.utf8.count
                batch.append(text)
            }
            let made = try await counting(.text, bytes: bytes) { [batch] facts in
                (mark: facts.weights.mark, tokens: try batch.map { try cut(facts.weights, $0) })
            }
            if let mark, mark !== made.mark { tokens = [] } else { tokens += made.tokens }
            mark = made.mark
        }
        guard let mark else { throw Self.notLoaded }
        return VectorRequest(tokens, mark)
    }
}
#endif
