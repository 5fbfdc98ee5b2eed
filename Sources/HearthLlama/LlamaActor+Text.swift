#if Llama
    import HearthBase
    import HearthInference

    extension LlamaActor {
        /// Answered beside the engine's own thread: who counts does not wait for an answer, and who is cancelled not for the count.
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
                    // Only now, or whoever waits here would keep a model that is unloaded meanwhile.
                    let facts = try self.answering(role)
                    return try await blocking { try body(facts) }
                }
            }
        }

        /// Done text by text between two steps of the generations under way, which go on within long texts too. A context of its
        /// own is made for the first call and kept, so that no conversation is disturbed: of at most 2048 tokens, of fewer where
        /// the memory holds only those beside what is loaded or on its way (``EmbeddingPlan``), until that leaves room for more.
        /// Where another model is loaded meanwhile all vectors are that one's, also when the call comes while there is none yet.
        /// Cancelled it throws at once while it waits for a model or for the engine's thread, and from then on after the step that
        /// is being computed.
        public nonisolated func embed(_ texts: [String]) async throws -> [[Float]] {
            // No text goes to the engine's thread, where it would show that there is no model.
            if texts.isEmpty { _ = try answering(.text) }
            let signal = StopSignal()
            return try await withTaskCancellationHandler {
                while true {
                    if let vectors = try await embed(texts, signal) { return vectors }
                }
            } onCancel: {
                signal.cancel()
            }
        }

        /// - Returns: `nil` when another model has taken the place of the one that made the first vector.
        private nonisolated func embed(_ texts: [String], _ signal: StopSignal) async throws -> [[Float]]? {
            var vectors: [[Float]] = []
            // Not the model itself: held here, its memory would not be free while the next one is read.
            var mark: LoadMark?
            for (index, text) in texts.enumerated() {
                let made = try await self.texts.turnUnlessCancelled {
                    try await abandonable { [mark] wait in
                        self.knock()
                        return try await self.embed(text, index, by: mark, signal, wait)
                    }
                }
                switch made {
                case .made(let vector, by: let maker):
                    mark = maker
                    vectors.append(vector)
                case .replaced: return nil
                case .beingRead:
                    try await settle()
                    return nil
                }
            }
            return vectors
        }
    }
#endif
