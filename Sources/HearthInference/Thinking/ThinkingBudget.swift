/// Decides when a model must stop thinking so that its answer still fits. The engine asks before every token.
///
/// To close the thinking, the engine writes ``closingText`` into the context as the model's own text, counts its tokens
/// as generated ones, and calls ``ThinkingSplitter/close(_:)``.
package struct ThinkingBudget: Sendable, Hashable {
    /// The reason for ending the thinking.
    package enum Reason: String, Sendable, Hashable, Codable {
        /// Thinking is switched off, but the model began to think.
        case disabled
        /// The user requested the answer.
        case answerNow = "answer-now"
        /// The allowed tokens for thinking are used.
        case tokens
        /// The time allowed for thinking is over.
        case time
        /// The answer needs the rest of the tokens.
        case reserve
    }

    /// The next step of the generation.
    package enum Decision: Sendable, Hashable {
        case proceed
        case close(Reason)
    }

    /// The state of a generation.
    package struct Progress: Sendable, Hashable {
        /// Whether the next token belongs to the thinking (``ThinkingSplitter/isThinking``).
        package var isThinking: Bool
        /// The tokens of thinking so far.
        package var thinkingTokens: Int
        /// The time since the first token of the thinking.
        package var thinkingTime: Duration
        /// All generated tokens so far, with those of the thinking.
        package var generatedTokens: Int
        /// The tokens whose state the context holds.
        package var usedContext: Int
        /// The time since the generation began.
        package var elapsed: Duration
        /// Whether the user requested the answer (``ThinkingControl/wantsAnswer``).
        package var wantsAnswer: Bool

        /// The given facts.
        package init(
            isThinking: Bool, thinkingTokens: Int = 0, thinkingTime: Duration = .zero, generatedTokens: Int = 0,
            usedContext: Int = 0, elapsed: Duration = .zero, wantsAnswer: Bool = false
        ) {
            self.isThinking = isThinking
            self.thinkingTokens = thinkingTokens
            self.thinkingTime = thinkingTime
            self.generatedTokens = generatedTokens
            self.usedContext = usedContext
            self.elapsed = elapsed
            self.wantsAnswer = wantsAnswer
        }
    }

    private let isEnabled: Bool
    private let maximumTokens: Int
    private let maximumTime: Duration?
    /// The number of generated tokens at which thinking ends.
    private let lastToken: Int
    /// The number of used tokens of the context at which thinking ends.
    private let lastContext: Int
    /// The time at which thinking ends.
    private let lastMoment: Duration
    /// The tokens kept for the answer.
    package let reservedTokens: Int

    /// Makes the budget of one generation.
    /// - Parameters:
    ///   - options: the limits of the request.
    ///   - stop: the limits of the whole generation.
    ///   - promptTokens: the length of the prompt; in a short context, half of the rest is for the answer.
    ///   - closingTokens: the length of ``closingText(_:options:before:)`` in tokens.
    package init(_ options: ThinkingOptions, stop: StopPolicy, promptTokens: Int, closingTokens: Int) {
        isEnabled = options.isEnabled
        maximumTokens = options.maximumTokens.map { max(0, $0) } ?? .max
        maximumTime = options.maximumTime
        let closing = max(0, closingTokens)
        let wanted = max(1, options.answerTokens)
        let room = max(0, stop.contextLength - promptTokens)
        // Of a small limit, thinking gets at most half; of a large one, all except the answer's tokens.
        let limit = min(stop.maximumNewTokens, room)
        reservedTokens = min(wanted, (limit + 1) / 2)
        lastToken = stop.maximumNewTokens - closing - reservedTokens
        lastContext = stop.contextLength - closing - reservedTokens
        lastMoment = stop.timeout - min(max(.zero, options.answerTime), stop.timeout / 2)
    }

    /// The first of these that applies: not thinking, switched off, answer requested, tokens used, time over, only the
    /// answer's share left.
    package func decide(_ progress: Progress) -> Decision {
        guard progress.isThinking else { return .proceed }
        if !isEnabled { return .close(.disabled) }
        if progress.wantsAnswer { return .close(.answerNow) }
        if progress.thinkingTokens >= maximumTokens { return .close(.tokens) }
        if let maximumTime, progress.thinkingTime >= maximumTime { return .close(.time) }
        if progress.generatedTokens >= lastToken || progress.usedContext >= lastContext
            || progress.elapsed >= lastMoment
        {
            return .close(.reserve)
        }
        return .proceed
    }

    /// The text with which the engine ends the thinking: the last words, the closing mark, and an empty line or the text that the
    /// model writes between its thinking and its answer.
    package static func closingText(
        _ tags: ThinkingTags, options: ThinkingOptions, before lead: String = ""
    ) -> String {
        (options.lastWords.isEmpty ? "\n" : "\n\n\(options.lastWords)\n") + tags.closing
            + (lead.isEmpty ? "\n\n" : lead)
    }
}
