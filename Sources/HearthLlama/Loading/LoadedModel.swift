#if Llama
import CLlama
import HearthBase
import HearthInference

/// The model of one role: weights, a context for conversations, and one for vectors after the first call for one.
///
/// Unchecked because it owns C handles: only one thread at a time may use it. The loading thread uses it first,
/// then the engine's thread, and at the end the thread that saves its conversations.
final class LoadedModel: @unchecked Sendable {
    let weights: ModelWeights
    /// The context for conversations, with the ledger of its tokens.
    let sequences: Sequences
    let information: ModelInformation
    /// The most prompt tokens computed before the stop signals are read again.
    let chunkSize: Int
    /// The most messages of a conversation's history in a prompt.
    let historyLimit: Int?
    /// Whether the model answers questions about pictures although it was loaded for text.
    let supportsVision: Bool
    /// The projector that encodes pictures; `nil` for a model that reads only text.
    let projector: Projector?
    /// The most tokens of one part of a picture.
    let largestPicture: Int
    /// Decides how many requests are answered together.
    let admission: Admission
    /// The stop signals of the requests in the next computation.
    let listeners = StopGroup()
    /// The number of threads that compute the next step.
    let threads: StepThreads
    /// Makes vectors of texts with its own context; `nil` before the first call.
    var embedder: TextEmbedder?
    /// The conversations whose state is kept.
    let conversations: ConversationMemory

    var vocabulary: Vocabulary { weights.vocabulary }

    /// Loads the weights, makes a context and computes one token, so that the first answer is not slowed by it.
    ///
    /// - Parameters:
    ///   - hasGPU: whether ggml has a device besides the processor.
    ///   - fileSystem: the file system of the saved conversation states.
    ///   - progress: called with 0...1 on the loading thread; `false` ends loading.
    init(
        path: Path, projector: Path? = nil, configuration: LlamaConfiguration, supportsVision: Bool = false,
        hasGPU: Bool = LlamaFacts.hasGPU, fileSystem: any FileSystem = LocalFileSystem(),
        progress: @escaping (Float) -> Bool
    ) throws {
        weights = try ModelWeights(path: path, configuration: configuration, progress: progress)
        let projectorMade = try projector.map { [weights] in
            if configuration.checksWeights { try ModelFile.checkWeights($0, progress) }
            return try Projector(
                path: $0, weights: weights, configuration: configuration,
                cacheBytes: Int(clamping: configuration.resolvedPictureBytes))
        }
        self.projector = projectorMade
        let length = configuration.resolvedContextLength(trained: weights.trainedContextLength)
        let batch = min(configuration.resolvedBatchSize, length)
        let cells = configuration.resolvedCells(window: length)
        // Conversations share cells by counting positions; with grid positions a picture has fewer positions than
        // cells.
        let parallel =
            projectorMade?.hasGridPositions == true
            ? 1 : min(batch, configuration.resolvedSequences(canShare: weights.canForgetAPart))
        let hasOwnCells = weights.canForgetAPart && cells / parallel >= length
        // The compute buffers grow with the chunk, and chunks above llama.cpp's default are no faster.
        let shape = ModelContext.Shape(
            length: length, cells: cells, batch: batch,
            // A picture whose tokens attend to each other in both directions is computed in one call.
            chunk: projectorMade?.looksBothWays == true ? batch : min(batch, 512),
            threads: configuration.resolvedThreadCount,
            sequences: parallel, hasOwnCells: hasOwnCells,
            hasSpare: parallel > 1 && !hasOwnCells && weights.canForgetAPart && !weights.isEncoderOnly,
            cacheType: configuration.cacheType, flashAttention: configuration.flashAttention)
        var reason: UnsafeMutablePointer<CChar>?
        guard let context = ModelContext(weights, shape, reason: &reason) else {
            let vague = "there is not enough memory for its context of \(length) tokens"
            throw ModelFile.failure(path, LoadFailure.reason(reason, else: vague))
        }
        information = Self.readInformation(weights, context)
        let isOnGPU = configuration.resolvedGPULayers != 0 && hasGPU
        // A GPU that holds no layer still computes large batches.
        chunkSize = LlamaConfiguration.chunkSize(batch: context.batchSize, isInterruptible: !hasGPU)
        historyLimit = configuration.resolvedHistoryLimit
        admission = Admission(
            sequences: context.sequences, cells: context.cells, queueLimit: configuration.queueLimit)
        largestPicture = projectorMade?.looksBothWays == true ? context.batchSize : .max
        threads = StepThreads(
            count: context.threadCount, adapts: configuration.threadCount == nil && !isOnGPU)
        sequences = Sequences(context)
        conversations = ConversationMemory(
            sequences, maker: try Self.maker(path, projector, configuration),
            canGoBack: weights.canForgetAPart,
            states: StateCache(
                folder: configuration.stateFolder, limit: configuration.resolvedStateBytes, fileSystem: fileSystem),
            instructions: configuration.instructionFolder.map {
                StateCache(
                    ownFolder: $0, limit: LlamaConfiguration.instructionBytes, fileSystem: fileSystem)
            })
        self.supportsVision = supportsVision || projectorMade != nil
        sequences.context.listen(to: listeners)
        try warmUp(path)
    }

    /// Limits the states of conversations and the encoded pictures in memory; the least recently used are dropped
    /// first.
    /// - Returns: whether one was dropped.
    func keep(_ room: KeptBytes) -> Bool {
        let states = room.states.map { conversations.keep(atMost: $0) } ?? false
        let pictures = room.pictures.flatMap { projector?.keep(atMost: Int(clamping: $0)) } ?? false
        return states || pictures
    }

    /// Identifies the files and settings to which a state belongs. Empty without folders, because states of other
    /// processes are then never read.
    private static func maker(
        _ path: Path, _ projector: Path?, _ configuration: LlamaConfiguration
    ) throws -> String {
        if configuration.stateFolder == nil, configuration.instructionFolder == nil { return "" }
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
        let count = llama_model_n_params(model)
        // The size that llama.cpp names follows from the layers, and is wrong for models that it does not know.
        var words = String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split(separator: " ").map(String.init)
        if words.count > 2 { words[1] = ModelInformation.shortCount(count) }
        var information = ModelInformation(
            description: words.joined(separator: " "), contextLength: context.length)
        information.parameterCount = count
        information.size = llama_model_size(model)
        information.trainedContextLength = weights.trainedContextLength
        information.batchSize = context.batchSize
        information.threadCount = context.threadCount
        information.isEncoderOnly = !context.hasMemory
        information.embeddingLength = weights.ranksTexts ? 0 : weights.embeddingLength
        information.parallelAnswers = context.sequences
        return information
    }

    private func warmUp(_ path: Path) throws {
        var batch = TokenBatch(capacity: 1)
        batch.append([vocabulary.warmUpToken], at: 0, outputs: .last)
        let status = sequences.context.decode(batch, for: listeners)
        guard status == 0 else {
            throw ModelFile.failure(path, LoadFailure.reason(else: "its first token fails (status \(status))"))
        }
        sequences.clear(0)
    }

    // MARK: Threads

    /// Moves the model to the calling thread, whose engine measures its cores with `load`.
    func moveHere(_ load: CoreLoad) { threads.count(with: load) }

    /// Sets the number of threads to the machine's free cores. Called before a prompt.
    func chooseThreads() { threads.choose() }

    /// Computes one token for each of `streams` answers, and measures its time.
    func runDecodeStep(streams: Int, _ step: () -> Int32) -> Int32 {
        threads.expect(streams: streams)
        sequences.context.setThreadCount(threads.count)
        return threads.runDecodeStep(step)
    }

    /// Runs a step that computes prompts.
    /// - Parameters:
    ///   - limit: the most threads of the context that compute.
    ///   - others: the number of threads that computed, if other than those of the context; called after the step.
    func runPrefillStep(
        onAtMost limit: Int = .max, by others: () -> Int? = { nil }, _ step: () throws -> Int32
    ) rethrows -> Int32 {
        let count = min(limit, threads.count)
        sequences.context.setThreadCount(count)
        return try threads.runPrefillStep(by: { others() ?? count }, step)
    }
}

/// The limits for data that makes later answers faster and can be dropped at any time, in bytes.
struct KeptBytes: Sendable, Hashable {
    /// The states of conversations; `nil` if none are kept in memory.
    var states: UInt64?
    /// Encoded pictures; `nil` for a model that reads none.
    var pictures: UInt64?

    /// The number of kinds that are kept.
    var kinds: UInt64 { [states, pictures].reduce(0) { $0 + ($1 ?? 0 > 0 ? 1 : 0) } }
}
#endif
