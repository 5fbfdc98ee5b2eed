import HearthBase

/// A loaded or remote model that answers conversations.
///
/// ```swift
/// let summary = try await engine.generate([ChatMessage(.user, "Why?")], options: GenerationOptions()) { event in
///     if case .text(let piece) = event { print(piece, terminator: "") }
/// }
/// ```
/// A conforming type needs ``modelInformation``, ``capabilities`` and ``generate(_:options:onEvent:)``; embeddings and token
/// counts throw `engine-missing` by default. Conversations with history and tools use ``LanguageModelSession``.
public protocol InferenceEngine: Sendable {
    /// The facts of the model.
    var modelInformation: ModelInformation { get async throws }

    /// The abilities of the engine with its model.
    var capabilities: EngineCapabilities { get async throws }

    /// Computes the known part of the next prompt, whose last message may still grow, so that its answer starts sooner.
    ///
    /// Does nothing by default: a cloud engine must not charge for it.
    func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws

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

    /// Makes a vector for each text, in the same order. Each has the model's embedding length and Euclidean length 1,
    /// so the dot product of two vectors is the cosine of their angle.
    ///
    /// Control tokens in a text are read as letters. The states of a text's tokens are pooled as the model's file
    /// declares, otherwise averaged. Throws `engine-missing` by default.
    /// - Throws: ``LLMError``: `nothing-to-embed` for a text without tokens, `context-window-exceeded` for a text that
    ///   is too long, `model-not-loaded`, `model-does-not-fit` if the loaded models leave no memory for it,
    ///   `generation-failed`; `CancellationError`.
    func embed(_ texts: [String]) async throws -> [[Float]]

    /// The tokens of a text as in the middle of a prompt, with no token added before or after them.
    ///
    /// Returns at once, also while the model generates. Throws `engine-missing` by default.
    /// - Throws: `model-not-loaded`; `generation-failed` for text of 2 GiB and more.
    func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID]

    /// The number of tokens of a conversation as a prompt of the engine: with the template's own tokens and the
    /// beginning of the answer, and with all messages. Throws `engine-missing` by default.
    /// - Throws: `model-not-loaded`, `chat-template-failed`.
    func count(_ messages: [ChatMessage]) async throws -> Int

    /// The texts of tokens as bytes, each of which may be a part of a character. Control tokens have their names. Throws
    /// `engine-missing` by default.
    /// - Throws: `model-not-loaded`; `generation-failed` for a number that is no token of the model.
    func pieces(of tokens: [TokenID]) async throws -> [[UInt8]]

    /// The prompt of a generation with these options, without computing it. Throws `engine-missing` by default.
    /// - Throws: `model-not-loaded`, `chat-template-failed`, `grammar-unusable`.
    func rendered(_ messages: [ChatMessage], options: GenerationOptions) async throws -> RenderedPrompt

    /// Stops running generations and frees the model's memory. The engine must not be used afterwards. Does nothing by
    /// default.
    func unload() async
}

extension InferenceEngine {
    public func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {}

    public func unload() async {}

    /// - Throws: `engine-missing`: the engine embeds no texts.
    public func embed(_ texts: [String]) async throws -> [[Float]] { throw LLMError.missing("embeds no texts") }

    /// - Throws: `engine-missing`: the engine counts no tokens.
    public func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID] {
        throw LLMError.missing("counts no tokens")
    }

    /// - Throws: `engine-missing`: the engine counts no tokens.
    public func count(_ messages: [ChatMessage]) async throws -> Int { throw LLMError.missing("counts no tokens") }

    /// - Throws: `engine-missing`: the engine knows no texts of tokens.
    public func pieces(of tokens: [TokenID]) async throws -> [[UInt8]] {
        throw LLMError.missing("knows no texts of tokens")
    }

    /// - Throws: `engine-missing`: the engine shows no prompts.
    public func rendered(_ messages: [ChatMessage], options: GenerationOptions) async throws -> RenderedPrompt {
        throw LLMError.missing("shows no prompts")
    }
}

/// A prompt as its engine computes it.
public struct RenderedPrompt: Sendable, Hashable {
    /// The text with the chat template's own parts. A picture has no text.
    public var text: String
    /// The number of tokens, with those of pictures.
    public var tokenCount: Int

    /// Makes a prompt of the given facts.
    public init(text: String, tokenCount: Int) {
        self.text = text
        self.tokenCount = tokenCount
    }
}

extension LLMError {
    fileprivate static func missing(_ ability: String) -> LLMError {
        LLMError(.engineMissing, "the engine of this model \(ability)", disposition: .usage)
    }
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
