#if Llama
    import CLlama
    import CLlamaShim
    import HearthBase
    import HearthInference

    /// What one role holds: weights, a context for the conversation, and one for embeddings once somebody asks.
    ///
    /// Unchecked because it owns C handles: only one thread at a time may touch it. That is the one that loads it until it is loaded,
    /// then the engine's; when the engine is gone, whoever lets go last.
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
        /// What makes pictures readable; `nil` for a model that answers with text alone.
        let projector: Projector?
        /// The most tokens a part of a picture may have.
        let largestPicture: Int
        /// How many requests are answered together.
        let admission: Admission
        /// Whom the next computation is for.
        let listeners = StopGroup()
        /// The tokens whose state each sequence holds, in order: exact, or reuse would answer something that was not asked.
        private var ledgers: [[llama_token]]
        private let configuration: LlamaConfiguration
        /// With how many threads its steps are computed, and those of its vectors.
        let threads: StepThreads
        /// What makes vectors of texts, once somebody has asked for one.
        private(set) var embedder: TextEmbedder?
        /// The conversations that come back to it.
        let conversations: ConversationMemory

        var vocabulary: Vocabulary { weights.vocabulary }

        /// Loads the weights, makes a context and computes one token, so that the first answer does not pay for it.
        ///
        /// - Parameters:
        ///   - hasGPU: whether ggml sees a device besides the processor.
        ///   - progress: called with 0...1 on the loading thread; `false` ends loading.
        init(
            path: Path, projector: Path? = nil, configuration: LlamaConfiguration, supportsVision: Bool = false,
            hasGPU: Bool = LlamaFacts.hasGPU, progress: @escaping (Float) -> Bool
        ) throws {
            weights = try ModelWeights(path: path, configuration: configuration, progress: progress)
            let projectorMade = try projector.map { [weights] in
                try Projector(
                    path: $0, weights: weights, configuration: configuration,
                    cacheBytes: Int(clamping: configuration.resolvedPictureBytes))
            }
            self.projector = projectorMade
            let length = configuration.resolvedContextLength(trained: weights.trainedContextLength)
            let batch = min(configuration.resolvedBatchSize, length)
            // The compute buffers grow with the chunk, and nothing gets faster beyond llama.cpp's own default.
            let shape = ModelContext.Shape(
                length: length, cells: configuration.resolvedCells(window: length), batch: batch,
                // What looks both ways is computed in one go.
                chunk: projectorMade?.looksBothWays == true ? batch : min(batch, 512),
                threads: configuration.resolvedThreadCount,
                // Several conversations share cells by counting positions, which are not the same there.
                sequences: projectorMade?.hasGridPositions == true
                    ? 1 : min(batch, configuration.resolvedSequences(canShare: weights.canForgetAPart)),
                cacheType: configuration.cacheType, flashAttention: configuration.flashAttention)
            var reason: UnsafeMutablePointer<CChar>?
            guard let context = ModelContext(weights, shape, reason: &reason) else {
                let vague = "there is not enough memory for its context of \(length) tokens"
                throw LoadFailure.error(path, LoadFailure.reason(reason, else: vague))
            }
            information = Self.readInformation(weights, context)
            let isOnGPU = configuration.resolvedGPULayers != 0 && hasGPU
            // Also without a layer on it a GPU computes large batches.
            chunkSize = LlamaConfiguration.chunkSize(batch: context.batchSize, isInterruptible: !hasGPU)
            historyLimit = configuration.resolvedHistoryLimit
            admission = Admission(
                sequences: context.sequences, cells: context.cells, queueLimit: configuration.queueLimit)
            ledgers = Array(repeating: [], count: context.sequences)
            conversations = try Self.makeMemory(path, projector, weights, configuration, context)
            largestPicture = projectorMade?.looksBothWays == true ? context.batchSize : .max
            self.context = context
            self.supportsVision = supportsVision || projectorMade != nil
            self.configuration = configuration
            threads = StepThreads(
                count: self.context.threadCount, adapts: configuration.threadCount == nil && !isOnGPU)
            self.context.listen(to: listeners)
            try warmUp(path)
        }

        /// Makes what makes vectors of texts, with a context of its own, so that it does not disturb the conversation.
        /// - Throws: `generation-failed` where llama.cpp has no room for it.
        func makeEmbedder(_ method: EmbeddingMethod, window: EmbeddingWindow) throws -> TextEmbedder {
            let made = try TextEmbedder(weights, method, window, threads: threads)
            embedder = made
            return made
        }

        /// Gives back what makes vectors, with its context.
        func letGoOfEmbedder() { embedder = nil }

        /// Bounds what is kept of conversations in memory and of pictures; what was used longest ago goes first.
        /// - Returns: whether something had to go.
        func keep(_ room: MemoryLedger.Kept) -> Bool {
            let states = room.states.map { conversations.keep(atMost: $0) } ?? false
            let pictures = room.pictures.flatMap { projector?.keep(atMost: Int(clamping: $0)) } ?? false
            return states || pictures
        }

        private static func makeMemory(
            _ path: Path, _ projector: Path?, _ weights: ModelWeights, _ configuration: LlamaConfiguration,
            _ context: borrowing ModelContext
        ) throws -> ConversationMemory {
            // Within one process's life of one model nobody else's states are met.
            let maker =
                try configuration.stateFolder.map { _ -> String in
                    let files = try ([path] + [projector].compactMap { $0 }).map { try ModelFingerprint.read($0) }
                    // What the state is made of is the same only with these.
                    let layout = configuration.hasFlashAttention ? "" : " without flash attention"
                    let settings = "\(configuration.cacheType.rawValue) \(configuration.imageTokens)\(layout)"
                    return files.map { "\($0)" }.joined(separator: " ")
                        + " llama.cpp \(LlamaLibrary.version) \(settings)"
                } ?? ""
            return ConversationMemory(
                maker: maker, window: context.length, cells: context.cells, sequences: context.sequences,
                canGoBack: weights.canForgetAPart, attendsToAll: !configuration.hasFlashAttention,
                folder: configuration.stateFolder, savedBytes: configuration.resolvedStateBytes)
        }

        private static func readInformation(_ weights: ModelWeights, _ context: borrowing ModelContext)
            -> ModelInformation
        {
            let model = weights.model
            var text = [CChar](repeating: 0, count: 256)
            let length = max(0, min(Int(llama_model_desc(model, &text, text.count)), text.count - 1))
            return ModelInformation(
                description: String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self),
                contextLength: context.length, parameterCount: llama_model_n_params(model),
                size: llama_model_size(model), trainedContextLength: weights.trainedContextLength,
                batchSize: context.batchSize, threadCount: context.threadCount, isEncoderOnly: !context.hasMemory,
                embeddingLength: weights.ranksTexts ? 0 : weights.embeddingLength)
        }

        private func warmUp(_ path: Path) throws {
            var batch = TokenBatch(capacity: 1)
            batch.append([vocabulary.warmUpToken], at: 0, outputs: .last)
            let status = context.decode(batch)
            guard status == 0 else {
                throw LoadFailure.error(path, LoadFailure.reason(else: "its first token fails (status \(status))"))
            }
            clearMemory(0)
        }

        // MARK: Threads

        /// From now on it computes on the calling thread, whose engine counts with `load`.
        func moveHere(_ load: CoreLoad) { threads.count(with: load) }

        /// Before a prompt: as many threads as the machine has cores for.
        func chooseThreads() { threads.choose() }

        /// Runs one token's step of so many answers, and learns from the time it takes.
        func timed(streams: Int, _ step: () -> Int32) -> Int32 {
            threads.expect(streams: streams)
            context.setThreadCount(threads.count)
            return threads.timed(step)
        }

        /// Runs a step in which prompts are read.
        /// - Parameter others: how many threads it was that computed, if not those of the context; asked after the step.
        func counted(by others: () -> Int? = { nil }, _ step: () throws -> Int32) rethrows -> Int32 {
            context.setThreadCount(threads.count)
            return try threads.counted(by: others, step)
        }

        // MARK: Memory

        /// The tokens whose state a sequence holds.
        func ledger(_ sequence: Int) -> [llama_token] { ledgers[sequence] }

        /// Tokens were computed at the end of a sequence.
        func didCompute(_ tokens: some Sequence<llama_token>, in sequence: Int) {
            ledgers[sequence].append(contentsOf: tokens)
        }

        /// Another state was put in place of a sequence's.
        func didReplace(_ sequence: Int, by tokens: [llama_token]) { ledgers[sequence] = tokens }

        /// Forgets the tokens of a sequence.
        func clearMemory(_ sequence: Int) {
            context.clear(sequence)
            ledgers[sequence].removeAll(keepingCapacity: true)
        }

        /// Keeps the state of the first `count` tokens of a sequence; models that cannot forget a part forget everything.
        func truncateMemory(_ sequence: Int, to count: Int) {
            guard context.truncate(sequence, to: count) else { return clearMemory(sequence) }
            ledgers[sequence].removeSubrange(min(count, ledgers[sequence].count)...)
        }
    }
#endif
