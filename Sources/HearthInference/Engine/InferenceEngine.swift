import HearthBase

/// A loaded model that answers conversations.
public protocol InferenceEngine: Sendable {
    /// What is loaded.
    var modelInformation: ModelInformation { get async throws }

    /// Answers the last message of `messages`.
    ///
    /// Generations begin in the order in which they arrive; how many run side by side is the engine's matter. Cancelling the consuming task, or letting go of the
    /// stream, stops the engine within one prefill chunk or token and leaves it reusable; the cancelled task itself sees
    /// the stream end without ``GenerationEvent/finish(_:)``, as with every `AsyncThrowingStream`.
    /// - Throws (from the stream): ``LLMError``; `CancellationError` when the engine was stopped from elsewhere.
    nonisolated func generate(
        _ messages: [ChatMessage], options: GenerationOptions
    ) -> AsyncThrowingStream<GenerationEvent, any Error>

    /// Whether the loaded model's template knows tools, so that ``GenerationOptions/tools`` are described to it and its calls
    /// come as ``GenerationEvent/toolCall(_:)``. Not by default: a session then describes them in its own words.
    var callsTools: Bool { get async }

    /// Stops what runs and gives the model's memory back; the engine is not used any more after that. Nothing by default, for
    /// engines that hold nothing.
    func unload() async
}

extension InferenceEngine {
    public var callsTools: Bool { get async { false } }

    public func unload() async {}
}

/// The facts of a loaded model, read back from the engine rather than assumed.
public struct ModelInformation: Sendable, Hashable {
    /// The engine's own description, such as `llama 135M Q4_1`.
    public var description: String
    public var parameterCount: UInt64
    /// The bytes of the weights.
    public var size: UInt64
    /// The context window in tokens, as the engine made it.
    public var contextLength: Int
    /// The context the model was trained with, in tokens.
    public var trainedContextLength: Int
    /// The most tokens one prefill call takes.
    public var batchSize: Int
    public var threadCount: Int
    /// It gives vectors of texts, or ranks them, and generates none, as BERT.
    public var isEncoderOnly: Bool
    /// The numbers of a text's vector; 0 where the engine makes none, as of a model that ranks texts.
    public var embeddingLength: Int

    /// The given facts; a model that generates, unless said otherwise.
    public init(
        description: String, parameterCount: UInt64, size: UInt64, contextLength: Int, trainedContextLength: Int,
        batchSize: Int, threadCount: Int, isEncoderOnly: Bool = false, embeddingLength: Int = 0
    ) {
        self.description = description
        self.parameterCount = parameterCount
        self.size = size
        self.contextLength = contextLength
        self.trainedContextLength = trainedContextLength
        self.batchSize = batchSize
        self.threadCount = threadCount
        self.isEncoderOnly = isEncoderOnly
        self.embeddingLength = embeddingLength
    }
}
