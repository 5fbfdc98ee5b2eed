/// What a generation reports while it runs; the last event is always ``finish(_:)``, unless the stream throws.
public enum GenerationEvent: Sendable, Hashable {
    /// Work goes on that shows no text yet.
    case phase(GenerationPhase)
    /// The conversation did not fit the context window: its `dropped` oldest messages are not part of the prompt. At most
    /// once, before the first token.
    case truncated(dropped: Int)
    /// The model cannot see: `count` pictures of the conversation are not part of the prompt, which is text alone. At most
    /// once, before the first token.
    case picturesLeftOut(count: Int)
    /// The next piece of what the model thinks before it answers; no part of the answer. Whole characters only.
    case thinking(String)
    /// The next piece of the answer; whole characters only.
    case text(String)
    /// The model calls a tool; no part of the answer's text. After all text, and only when the answer ended by itself.
    case toolCall(ToolCall)
    /// The facts of a generation that ended by itself.
    case finish(GenerationSummary)
}

/// What an engine is doing before the next token shows.
public enum GenerationPhase: Sendable, Hashable {
    /// The prompt is read: `done` of `total` tokens, those reused from the cache counted as done.
    case prefill(done: Int, total: Int)
    case decode
}

/// Why a generation ended.
public enum FinishReason: String, Sendable, Hashable, Codable {
    /// The model ended its answer.
    case endOfGeneration = "stop"
    /// One of the request's own stop strings appeared; it is not part of the text.
    case stopString = "stop-string"
    /// The maximum of new tokens was reached.
    case maximumNewTokens = "length"
    /// No room is left in the context window.
    case contextFull = "context-full"
    /// The time-out struck; what was said until then was delivered.
    case timedOut = "timeout"
}

/// The facts of a finished generation.
public struct GenerationSummary: Sendable, Hashable {
    public var reason: FinishReason
    public var usage: TokenUsage
    public var timings: GenerationTimings
    /// Bytes of a character the model did not complete; dropped from the text.
    public var droppedBytes: Int
    /// Why not all that was in memory could be used for the prompt, `nil` if it could or if the engine does not say.
    public var cacheMiss: PrefixPlan.Miss?
    /// The pictures that were encoded for this answer; others were found in the cache or in memory.
    public var encodedPictures: Int

    /// A summary of the given facts.
    public init(
        reason: FinishReason, usage: TokenUsage, timings: GenerationTimings, droppedBytes: Int = 0,
        cacheMiss: PrefixPlan.Miss? = nil, encodedPictures: Int = 0
    ) {
        self.reason = reason
        self.usage = usage
        self.timings = timings
        self.droppedBytes = droppedBytes
        self.cacheMiss = cacheMiss
        self.encodedPictures = encodedPictures
    }
}

/// Token counts of one generation.
public struct TokenUsage: Sendable, Hashable, Codable {
    /// All tokens of the prompt, with those found in the cache.
    public var promptTokens: Int
    /// The prompt tokens whose state was reused.
    public var cachedTokens: Int
    public var generatedTokens: Int

    /// The given counts.
    public init(promptTokens: Int, cachedTokens: Int, generatedTokens: Int) {
        self.promptTokens = promptTokens
        self.cachedTokens = cachedTokens
        self.generatedTokens = generatedTokens
    }
}

/// Times and rates of one generation.
public struct GenerationTimings: Sendable, Hashable, Codable {
    /// From the request to the first token, in seconds.
    public var firstTokenSeconds: Double
    /// Prompt tokens really computed, by second; 0 if none were.
    public var prefillTokensPerSecond: Double
    /// Generated tokens after the first, by second; 0 if there were none.
    public var decodeTokensPerSecond: Double

    /// The given times.
    public init(firstTokenSeconds: Double, prefillTokensPerSecond: Double, decodeTokensPerSecond: Double) {
        self.firstTokenSeconds = firstTokenSeconds
        self.prefillTokensPerSecond = prefillTokensPerSecond
        self.decodeTokensPerSecond = decodeTokensPerSecond
    }
}
