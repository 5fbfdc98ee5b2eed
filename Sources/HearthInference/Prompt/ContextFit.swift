import HearthBase

/// Makes a conversation fit the context window by leaving out its oldest turns.
///
/// The system message and the last message always stay. Whole messages are left out, the oldest first, and the rest
/// never begins with an answer without its question.
///
/// Messages are left out in blocks of about a quarter of the window, counted from the beginning of the conversation. So
/// while the conversation grows, the cut stays in place for several turns, and the engine can reuse the computed
/// beginning of the prompt. Then the cut moves by a whole block. The rule needs no stored state.
package struct ContextFit: Sendable, Hashable {
    /// The tokens of the window, for prompt and answer together.
    package let window: Int
    /// The tokens kept free for the answer while messages can still be left out.
    package let reserve: Int
    /// The most messages besides the system message and the last, `nil` for as many as fit. The last turn stays whole.
    package let messageLimit: Int?

    /// Makes a fit to the given window.
    package init(window: Int, reserve: Int, messageLimit: Int? = nil) {
        self.window = window
        self.reserve = max(0, reserve)
        self.messageLimit = messageLimit.map { max(0, $0) }
    }

    /// Makes the fit of a generation: it keeps the room of the longest answer free, at most half of the window. For an
    /// answer without a limit of its own, that of a usual answer.
    package init(window: Int, maximumNewTokens: Int, messageLimit: Int? = nil) {
        let longest =
            maximumNewTokens == GenerationOptions.windowLength
            ? GenerationOptions().maximumNewTokens : maximumNewTokens
        self.init(window: window, reserve: min(longest, window / 2), messageLimit: messageLimit)
    }

    /// The sent part of the conversation.
    package struct Outcome<Prompt> {
        /// The prompt of the kept messages.
        package let prompt: Prompt
        /// The number of messages left out.
        package let dropped: Int
    }

    /// Leaves out messages until the prompt and the reserve fit. If no choice does, the prompt alone must fit.
    ///
    /// Renders O(log(messages)) prompts.
    /// - Parameters:
    ///   - messages: the conversation.
    ///   - keepsAll: whether no message may be left out.
    ///   - fewest: a lower bound of the messages' tokens, known without rendering. Messages that cannot fit by this
    ///     bound are never rendered, so a huge text costs no time.
    ///   - render: makes the prompt of some messages.
    ///   - count: returns a prompt's length in tokens.
    /// - Throws: `context-window-exceeded` when even the system message and the last message leave no room for one
    ///   token; errors of `render`.
    package func apply<Prompt>(
        to messages: [ChatMessage], keepsAll: Bool = false, fewest: ([ChatMessage]) -> Int = { _ in 0 },
        render: ([ChatMessage]) throws -> Prompt, count: (Prompt) -> Int
    ) throws -> Outcome<Prompt> {
        let first = messages.first?.role == .system ? 1 : 0
        let surplus = keepsAll ? 0 : messageLimit.map { max(0, messages.count - first - 1 - $0) } ?? 0
        let beginnings = Self.choices(messages, first: first)
        let enough = beginnings.filter { $0 >= surplus }
        // A turn with more messages than the limit, as with many calls, stays whole, because it contains the question.
        let choices = keepsAll ? [] : enough.isEmpty ? Array(beginnings.suffix(1)) : enough
        func kept(_ dropped: Int) -> [ChatMessage] { self.kept(of: messages, without: dropped) }
        func fits(_ count: Int) -> Bool { count <= window - max(1, reserve) }
        func fitting(_ dropped: Int) throws -> Outcome<Prompt>? {
            let kept = kept(dropped)
            guard fits(fewest(kept)) else { return nil }
            let prompt = try render(kept)
            return fits(count(prompt)) ? Outcome(prompt: prompt, dropped: dropped) : nil
        }
        /// The smallest choice that fits: dropping more messages never makes the prompt longer.
        func least(_ choices: [Int]) throws -> Outcome<Prompt>? {
            var best: Outcome<Prompt>?
            var low = 0
            var high = choices.count
            while low < high {
                let middle = (low + high) / 2
                if let outcome = try fitting(choices[middle]) {
                    best = outcome
                    high = middle
                } else {
                    low = middle + 1
                }
            }
            return best
        }

        if surplus == 0, let whole = try fitting(0) { return whole }
        if let outcome = try least(blocks(messages, first: first, choices)) { return outcome }
        // A whole block would be too much: the cut leaves out as few messages as possible.
        if let outcome = try least(choices) { return outcome }
        let dropped = choices.last ?? 0
        let rest = kept(dropped)
        let minimum = fewest(rest)
        guard minimum == 0 || minimum < window else {
            throw Self.exceeded(tokens: "at least \(minimum)", window: window)
        }
        let prompt = try render(rest)
        guard count(prompt) < window else { throw Self.exceeded(tokens: "\(count(prompt))", window: window) }
        return Outcome(prompt: prompt, dropped: dropped)
    }

    /// The messages of a conversation that always stay.
    /// - Parameter keepsAll: whether no message may be left out.
    package func least(of messages: [ChatMessage], keepsAll: Bool) -> [ChatMessage] {
        if keepsAll { return messages }
        let first = messages.first?.role == .system ? 1 : 0
        return kept(of: messages, without: Self.choices(messages, first: first).last ?? 0)
    }

    /// The conversation without its `dropped` oldest messages.
    package func kept(of messages: [ChatMessage], without dropped: Int) -> [ChatMessage] {
        let first = messages.first?.role == .system ? 1 : 0
        return Array(messages.prefix(first) + messages.dropFirst(first + dropped))
    }

    /// The numbers of messages that may be left out, in rising order, without zero.
    private static func choices(_ messages: [ChatMessage], first: Int) -> [Int] {
        (first + 1..<max(first + 1, messages.count))
            .filter { $0 == messages.count - 1 && !isResult(messages[$0]) || isBeginning(messages[$0]) }
            .map { $0 - first }
    }

    /// Whether a conversation may begin with a message: not with an answer without its question or a result without its
    /// call.
    private static func isBeginning(_ message: ChatMessage) -> Bool {
        message.role != .assistant && !isResult(message)
    }

    /// Whether a message is a tool's result, also in the form of a user's message.
    private static func isResult(_ message: ChatMessage) -> Bool {
        message.role == .tool || SpelledTools.isResult(message)
    }

    /// The choices at the ends of blocks, where the left-out text passes a multiple of a quarter of the window, or the
    /// left-out messages pass one of a third of the limit. They depend only on earlier messages, so they stay when the
    /// conversation grows.
    private func blocks(_ messages: [ChatMessage], first: Int, _ choices: [Int]) -> [Int] {
        let bytes = max(1, window / 4 * Self.bytesPerToken)
        let count = messageLimit.map { max(2, $0 / 3) }
        var blocks: [Int] = []
        var dropped = 0
        var sum = 0
        var lastBlock = (bytes: 0, count: 0)
        for index in first..<messages.count {
            let block = (bytes: sum / bytes, count: count.map { dropped / $0 } ?? 0)
            // The last message alone is no conversation, so the cut moves earlier.
            let isChoice = Self.isBeginning(messages[index]) && index < messages.count - 1
            if dropped > 0, isChoice, block != lastBlock {
                lastBlock = block
                if choices.first.map({ dropped >= $0 }) ?? false { blocks.append(dropped) }
            }
            sum += messages[index].toolCalls.reduce(messages[index].content.utf8.count) { $0 + $1.arguments.utf8.count }
            sum += messages[index].images.count * Self.bytesPerPicture
            dropped += 1
        }
        return blocks
    }

    /// An estimate for the size of a block: between English, about 4, and scripts with a token for each character of 3
    /// bytes or fewer.
    private static let bytesPerToken = 3
    /// Also an estimate: most pictures have between 64 and 1,024 tokens.
    private static let bytesPerPicture = 256 * bytesPerToken

    package static func exceeded(tokens: String, window: Int) -> LLMError {
        LLMError(
            .exceededContextWindowSize,
            "the prompt needs \(tokens) tokens, the context window has \(window)",
            context: ErrorContext(
                expected: "fewer than \(window) tokens", found: "\(tokens) tokens",
                remedy: "Shorten the text, or load the model with a larger context."),
            disposition: .usage)
    }
}
