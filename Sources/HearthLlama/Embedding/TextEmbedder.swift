#if Llama
    import CLlama
    import CLlamaShim
    import HearthBase
    import HearthInference

    /// The way in which a file of weights makes vectors.
    struct EmbeddingMethod {
        let pooling: EmbeddingPooling
        /// The attention of its tokens includes the tokens after them.
        private let looksAhead: Bool
        /// The model answers too, see ``EmbeddingWindow/answers``.
        private let answers: Bool

        /// - Parameter answers: whether the model's context keeps what it computes.
        /// - Throws: `generation-failed` for models that rank texts instead of placing them.
        init(_ weights: ModelWeights, answers: Bool) throws {
            self.answers = answers
            // 0 is "none": the model leaves it to the caller.
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
        /// The window its context was made with.
        let window: EmbeddingWindow
        private let weights: ModelWeights
        private let context: ModelContext
        private let threads: StepThreads
        private var batch: TokenBatch

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
            batch = TokenBatch(capacity: context.batchSize)
            self.context = context
        }

        /// The threads that computed last.
        var threadCount: Int { context.threadCount }

        /// A text whose vector is being made.
        struct Text {
            fileprivate let index: Int
            fileprivate let tokens: [llama_token]
            fileprivate var position = 0
            fileprivate var pool: EmbeddingPool
        }

        /// Begins with a text; the one before is forgotten.
        /// - Parameter index: its place among the caller's texts.
        func begin(_ text: String, _ index: Int) throws -> Text {
            let window = context.length
            // Checked before the tokeniser runs, which takes long for a text that cannot fit.
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
            return Text(
                index: index, tokens: tokens, pool: EmbeddingPool(method.pooling, length: weights.embeddingLength))
        }

        /// Computes the next tokens of a text.
        /// - Returns: the vector after the last of them.
        func step(_ text: inout Text, signal: StopSignal) throws -> [Float]? {
            // The next computation may be another context's.
            defer { context.rest() }
            let chunk = text.tokens[text.position..<min(text.tokens.count, text.position + context.batchSize)]
            batch.removeAll()
            batch.append(chunk, at: text.position, outputs: .all)
            context.setThreadCount(threads.count)
            let status = context.listening(to: signal) { threads.runPrefillStep { context.decode(batch) } }
            if status != 0 {
                if signal.isSet { throw CancellationError() }
                throw LLMError(.generateFailed, "the engine failed while it was embedding (status \(status))")
            }
            for index in 0..<chunk.count {
                guard let vector = llama_get_embeddings_ith(context.raw, Int32(index)) else {
                    throw LLMError(.generateFailed, "the engine gave no vector for a token")
                }
                text.pool.append(UnsafeBufferPointer(start: vector, count: weights.embeddingLength))
            }
            text.position += chunk.count
            guard text.position == text.tokens.count else { return nil }
            guard let vector = text.pool.normalised else {
                throw LLMError(.generateFailed, "the model gives text \(text.index + 1) no direction")
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
