/// How the next token is chosen from the model's distribution.
public struct SamplingOptions: Sendable, Hashable {
    /// Divides the logits; 0 is greedy. Default 0.35: low, so that structured output stays well-formed.
    public var temperature: Float
    /// Seeds the random choice; `nil` for a different answer each time.
    public var seed: UInt32?
    /// Keeps the k most likely tokens, `nil` for all.
    public var topK: Int?
    /// Keeps the smallest set of tokens whose probabilities reach p in (0, 1], `nil` for all.
    public var topP: Float?
    /// Drops tokens less likely than p times the most likely one, p in [0, 1], `nil` for none.
    public var minP: Float?
    /// Divides the logits of tokens among the answer's last ``penaltyWindow``, above 0, 1 for no effect, `nil` for none.
    public var repeatPenalty: Float?
    /// Taken off a token's logit for each time it is among them, -2...2 as a rule, 0 for no effect, `nil` for none.
    public var frequencyPenalty: Float?
    /// Taken off a token's logit once if it is among them, -2...2 as a rule, 0 for no effect, `nil` for none.
    public var presencePenalty: Float?
    /// How many of the answer's last tokens the penalties look at. Default 64. The prompt is never among them: a token the
    /// question needed is not one the answer repeats.
    public var penaltyWindow: Int

    /// Temperature 0.35 and a random choice, nothing else, unless said otherwise.
    public init(
        temperature: Float = 0.35, seed: UInt32? = nil, topK: Int? = nil, topP: Float? = nil, minP: Float? = nil,
        repeatPenalty: Float? = nil, frequencyPenalty: Float? = nil, presencePenalty: Float? = nil,
        penaltyWindow: Int = 64
    ) {
        self.temperature = temperature
        self.seed = seed
        self.topK = topK
        self.topP = topP
        self.minP = minP
        self.repeatPenalty = repeatPenalty
        self.frequencyPenalty = frequencyPenalty
        self.presencePenalty = presencePenalty
        self.penaltyWindow = penaltyWindow
    }

    /// Always the most likely token.
    public static let greedy = SamplingOptions(temperature: 0)
}

/// What a generation is for.
public enum GenerationPurpose: String, Sendable, Hashable {
    /// Somebody asked.
    case answer
    /// The engine is to know the prompt before somebody asks: the last message may still go on, and what is said is dropped.
    case preparation
}

/// What one generation may do.
public struct GenerationOptions: Sendable, Hashable {
    public var sampling: SamplingOptions
    /// The generation ends after this many tokens. Default 768.
    public var maximumNewTokens: Int
    /// The generation ends with the text so far after this time. Default 120 s.
    public var timeout: Duration
    /// The answer ends before the first of these that appears in it. What the model thinks is not searched. Default none.
    public var stopStrings: [String]
    /// Whether and how long the model may think before it answers.
    public var thinking: ThinkingOptions
    /// What the answer has to look like; `nil` for anything.
    public var constraint: OutputConstraint?
    /// What the model may call, for engines that know how (``InferenceEngine/callsTools``); a constraint leaves no room for it.
    public var tools: [ToolDefinition]
    /// What it is for: to prepare, an engine may compute what does not depend on how the last message goes on, and say nothing;
    /// whoever counts answers leaves that out. Default ``GenerationPurpose/answer``.
    public var purpose: GenerationPurpose
    /// What begins a call in the answer's text, for models that are told of tools in words; an answer that has it is only half way
    /// to one. Engines do not look at it; whoever counts answers does. Default none.
    public var callMark: String?

    /// The package's usual limits unless said otherwise.
    public init(
        sampling: SamplingOptions = SamplingOptions(), maximumNewTokens: Int = 768, timeout: Duration = .seconds(120),
        stopStrings: [String] = [], thinking: ThinkingOptions = ThinkingOptions(), constraint: OutputConstraint? = nil,
        tools: [ToolDefinition] = [], purpose: GenerationPurpose = .answer, callMark: String? = nil
    ) {
        self.sampling = sampling
        self.maximumNewTokens = maximumNewTokens
        self.timeout = timeout
        self.stopStrings = stopStrings
        self.thinking = thinking
        self.constraint = constraint
        self.tools = tools
        self.purpose = purpose
        self.callMark = callMark
    }
}
