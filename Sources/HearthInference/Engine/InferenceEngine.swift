/// A loaded or remote model that answers conversations.
///
/// ```swift
/// let summary = try await engine.generate([ChatMessage(.user, "Why?")], options: GenerationOptions()) { event in
///     if case .text(let piece) = event { print(piece, terminator: "") }
/// }
/// ```
/// A conforming type needs ``modelInformation``, ``capabilities`` and ``generate(_:options:onEvent:)``; an engine on this
/// device also has ``tokens``. Conversations with history and tools use ``LanguageModelSession``.
public protocol InferenceEngine: Sendable {
    /// The facts of the model.
    var modelInformation: ModelInformation { get async throws }

    /// The abilities of the engine with its model.
    var capabilities: EngineCapabilities { get async throws }

    /// Answers the last message of `messages`.
    ///
    /// Generations start in the order of the calls; the engine decides how many run side by side. Cancelling the task ends the
    /// call with `CancellationError`; the engine stops within one prefill chunk or token and stays usable.
    /// - Parameter onEvent: called for each event in order, one call at a time, and never after this method returned or threw.
    ///   It may run on the engine's own thread, so it must not block. Engines report no ``GenerationEvent/finish(_:)``.
    /// - Returns: the facts of the complete answer.
    /// - Throws: ``LLMError``; `CancellationError` also when another caller stopped the engine.
    func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary

    /// Reads tokens, makes vectors and prepares prompts; `nil` by default, as for a remote engine.
    var tokens: (any TokenReader)? { get }
}

extension InferenceEngine {
    public var tokens: (any TokenReader)? { nil }
}

extension InferenceEngine where Self: TokenReader {
    public var tokens: (any TokenReader)? { self }
}

/// The facts of a model, as its engine reports them.
public struct ModelInformation: Sendable, Hashable {
    /// The engine's own description, such as `llama 135M Q4_1`.
    public var description: String
    /// The context window in tokens.
    public var contextLength: Int
    /// The number of weights; `nil` if unknown, as for a remote model.
    public var parameterCount: UInt64?
    /// The bytes of the weights; `nil` if unknown.
    public var size: UInt64?
    /// The context the model was trained with, in tokens; `nil` if unknown.
    public var trainedContextLength: Int?
    /// The most tokens of one prefill call; `nil` for an engine without local prefill.
    public var batchSize: Int?
    /// The computing threads; `nil` for an engine without its own threads.
    public var threadCount: Int?
    /// Whether the model embeds or ranks texts and generates none, like BERT.
    public var isEncoderOnly: Bool
    /// The length of a text's vector; 0 for a model without embeddings.
    public var embeddingLength: Int
    /// The answers that the engine computes side by side; `nil` if unknown.
    public var parallelAnswers: Int?

    /// Makes facts, by default those of a remote model that generates text.
    public init(
        description: String, contextLength: Int, parameterCount: UInt64? = nil, size: UInt64? = nil,
        trainedContextLength: Int? = nil, batchSize: Int? = nil, threadCount: Int? = nil, isEncoderOnly: Bool = false,
        embeddingLength: Int = 0
    ) {
        self.description = description
        self.contextLength = contextLength
        self.parameterCount = parameterCount
        self.size = size
        self.trainedContextLength = trainedContextLength
        self.batchSize = batchSize
        self.threadCount = threadCount
        self.isEncoderOnly = isEncoderOnly
        self.embeddingLength = embeddingLength
    }
}
