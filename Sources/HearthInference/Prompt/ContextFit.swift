import HearthBase

/// Makes a conversation fit the context window by leaving out its oldest turns.
///
/// The system message and the last message always stay. Whole messages go, from the oldest, and what remains never
/// begins with an answer whose question is gone.
///
/// They go in blocks of about a quarter of the window, counted from the beginning of the conversation. So as it grows the
/// place of the cut stays where it was for several turns, and with it the beginning of the prompt that the engine has
/// computed already; only then it moves on by a whole block. Nothing has to be remembered for that.
package struct ContextFit: Sendable, Hashable {
    /// The tokens the window holds, prompt and answer together.
    package let window: Int
    /// The tokens kept free for the answer while there is still something to leave out.
    package let reserve: Int
    /// The most messages sent besides the system message and the last, `nil` for as many as fit. The last turn stays whole.
    package let messageLimit: Int?

    /// A fit to the given window.
    package init(window: Int, reserve: Int, messageLimit: Int? = nil) {
        self.window = window
        self.reserve = max(0, reserve)
        self.messageLimit = messageLimit.map { max(0, $0) }
    }

    /// The fit of a generation: the room of its longest answer is kept free, but no more than half of the window.
    package init(window: Int, maximumNewTokens: Int, messageLimit: Int? = nil) {
        self.init(window: window, reserve: min(maximumNewTokens, window / 2), messageLimit: messageLimit)
    }

    /// The part of the conversation that is sent, and its price.
    package struct Outcome<Prompt> {
        /// The prompt of the messages kept.
        package let prompt: Prompt
        /// The number of messages left out.
        package let dropped: Int
    }

    /// Leaves out messages until prompt and reserve fit, at last only until the prompt itself does.
    ///
    /// Renders O(log(messages)) prompts.
    /// - Parameters:
    ///   - messages: the conversation.
    ///   - fewest: the tokens that some messages have at least, as far as that is known without rendering them. What cannot fit by
    ///     this is never rendered, so that a huge text costs nothing.
    ///   - render: the prompt of some messages.
    ///   - count: its length in tokens.
    /// - Throws: `context-window-exceeded` when even system and last message leave no room for one token; what
    ///   `render` throws.
    package func apply<Prompt>(
        to messages: [ChatMessage], fewest: ([ChatMessage]) -> Int = { _ in 0 },
        render: ([ChatMessage]) throws -> Prompt, count: (Prompt) -> Int
    ) throws -> Outcome<Prompt> {
        let first = messages.first?.role == .system ? 1 : 0
        let surplus = messageLimit.map { max(0, messages.count - first - 1 - $0) } ?? 0
        let beginnings = Self.choices(messages, first: first)
        let enough = beginnings.filter { $0 >= surplus }
        // A turn with more messages than the limit, as of many calls, stays whole: the question it answers is in it.
        let choices = enough.isEmpty ? Array(beginnings.suffix(1)) : enough
        func kept(_ dropped: Int) -> [ChatMessage] { self.kept(of: messages, without: dropped) }
        func fits(_ count: Int) -> Bool { count <= window - max(1, reserve) }
        func fitting(_ dropped: Int) throws -> Outcome<Prompt>? {
            let kept = kept(dropped)
            guard fits(fewest(kept)) else { return nil }
            let prompt = try render(kept)
            return fits(count(prompt)) ? Outcome(prompt: prompt, dropped: dropped) : nil
        }
        /// The least of the choices that fits: dropping more never makes the prompt longer.
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
        // A block would take too much: cut as little as possible, wherever that is.
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

    /// A conversation without so many of its oldest messages.
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

    /// Whether a conversation may begin with a message: an answer has lost its question, a tool's result its call.
    private static func isBeginning(_ message: ChatMessage) -> Bool {
        message.role != .assistant && !isResult(message)
    }

    /// Also one that is told as a message of the user.
    private static func isResult(_ message: ChatMessage) -> Bool {
        message.role == .tool || SpelledTools.isResult(message)
    }

    /// The choices at which a block ends: where the text left out, or the number of messages, passes a multiple of a
    /// quarter of the window, or of a third of the limit. They depend only on what lies before them, so they stay when the conversation grows.
    private func blocks(_ messages: [ChatMessage], first: Int, _ choices: [Int]) -> [Int] {
        let bytes = max(1, window / 4 * Self.bytesPerToken)
        let count = messageLimit.map { max(2, $0 / 3) }
        var blocks: [Int] = []
        var dropped = 0
        var sum = 0
        var lastBlock = (bytes: 0, count: 0)
        for index in first..<messages.count {
            let block = (bytes: sum / bytes, count: count.map { dropped / $0 } ?? 0)
            // The last message alone is no conversation: better a cut that moves sooner.
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

    /// Only to size a block: between English, about 4, and scripts with a token for each character of 3 bytes or fewer.
    private static let bytesPerToken = 3
    /// Likewise: most pictures are between 64 and 1,024 tokens.
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
