#if Llama
    import HearthBase
    import HearthInference

    extension LlamaActor {
        /// Counted outside the engine's thread: a count does not wait for an answer, and a cancelled caller does not wait for the count.
        public nonisolated func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID] {
            try await tokenize(text, controlTokens: controlTokens, role: .text)
        }

        public nonisolated func count(_ messages: [ChatMessage]) async throws -> Int {
            try await count(messages, role: .text)
        }

        nonisolated func tokenize(
            _ text: String, controlTokens: ControlTokenReading, role: EngineRole
        ) async throws -> [TokenID] {
            try await counting(role) { facts in
                try facts.weights.vocabulary.tokens(
                    of: text, addSpecial: false, parseSpecial: controlTokens == .asControl)
            }
        }

        nonisolated func count(_ messages: [ChatMessage], role: EngineRole) async throws -> Int {
            try await counting(role) { try $0.weights.count(messages, projector: $0.projector) }
        }

        private nonisolated func counting<Result: Sendable>(
            _ role: EngineRole, _ body: @escaping @Sendable (Facts) throws -> Result
        ) async throws -> Result {
            _ = try answering(role)
            return try await abandonable { _ in
                try await self.counts.turnUnlessCancelled {
                    // Asked only now: a caller that waits here keeps no model.
                    let facts = try self.answering(role)
                    return try await blocking { try body(facts) }
                }
            }
        }

        /// The vectors of texts. A chunk of a text is computed between two steps of the generations that run. The context for vectors
        /// is made for the first call and kept, so that no conversation is disturbed: for at most 2048 tokens, fewer if
        /// the memory holds only those beside the loaded models (``EmbeddingPlan``), until a model leaves.
        /// If another model is loaded meanwhile, all vectors are that model's; a call waits for a model that is being read.
        /// A cancelled call throws at once.
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
