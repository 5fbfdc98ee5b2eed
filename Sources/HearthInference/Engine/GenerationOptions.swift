/// The choice of the next token from the model's distribution.
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
    /// Divides the logits of tokens that occur in the answer's last ``penaltyWindow`` tokens. Above 0; 1 for no effect,
    /// `nil` for none.
    public var repeatPenalty: Float?
    /// Subtracted from a token's logit for each occurrence in those tokens, usually -2...2; 0 for no effect, `nil` for
    /// none.
    public var frequencyPenalty: Float?
    /// Subtracted once from a token's logit if it occurs in those tokens, usually -2...2; 0 for no effect, `nil` for none.
    public var presencePenalty: Float?
    /// The number of the answer's last tokens that the penalties apply to. Default 64. Tokens of the prompt never
    /// count, because an answer may repeat the words of its question.
    public var penaltyWindow: Int
    /// Added to the logits of single tokens; minus infinity excludes a token. For engines with
    /// `EngineCapabilities.logitBias`. Default none.
    package var logitBias: [TokenID: Float] = [:]

    /// Makes options: temperature 0.35 and a random choice by default.
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

    /// Always chooses the most likely token.
    public static let greedy = SamplingOptions(temperature: 0)
}

/// The limits and settings of one generation.
public struct GenerationOptions: Sendable, Hashable {
    public var sampling: SamplingOptions
    /// The generation ends after this many tokens; `Int.max` leaves the end to the context window, and in the cloud to
    /// the server. Default 768.
    public var maximumNewTokens: Int
    /// The time after which the generation ends with the text so far. It includes waiting and loading; in a session it
    /// is the time of the whole turn. Default 120 s.
    public var timeout: Duration
    /// The answer ends before the first of these strings in it. Thinking is not searched. Default none.
    public var stopStrings: [String]
    /// An answer ends with ``FinishReason/repeating`` when its end is one sequence of tokens this many times, and at least
    /// 96 tokens. Thinking that repeats itself is closed, and the answer follows. At least 2; `nil` never ends an answer.
    /// Text whose form a grammar or schema demands does not count. Default 8.
    public var maximumRepeats: Int? {
        get { repetition?.count }
        set {
            var rule = repetition ?? RepetitionRule()
            rule.count = max(2, newValue ?? 0)
            repetition = newValue == nil ? nil : rule
        }
    }
    /// The whole rule for repeats, for engines on this device; `nil` for none.
    package var repetition: RepetitionRule? = RepetitionRule()
    /// Whether and how long the model may think before its answer.
    public var thinking: ThinkingOptions
    /// The shapes of the answer; `nil` for free text.
    public var constraint: OutputConstraint?
    /// The tools the model may call, for engines with `EngineCapabilities.tools`. A constraint on the whole answer
    /// excludes calls.
    package var tools: [ToolDefinition] = []
    /// Whether the model's chat template formats the messages. Otherwise their joined texts are the prompt, and control
    /// tokens in them have their effect; for engines with `EngineCapabilities.rawPrompt`. Default `true`.
    package var usesChatTemplate = true
    /// The tokens of the prompt, in place of the messages' texts. Used only without the chat template.
    package var promptTokens: [TokenID]?
    /// Whether a conversation that does not fit the context window is refused. Otherwise its oldest messages are left
    /// out. Default `false`.
    package var keepsAllMessages = false
    /// Whether a model on a server keeps its own temperature, because nothing else was asked for. Default `false`.
    package var leavesTemperature = false
    /// The most tokens of prompt and answer together; `nil` for the whole context window.
    package var window: Int?
    /// The fewest tokens that the prompt must leave to the answer. Otherwise the request is refused with
    /// `context-window-exceeded`. Default 0.
    package var leastAnswer = 0
    /// Whether computed tokens of earlier prompts are reused. Default `true`; `false` computes the whole prompt, so that
    /// an answer with a seed does not depend on what was computed before.
    package var reusesPrompt = true
    /// The bytes of the system message's beginning that belong to the app and not to a person: an engine may keep their
    /// computed state on the disk, for the next process. Default 0.
    package var ownInstructions = 0
    /// Whether the answer continues the last message, which is an assistant's. Default `false`: a new message answers.
    public var continuesLastMessage = false
    /// Whether the model must call a tool. Default: it decides.
    package var toolChoice = ToolChoice.automatic
    /// Reports each token of the answer as ``GenerationEvent/token(_:)``, for engines with
    /// `EngineCapabilities.logProbabilities`. Default `nil`.
    package var tokenReports: TokenReports?

    /// The ``maximumNewTokens`` of an answer that is as long as the context window has room for.
    package static let windowLength = Int.max

    /// Makes options, by default with the package's usual limits.
    public init(
        sampling: SamplingOptions = SamplingOptions(), maximumNewTokens: Int = 768, timeout: Duration = .seconds(120),
        stopStrings: [String] = [], thinking: ThinkingOptions = ThinkingOptions(), constraint: OutputConstraint? = nil
    ) {
        self.sampling = sampling
        self.maximumNewTokens = maximumNewTokens
        self.timeout = timeout
        self.stopStrings = stopStrings
        self.thinking = thinking
        self.constraint = constraint
    }

    /// The part of a model's context window that a request may use.
    package func limited(_ length: Int) -> Int { min(length, max(1, window ?? length)) }
}
