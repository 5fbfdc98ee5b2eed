/// Decides when a generation ends. The engine asks after every token and between the chunks of a prompt.
package struct StopPolicy: Sendable, Hashable {
    /// The most tokens of the answer.
    package let maximumNewTokens: Int
    /// The tokens of the context, for prompt and answer together.
    package let contextLength: Int
    /// The longest time the generation may take.
    package let timeout: Duration

    /// The given limits.
    package init(maximumNewTokens: Int, contextLength: Int, timeout: Duration) {
        self.maximumNewTokens = maximumNewTokens
        self.contextLength = contextLength
        self.timeout = timeout
    }

    /// The next step of the generation.
    package enum Decision: Sendable, Hashable {
        case proceed
        case finish(FinishReason)
        /// Ends without a summary: the caller cancelled the request.
        case cancel
    }

    /// The first of these that applies: ended by the model, a stop string, a repeating end, the most tokens, a full context, cancelled,
    /// the time-out.
    ///
    /// An answer that the model ends with its last allowed token, or at the moment of a cancellation, is complete. So
    /// the model's end precedes the limits, and the limits precede a cancellation.
    /// - Parameters:
    ///   - generatedTokens: the tokens of the answer so far.
    ///   - usedContext: the tokens whose state the context holds.
    ///   - elapsed: the time since the generation began.
    ///   - isEndOfGeneration: the model has just ended its answer.
    ///   - isStopString: a stop string is in the answer.
    ///   - isRepeating: the answer ends in too many repeats.
    ///   - isCancelled: the caller cancelled the request.
    package func decide(
        generatedTokens: Int, usedContext: Int, elapsed: Duration, isEndOfGeneration: Bool = false,
        isStopString: Bool = false, isRepeating: Bool = false, isCancelled: Bool
    ) -> Decision {
        if isEndOfGeneration { return .finish(.endOfGeneration) }
        if isStopString { return .finish(.stopString) }
        if isRepeating { return .finish(.repeating) }
        if generatedTokens >= maximumNewTokens { return .finish(.maximumNewTokens) }
        if usedContext >= contextLength { return .finish(.contextFull) }
        if isCancelled { return .cancel }
        if elapsed >= timeout { return .finish(.timedOut) }
        return .proceed
    }
}
