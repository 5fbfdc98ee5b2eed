#if Llama
    import CLlama
    import CLlamaShim
    import HearthBase
    import HearthInference

    /// The model of one role: weights, a context for conversations, and one for vectors after the first call for one.
    ///
    /// Unchecked because it owns C handles: only one thread at a time may touch it. That is the loading thread until it is loaded,
    /// then the engine's, and at the end the one that saves its conversations.
    final class LoadedModel: @unchecked Sendable {
        let weights: ModelWeights
        /// The context for conversations, with the ledger of its tokens.
        let sequences: Sequences
        let information: ModelInformation
        /// The most prompt tokens computed before the stop signals are read again.
        let chunkSize: Int
        /// The most messages of a conversation's history in a prompt.
        let historyLimit: Int?
        /// Whether it answers questions about pictures although it was loaded for text.
        let supportsVision: Bool
        /// The projector that reads pictures; `nil` for a model that answers text alone.
        let projector: Projector?
        /// The most tokens a part of a picture may have.
        let largestPicture: Int
        /// How many requests are answered together.
        let admission: Admission
        /// The stop signals of the requests that the next computation is for.
        let listeners = StopGroup()
        /// The number of threads that compute the next step.
        let threads: StepThreads
        /// Makes vectors of texts, with a context of its own; `nil` before the first call.
        var embedder: TextEmbedder?
        /// The conversations that come back to it.
        let conversations: ConversationMemory

        var vocabulary: Vocabulary { weights.vocabulary }

        /// Loads the weights, makes a context and computes one token, so that the first answer does not pay for it.
        ///
        /// - Parameters:
        ///   - hasGPU: whether ggml sees a device besides the processor.
        ///   - fileSystem: where the states of conversations are kept.
        ///   - progress: called with 0...1 on the loading thread; `false` ends loading.
        init(
            path: Path, projector: Path? = nil, configuration: LlamaConfiguration, supportsVision: Bool = false,
            hasGPU: Bool = LlamaFacts.hasGPU, fileSystem: any FileSystem = LocalFileSystem(),
            progress: @escaping (Float) -> Bool
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
                // A picture whose tokens look both ways is computed in one call.
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
            largestPicture = projectorMade?.looksBothWays == true ? context.batchSize : .max
            threads = StepThreads(
                count: context.threadCount, adapts: configuration.threadCount == nil && !isOnGPU)
            sequences = Sequences(context)
            conversations = ConversationMemory(
                sequences, maker: try Self.maker(path, projector, configuration), canGoBack: weights.canForgetAPart,
                attendsToAll: !configuration.hasFlashAttention,
                states: StateCache(
                    folder: configuration.stateFolder, limit: configuration.resolvedStateBytes, fileSystem: fileSystem))
            self.supportsVision = supportsVision || projectorMade != nil
            sequences.context.listen(to: listeners)
            try warmUp(path)
        }

        /// Bounds the states of conversations and the encoded pictures in memory; those used longest ago go first.
        /// - Returns: whether one was dropped.
        func keep(_ room: KeptBytes) -> Bool {
            let states = room.states.map { conversations.keep(atMost: $0) } ?? false
            let pictures = room.pictures.flatMap { projector?.keep(atMost: Int(clamping: $0)) } ?? false
            return states || pictures
        }

        /// Names the files and settings that a state fits; empty without a folder, where no other process's states are met.
        private static func maker(
            _ path: Path, _ projector: Path?, _ configuration: LlamaConfiguration
        ) throws -> String {
            if configuration.stateFolder == nil { return "" }
            let files = try ([path] + [projector].compactMap { $0 }).map { try ModelFingerprint.read($0) }
            let layout = configuration.hasFlashAttention ? "" : " without flash attention"
            let settings = "\(configuration.cacheType.rawValue) \(configuration.imageTokens)\(layout)"
            return files.joined(separator: " ") + " llama.cpp \(LlamaLibrary.version) \(settings)"
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
            let status = sequences.context.decode(batch)
            guard status == 0 else {
                throw LoadFailure.error(path, LoadFailure.reason(else: "its first token fails (status \(status))"))
            }
            sequences.clear(0)
        }

        // MARK: Threads

        /// Moves the model to the calling thread, whose engine counts with `load`.
        func moveHere(_ load: CoreLoad) { threads.count(with: load) }

        /// Before a prompt: as many threads as the machine has cores for.
        func chooseThreads() { threads.choose() }

        /// Runs one token's step of so many answers, and learns from the time it takes.
        func runDecodeStep(streams: Int, _ step: () -> Int32) -> Int32 {
            threads.expect(streams: streams)
            sequences.context.setThreadCount(threads.count)
            return threads.runDecodeStep(step)
        }

        /// Runs a step in which prompts are read.
        /// - Parameter others: the number of threads that computed, if not those of the context; asked after the step.
        func runPrefillStep(by others: () -> Int? = { nil }, _ step: () throws -> Int32) rethrows -> Int32 {
            sequences.context.setThreadCount(threads.count)
            return try threads.runPrefillStep(by: others, step)
        }
    }

    /// The most bytes of data that only makes later answers faster, and can be dropped at any time.
    struct KeptBytes: Sendable, Hashable {
        /// The states of conversations; `nil` if none are kept in memory.
        var states: UInt64?
        /// Encoded pictures; `nil` for a model that reads none.
        var pictures: UInt64?

        /// The number of kinds that are kept.
        var kinds: UInt64 { [states, pictures].reduce(0) { $0 + ($1 ?? 0 > 0 ? 1 : 0) } }
    }
#endif
