#if Llama
    import CLlama
    import CLlamaShim
    import HearthBase
    import HearthInference

    /// How a file of weights says that vectors are made with it.
    struct EmbeddingMethod {
        let pooling: EmbeddingPooling
        /// Its tokens look at those after them.
        private let looksAhead: Bool
        /// The model answers too, see ``EmbeddingWindow/answers``.
        private let answers: Bool

        /// - Throws: `generation-failed` for models that rank texts instead of placing them.
        init(_ model: LoadedModel) throws {
            let weights = model.weights
            answers = model.context.hasMemory
            // 0 is "none": the model leaves it to whoever asks.
            let declared = weights.declaredPooling ?? 0
            guard let pooling = declared == 0 ? .mean : EmbeddingPooling(rawValue: declared) else {
                throw LLMError(
                    .generateFailed, "this model ranks texts; it gives no vector for one", disposition: .usage)
            }
            self.pooling = pooling
            looksAhead = weights.metadata("%.attention.causal") == "false"
        }

        /// A window of so many tokens.
        func window(_ length: Int) -> EmbeddingWindow {
            EmbeddingWindow(length: length, looksAhead: looksAhead, answers: answers)
        }
    }

    extension ModelWeights {
        /// How the file says that the vectors of tokens become one (`llama_pooling_type`).
        fileprivate var declaredPooling: UInt32? { metadata("%.pooling_type").flatMap { UInt32($0) } }

        /// It ranks a text against another (`LLAMA_POOLING_TYPE_RANK`), which gives no vector.
        var ranksTexts: Bool { declaredPooling == 4 }
    }

    /// Makes vectors of texts. Used on the engine's thread only.
    final class TextEmbedder {
        let method: EmbeddingMethod
        /// What its context was made with.
        let window: EmbeddingWindow
        private let weights: ModelWeights
        private let context: ModelContext
        private let chunkSize: Int
        private let threads: StepThreads

        /// Makes a context of its own.
        /// - Parameter threads: of the model, which computes with them too.
        /// - Throws: `generation-failed`.
        init(_ weights: ModelWeights, _ method: EmbeddingMethod, _ window: EmbeddingWindow, threads: StepThreads) throws
        {
            var reason: UnsafeMutablePointer<CChar>?
            let shape = ModelContext.Shape(
                length: window.length, batch: window.chunk, chunk: window.chunk, threads: threads.count,
                embeddings: true)
            guard let context = ModelContext(weights, shape, reason: &reason) else {
                throw LLMError(
                    .generateFailed,
                    "there is no room to embed text: "
                        + LoadFailure.reason(
                            reason, else: "not enough memory for a context of \(window.length) tokens"))
            }
            self.weights = weights
            self.method = method
            self.window = window
            self.threads = threads
            chunkSize = context.batchSize
            self.context = context
        }

        /// The threads that computed last.
        var threadCount: Int { context.threadCount }

        /// The vector of a text.
        /// - Parameters:
        ///   - index: which of those asked for it is.
        ///   - pause: called between two computations, for whatever else waits.
        func embed(_ text: String, _ index: Int, signal: StopSignal, pause: () -> Void) throws -> [Float] {
            // Whoever computes next may need their cores.
            defer { context.rest() }
            return try context.listening(to: signal) {
                var batch = TokenBatch(capacity: chunkSize)
                return try embed(text, index, &batch, signal, pause)
            }
        }

        private func embed(
            _ text: String, _ index: Int, _ batch: inout TokenBatch, _ signal: StopSignal, _ pause: () -> Void
        ) throws -> [Float] {
            let window = context.length
            // Before the tokeniser gets it: it would take its time for something that cannot fit.
            let fewest = weights.fewestTokens(inBytes: text.utf8.count)
            guard fewest <= window else { throw Self.tooLong("at least \(fewest)", window) }
            let tokens = try weights.vocabulary.tokens(of: text, addSpecial: true, parseSpecial: false)
            guard !tokens.isEmpty else {
                throw LLMError(
                    .nothingToEmbed, "text \(index + 1) to embed is empty",
                    context: ErrorContext(field: "texts[\(index)]", remedy: "Leave empty texts out."),
                    disposition: .usage)
            }
            guard tokens.count <= window else { throw Self.tooLong("\(tokens.count)", window) }

            context.clear()
            var pool = EmbeddingPool(method.pooling, length: weights.embeddingLength)
            var position = 0
            while position < tokens.count {
                if position > 0 {
                    context.rest()
                    pause()
                }
                if signal.isSet { throw CancellationError() }
                let chunk = tokens[position..<min(tokens.count, position + chunkSize)]
                batch.removeAll()
                batch.append(chunk, at: position, outputs: .all)
                context.setThreadCount(threads.count)
                let status = threads.counted { context.decode(batch) }
                if status != 0 {
                    if signal.isSet { throw CancellationError() }
                    throw LLMError(.generateFailed, "the engine failed while it was embedding (status \(status))")
                }
                for index in 0..<chunk.count {
                    guard let vector = llama_get_embeddings_ith(context.raw, Int32(index)) else {
                        throw LLMError(.generateFailed, "the engine gave no vector for a token")
                    }
                    pool.append(UnsafeBufferPointer(start: vector, count: weights.embeddingLength))
                }
                position += chunk.count
            }
            guard let vector = pool.normalised else {
                throw LLMError(.generateFailed, "the model gives text \(index + 1) no direction")
            }
            return vector
        }

        private static func tooLong(_ count: String, _ window: Int) -> LLMError {
            LLMError(
                .exceededContextWindowSize, "a text to embed has \(count) tokens, at most \(window) fit",
                context: ErrorContext(
                    expected: "at most \(window) tokens", found: "\(count) tokens",
                    remedy: "Cut the text into parts and embed each."),
                disposition: .usage)
        }
    }
#endif
