import HearthInference

/// The figures of a generation's summary.
struct GenerationFacts {
    let promptTokens: Int
    var cachedTokens = 0
    var prefilledTokens = 0
    var prefillSeconds = 0.0
    var generatedTokens = 0
    /// The generated tokens before the model's first chosen token.
    var tokensBeforeFirst = 0
    var thinkingTokens = 0
    var firstTokenSeconds = 0.0
    var decodeSeconds = 0.0
    var droppedBytes = 0
    var cacheMiss: CacheMiss?
    var encodedPictures = 0
    var stopString: String?
    var turnChanges: [TurnChange] = []

    init(promptTokens: Int) { self.promptTokens = promptTokens }

    func summary(reason: FinishReason) -> GenerationSummary {
        var summary = GenerationSummary(
            reason: reason,
            usage: TokenUsage(
                promptTokens: promptTokens, cachedTokens: cachedTokens, generatedTokens: generatedTokens,
                thinkingTokens: thinkingTokens),
            timings: GenerationTimings(
                firstTokenSeconds: firstTokenSeconds,
                prefillTokensPerSecond: Self.rate(prefilledTokens, prefillSeconds),
                decodeTokensPerSecond: Self.rate(generatedTokens - tokensBeforeFirst - 1, decodeSeconds)))
        (summary.droppedBytes, summary.encodedPictures) = (droppedBytes, encodedPictures)
        summary.cacheMiss = cacheMiss
        summary.turnChanges = turnChanges
        summary.stopString = reason == .stopString ? stopString : nil
        return summary
    }

    private static func rate(_ count: Int, _ seconds: Double) -> Double {
        count > 0 && seconds > 0 ? Double(count) / seconds : 0
    }
}
