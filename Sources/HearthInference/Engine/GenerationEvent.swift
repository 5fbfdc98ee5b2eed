/// A report of a generation while it runs.
public enum GenerationEvent: Sendable, Hashable {
    /// A phase of work before the next text.
    case phase(GenerationPhase)
    /// The conversation did not fit the context window: its `dropped` oldest messages are not part of the prompt. At most
    /// once for each message of the model, before its first token.
    case truncated(dropped: Int)
    /// The model reads no pictures: `count` pictures of the conversation are not part of the prompt. At most once for
    /// each message of the model, before its first token.
    case picturesLeftOut(count: Int)
    /// The next token, before the text that it completes; only if Hearth's server asks for it.
    case token(TokenReport)
    /// The next piece of the thinking before the answer, in whole characters.
    case thinking(String)
    /// The next piece of the answer, in whole characters.
    case text(String)
    /// The model calls a tool; not part of the answer's text. Follows all text, and only in a complete answer.
    case toolCall(ToolCall)
    /// A session has run a tool, or refused its call; the next message of the model follows.
    case toolResult(ToolCall, content: String)
    /// The facts of the complete answer: the last event of a session's stream. Engines return the facts instead.
    case finish(GenerationSummary)
}

/// The work of an engine before the next text.
public enum GenerationPhase: Sendable, Hashable {
    /// The model is loaded: the finished fraction, 0...1, `nil` if unknown.
    case loading(fraction: Double?)
    /// A remote engine is contacted.
    case connecting
    /// The prompt is read: `done` of `total` tokens, including those reused from the cache.
    case prefill(done: Int, total: Int)
    /// Tokens are generated.
    case decode
}

/// The facts of a finished generation.
public struct GenerationSummary: Sendable, Hashable {
    public var reason: FinishReason
    public var usage: TokenUsage
    public var timings: GenerationTimings
    /// The bytes of characters that the model did not complete; they are not in the text.
    public var droppedBytes = 0
    /// The reason why the prompt could not use all tokens in memory; `nil` if it could or if the engine does not report
    /// it.
    package var cacheMiss: CacheMiss?
    /// The changes of the conversation that the model's chat template wanted; for engines that report them.
    package var turnChanges: [TurnChange] = []
    /// The pictures encoded for this answer; others were in the cache or in memory.
    public var encodedPictures = 0
    /// The stop string of the request that ended the answer.
    public var stopString: String?

    /// A summary of the given facts.
    public init(reason: FinishReason, usage: TokenUsage, timings: GenerationTimings) {
        self.reason = reason
        self.usage = usage
        self.timings = timings
    }
}

/// The wire form: the facts that each engine has.
extension GenerationSummary: Encodable {
    private enum CodingKeys: CodingKey { case reason, usage, timings }
}

extension GenerationSummary {
    /// The summary of a turn of two generations. Counts are added and rates averaged; the finish reason is that of the
    /// second.
    package func followed(by next: GenerationSummary) -> GenerationSummary {
        var sum = next
        sum.usage = TokenUsage(
            promptTokens: usage.promptTokens + next.usage.promptTokens,
            cachedTokens: usage.cachedTokens + next.usage.cachedTokens,
            generatedTokens: usage.generatedTokens + next.usage.generatedTokens,
            thinkingTokens: usage.thinkingTokens + next.usage.thinkingTokens)
        func rate(_ rate: (GenerationTimings) -> Double, _ count: (TokenUsage) -> Int) -> Double {
            let parts = [self, next].filter { rate($0.timings) > 0 && count($0.usage) > 0 }
            let seconds = parts.reduce(0) { $0 + Double(count($1.usage)) / rate($1.timings) }
            return seconds > 0 ? Double(parts.reduce(0) { $0 + count($1.usage) }) / seconds : 0
        }
        sum.timings = GenerationTimings(
            firstTokenSeconds: timings.firstTokenSeconds,
            prefillTokensPerSecond: rate(\.prefillTokensPerSecond) { $0.promptTokens - $0.cachedTokens },
            decodeTokensPerSecond: rate(\.decodeTokensPerSecond, \.generatedTokens))
        sum.droppedBytes += droppedBytes
        sum.encodedPictures += encodedPictures
        return sum
    }
}

/// Token counts of one generation.
public struct TokenUsage: Sendable, Hashable, Codable {
    /// All tokens of the prompt, with the cached ones.
    public var promptTokens: Int
    /// The prompt tokens whose state was reused.
    public var cachedTokens: Int
    public var generatedTokens: Int
    /// The generated tokens that belong to the thinking before the answer; 0 if unknown.
    public var thinkingTokens: Int

    /// The given counts.
    public init(promptTokens: Int, cachedTokens: Int, generatedTokens: Int, thinkingTokens: Int = 0) {
        self.promptTokens = promptTokens
        self.cachedTokens = cachedTokens
        self.generatedTokens = generatedTokens
        self.thinkingTokens = thinkingTokens
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        promptTokens = try container.decode(Int.self, forKey: .promptTokens)
        cachedTokens = try container.decode(Int.self, forKey: .cachedTokens)
        generatedTokens = try container.decode(Int.self, forKey: .generatedTokens)
        thinkingTokens = try container.decodeIfPresent(Int.self, forKey: .thinkingTokens) ?? 0
    }
}

/// Times and rates of one generation.
public struct GenerationTimings: Sendable, Hashable, Codable {
    /// From the request to the first token, in seconds.
    public var firstTokenSeconds: Double
    /// The computed prompt tokens by second; 0 if none were computed.
    public var prefillTokensPerSecond: Double
    /// The generated tokens after the first, by second; 0 if there were none.
    public var decodeTokensPerSecond: Double

    /// Makes timings of the given values.
    public init(firstTokenSeconds: Double, prefillTokensPerSecond: Double, decodeTokensPerSecond: Double) {
        self.firstTokenSeconds = firstTokenSeconds
        self.prefillTokensPerSecond = prefillTokensPerSecond
        self.decodeTokensPerSecond = decodeTokensPerSecond
    }
}
