/// When a generation ends: asked after every token and between the chunks of a prompt.
public struct StopPolicy: Sendable, Hashable {
    /// The most tokens the answer may have.
    public let maximumNewTokens: Int
    /// The tokens the context holds, prompt and answer together.
    public let contextLength: Int
    /// The longest time the generation may take.
    public let timeout: Duration

    /// The given limits.
    public init(maximumNewTokens: Int, contextLength: Int, timeout: Duration) {
        self.maximumNewTokens = maximumNewTokens
        self.contextLength = contextLength
        self.timeout = timeout
    }

    /// Where a generation stands.
    public struct Progress: Sendable, Hashable {
        /// The tokens of the answer until now.
        public var generatedTokens: Int
        /// The tokens whose state the context holds.
        public var usedContext: Int
        /// The time since the generation began.
        public var elapsed: Duration
        /// The model has just chosen to end.
        public var isEndOfGeneration: Bool
        /// A stop string has appeared in the answer.
        public var isStopString: Bool
        /// The caller cancelled the request.
        public var isCancelled: Bool

        /// The given facts.
        public init(
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
    public enum Decision: Sendable, Hashable {
        case proceed
        case finish(FinishReason)
        /// Ends without a summary: its caller cancelled it.
        case cancel
    }

    /// The first of these that holds: ended by the model, a stop string, enough tokens, no room, cancelled, too late.
    ///
    /// An answer that the model ends on its last allowed token, or at the moment of a cancellation, is complete; so the
    /// model's end goes before the limits, and they before the wish to stop.
    public func decide(_ progress: Progress) -> Decision {
        if progress.isEndOfGeneration { return .finish(.endOfGeneration) }
        if progress.isStopString { return .finish(.stopString) }
        if progress.generatedTokens >= maximumNewTokens { return .finish(.maximumNewTokens) }
        if progress.usedContext >= contextLength { return .finish(.contextFull) }
        if progress.isCancelled { return .cancel }
        if progress.elapsed >= timeout { return .finish(.timedOut) }
        return .proceed
    }
}
