#if Llama
    import CLlama
    import CLlamaShim
    import HearthBase
    import HearthInference

    /// What one role holds: weights, a context for the conversation, and one for embeddings once somebody asks.
    ///
    /// Unchecked because it owns C handles: only the thread of the actor that loaded it may touch it; when the actor is gone,
    /// whoever lets go last.
    final class LoadedModel: @unchecked Sendable {
        let weights: ModelWeights
        let context: ModelContext
        let information: ModelInformation
        /// The most prompt tokens computed between two looks at whether anybody still wants the answer.
        let chunkSize: Int
        /// The most messages of a conversation's history in a prompt.
        let historyLimit: Int?
        /// Whether it answers questions about pictures although it was loaded for text.
        let supportsVision: Bool
        /// The tokens whose state the context holds, in order: exact, or reuse would answer something that was not asked.
        var ledger: [llama_token] = []
        private let configuration: LlamaConfiguration
        private var embedderMade: TextEmbedder?

        var vocabulary: Vocabulary { weights.vocabulary }

        /// Loads the weights, makes a context and computes one token, so that the first answer does not pay for it.
        ///
        /// - Parameter progress: called with 0...1 on the loading thread; `false` ends loading.
        init(
            path: Path, configuration: LlamaConfiguration, supportsVision: Bool = false,
            progress: @escaping (Float) -> Bool
        ) throws {
            weights = try ModelWeights(path: path, configuration: configuration, progress: progress)
            let length = configuration.resolvedContextLength(trained: weights.trainedContextLength)
            let batch = min(configuration.resolvedBatchSize, length)
            // The compute buffers grow with the chunk, and nothing gets faster beyond llama.cpp's own default.
            let shape = ModelContext.Shape(
                length: length, batch: batch, chunk: min(batch, 512), threads: configuration.resolvedThreadCount)
            var reason: UnsafeMutablePointer<CChar>?
            guard let context = ModelContext(weights, shape, reason: &reason) else {
                let vague = "there is not enough memory for its context of \(length) tokens"
                throw LoadFailure.error(path, LoadFailure.reason(reason, else: vague))
            }
            information = Self.readInformation(weights, context)
            let isOnGPU = configuration.resolvedGPULayers != 0 && LlamaFacts.hasGPU
            chunkSize = LlamaConfiguration.chunkSize(batch: context.batchSize, isInterruptible: !isOnGPU)
            historyLimit = configuration.resolvedHistoryLimit
            self.context = context
            self.supportsVision = supportsVision
            self.configuration = configuration
            try warmUp(path)
        }

        /// What makes vectors of texts, with a context of its own, so that it does not disturb the conversation.
        func embedder() throws -> TextEmbedder {
            if let embedderMade { return embedderMade }
            let embedder = try TextEmbedder(
                weights, length: information.contextLength, threads: information.threadCount)
            embedderMade = embedder
            return embedder
        }

        private static func readInformation(_ weights: ModelWeights, _ context: borrowing ModelContext)
            -> ModelInformation
        {
            let model = weights.model
            var text = [CChar](repeating: 0, count: 256)
            let length = max(0, min(Int(llama_model_desc(model, &text, text.count)), text.count - 1))
            return ModelInformation(
                description: String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self),
                parameterCount: llama_model_n_params(model), size: llama_model_size(model),
                contextLength: context.length, trainedContextLength: weights.trainedContextLength,
                batchSize: context.batchSize, threadCount: context.threadCount)
        }

        private func warmUp(_ path: Path) throws {
            var token = vocabulary.warmUpToken
            let status = context.decode(&token, 1)
            guard status == 0 else {
                throw LoadFailure.error(path, LoadFailure.reason(else: "its first token fails (status \(status))"))
            }
            clearMemory()
        }

        // MARK: Memory

        /// Forgets all tokens.
        func clearMemory() {
            context.clear()
            ledger.removeAll(keepingCapacity: true)
        }

        /// Keeps the state of the first `count` tokens; models that cannot forget a part forget everything.
        func truncateMemory(to count: Int) {
            guard context.truncate(to: count) else { return clearMemory() }
            ledger.removeSubrange(min(count, ledger.count)...)
        }
    }
#endif
