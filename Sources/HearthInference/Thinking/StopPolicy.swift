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

    /// The state of a generation.
    package struct Progress: Sendable, Hashable {
        /// The tokens of the answer so far.
        package var generatedTokens: Int
        /// The tokens whose state the context holds.
        package var usedContext: Int
        /// The time since the generation began.
        package var elapsed: Duration
        /// Whether the model has just ended its answer.
        package var isEndOfGeneration: Bool
        /// Whether a stop string is in the answer.
        package var isStopString: Bool
        /// Whether the caller cancelled the request.
        package var isCancelled: Bool

        /// The given facts.
        package init(
            generatedTokens: Int, usedContext: Int, elapsed: Duration, isEndOfGeneration: Bool = false,
            isStopString: Bool = false, isCancelled: Bool = false
        ) {
            self.generatedTokens = generatedTokens
            self.usedContext = usedContext
            self.elapsed = elapsed
            self.isEndOfGeneration = isEndOfGeneration
            self.isStopString = isStopString
            self.isCancelled = isCancelled
        }
    }

    /// The next step of the generation.
    package enum Decision: Sendable, Hashable {
        case proceed
        case finish(FinishReason)
        /// Ends without a summary: the caller cancelled the request.
        case cancel
    }

    /// The first of these that applies: ended by the model, a stop string, the most tokens, a full context, cancelled,
    /// the time-out.
    ///
    /// An answer that the model ends with its last allowed token, or at the moment of a cancellation, is complete. So
    /// the model's end precedes the limits, and the limits precede a cancellation.
    package func decide(_ progress: Progress) -> Decision {
        if progress.isEndOfGeneration { return .finish(.endOfGeneration) }
        if progress.isStopString { return .finish(.stopString) }
        if progress.generatedTokens >= maximumNewTokens { return .finish(.maximumNewTokens) }
        if progress.usedContext >= contextLength { return .finish(.contextFull) }
        if progress.isCancelled { return .cancel }
        if progress.elapsed >= timeout { return .finish(.timedOut) }
        return .proceed
    }
}
