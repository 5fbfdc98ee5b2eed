/// The abilities of an engine with the model it has loaded.
public struct EngineCapabilities: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Reads the pictures of ``ChatMessage/images``.
    public static let vision = Self(rawValue: 1 << 0)
    /// Thinks before it answers, and reports that as ``GenerationEvent/thinking(_:)``.
    public static let thinking = Self(rawValue: 1 << 1)
    /// Describes `GenerationOptions.tools` to the model and reports its calls as ``GenerationEvent/toolCall(_:)``.
    package static let tools = Self(rawValue: 1 << 2)
    /// Constrains answers to a JSON schema.
    public static let schema = Self(rawValue: 1 << 3)
    /// Constrains answers to a grammar in GBNF.
    public static let grammar = Self(rawValue: 1 << 4)
    /// Repeats an answer for the same ``SamplingOptions/seed``.
    public static let seed = Self(rawValue: 1 << 5)
    /// Continues a raw prompt, without the model's chat template.
    package static let rawPrompt = Self(rawValue: 1 << 6)
    /// Reports the log probabilities of tokens.
    package static let logProbabilities = Self(rawValue: 1 << 7)
    /// Embeds texts.
    public static let embeddings = Self(rawValue: 1 << 8)
    /// Counts tokens before a generation.
    public static let tokenCounts = Self(rawValue: 1 << 9)
    /// Changes the logits of single tokens: `SamplingOptions.logitBias`.
    package static let logitBias = Self(rawValue: 1 << 10)
    /// Renders prompts without computing them, and takes prompts of tokens: `GenerationOptions.promptTokens`.
    package static let promptText = Self(rawValue: 1 << 11)
    /// Ranks documents by their relevance to a query.
    package static let ranking = Self(rawValue: 1 << 12)
}
