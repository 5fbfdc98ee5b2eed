/// When a generation ends: asked after every token and between the chunks of a prompt.
package struct StopPolicy: Sendable, Hashable {
    /// The most tokens the answer may have.
    package let maximumNewTokens: Int
    /// The tokens the context holds, prompt and answer together.
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
        /// The tokens of the answer until now.
        package var generatedTokens: Int
        /// The tokens whose state the context holds.
        package var usedContext: Int
        /// The time since the generation began.
        package var elapsed: Duration
        /// The model has just chosen to end.
        package var isEndOfGeneration: Bool
        /// A stop string has appeared in the answer.
        package var isStopString: Bool
        /// The caller cancelled the request.
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

    /// The first of these that holds: ended by the model, a stop string, enough tokens, no room, cancelled, too late.
    ///
    /// An answer that the model ends on its last allowed token, or at the moment of a cancellation, is complete; so the
    /// model's end goes before the limits, and the limits before a cancellation.
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
