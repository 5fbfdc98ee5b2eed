import HearthBase

extension ModelInformation: ErrorDomain {}

/// The error of a model that could not be loaded or could not answer.
public typealias LLMError = HearthError<ModelInformation>

extension LLMError {
    /// The error of a grammar, schema or tool that cannot be used.
    static func unusable(_ message: String, remedy: String) -> LLMError {
        LLMError(.unusableGrammar, message, context: ErrorContext(remedy: remedy), disposition: .usage)
    }
}

extension ErrorCode<ModelInformation> {
    /// No model is loaded.
    public static var modelNotLoaded: Self { "model-not-loaded" }
    /// The file is not a model this engine can load, or does not fit into memory.
    public static var cannotLoad: Self { "cannot-load-model" }
    /// The model with the smallest useful context, or with a context for vectors, needs more memory than the device
    /// has.
    public static var doesNotFit: Self { "not-enough-memory" }
    /// The prompt needs more tokens than the context window has.
    public static var exceededContextWindowSize: Self { "context-window-exceeded" }
    /// The model's chat template refused the conversation.
    public static var templateFailed: Self { "chat-template-failed" }
    /// A model could not be stored in fewer bits.
    public static var cannotQuantize: Self { "cannot-quantize" }
    /// The engine failed while it was answering.
    public static var generateFailed: Self { "generation-failed" }
    /// The model computed values that are no numbers (NaN or infinity), so no token can be chosen.
    public static var notFinite: Self { "not-finite" }
    /// The process of the engine ended: the message says while it did what, and why.
    public static var engineDied: Self { "engine-died" }
    /// A picture is damaged, cut off, or of an unsupported format.
    public static var cannotReadPicture: Self { "cannot-read-picture" }
    /// A picture's file, or its unpacked size, is larger than the limits.
    public static var pictureTooLarge: Self { "picture-too-large" }
    /// A text to embed has no token.
    public static var nothingToEmbed: Self { "nothing-to-embed" }
    /// The engine's queue is full.
    public static var busy: Self { "busy" }
    /// The grammar or schema of an answer cannot be used.
    public static var unusableGrammar: Self { "grammar-unusable" }
    /// The finished answer violates a keyword of its schema that no grammar can express.
    public static var schemaNotMet: Self { "schema-not-met" }
    /// The answer is not a value of the requested type.
    public static var answerNotDecodable: Self { "answer-not-decodable" }
    /// The model called too many tools in one turn.
    public static var tooManyToolCalls: Self { "too-many-tool-calls" }
    /// This build has no engine for the model.
    public static var engineMissing: Self { "engine-missing" }
    /// A remote engine cannot be reached.
    public static var unreachable: Self { "unreachable" }
    /// A remote engine refused the key or account.
    public static var unauthorised: Self { "unauthorised" }
    /// A remote engine accepts no requests now; see ``ErrorContext/retryAfterSeconds``.
    public static var rateLimited: Self { "rate-limited" }
    /// The account has no credits left.
    public static var noCredits: Self { "no-credits" }
    /// The account's plan does not include the model.
    public static var notEntitled: Self { "not-entitled" }
    /// A remote engine sent no answer in time.
    public static var timedOut: Self { "timed-out" }
    /// A remote engine does not offer the model.
    public static var remoteModelMissing: Self { "remote-model-missing" }
    /// A remote engine sent something that is not an answer.
    public static var unusableAnswer: Self { "unusable-answer" }
    /// A remote engine's answer ended early; the text before was delivered.
    public static var answerInterrupted: Self { "answer-interrupted" }
    /// The key of a cloud model cannot be read, or other users can read it.
    public static var cloudKeyUnusable: Self { "cloud-key-unusable" }
}
