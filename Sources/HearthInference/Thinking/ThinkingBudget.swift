/// Decides when a model must stop thinking so that its answer still fits. The engine asks before every token.
///
/// To close the thinking, the engine writes ``closingText`` into the context as the model's own text, counts its tokens
/// as generated ones, and calls ``ThinkingSplitter/close(_:)``.
package struct ThinkingBudget: Sendable, Hashable {
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

    /// Whether the thinking ends now: it is switched off, the user requested the answer, its tokens are used, its time is
    /// over, or only the answer's share is left. Asked while the next token belongs to the thinking.
    /// - Parameters:
    ///   - thinkingTokens: the tokens of thinking so far.
    ///   - thinkingTime: the time since the first token of the thinking.
    ///   - generatedTokens: all generated tokens so far, with those of the thinking.
    ///   - usedContext: the tokens whose state the context holds.
    ///   - elapsed: the time since the generation began.
    ///   - wantsAnswer: the user requested the answer (``ThinkingControl/wantsAnswer``).
    package func closes(
        thinkingTokens: Int, thinkingTime: Duration = .zero, generatedTokens: Int, usedContext: Int,
        elapsed: Duration = .zero, wantsAnswer: Bool = false
    ) -> Bool {
        if let maximumTime, thinkingTime >= maximumTime { return true }
        return !isEnabled || wantsAnswer || thinkingTokens >= maximumTokens || generatedTokens >= lastToken
            || usedContext >= lastContext || elapsed >= lastMoment
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
