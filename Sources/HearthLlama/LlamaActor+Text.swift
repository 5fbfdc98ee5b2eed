#if Llama
    import HearthBase
    import HearthInference

    extension LlamaActor: TokenCounting, TextEmbedding {
        /// Answered beside the engine's own thread: who counts does not wait for an answer.
        public nonisolated func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID] {
            let weights = try answering(.text).weights
            return try await blocking {
                try weights.vocabulary.tokens(
                    of: text, addSpecial: false, parseSpecial: controlTokens == .asControl)
            }
        }

        public nonisolated func count(_ messages: [ChatMessage]) async throws -> Int {
            let facts = try answering(.text)
            return try await blocking { try facts.weights.count(messages, projector: facts.projector) }
        }

        /// Done between two steps of the generations under way. A context of its own is made for the first call and kept, so that
        /// no conversation is disturbed.
        public nonisolated func embed(_ texts: [String]) async throws -> [[Float]] {
            let signal = StopSignal()
            knock()
            return try await withTaskCancellationHandler {
                try await embed(texts, signal)
            } onCancel: {
                signal.cancel()
            }
        }
    }
#endif
