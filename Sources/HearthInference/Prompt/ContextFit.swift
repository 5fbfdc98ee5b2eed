import HearthBase

/// Makes a conversation fit the context window by leaving out its oldest turns.
///
/// The system message and the last message always stay. Whole messages go, from the oldest, and what remains never
/// begins with an answer whose question is gone.
public struct ContextFit: Sendable, Hashable {
    /// The tokens the window holds, prompt and answer together.
    public let window: Int
    /// The tokens kept free for the answer while there is still something to leave out.
    public let reserve: Int

    /// A fit to the given window.
    public init(window: Int, reserve: Int) {
        self.window = window
        self.reserve = max(0, reserve)
    }

    /// What of the conversation is sent, and its price.
    public struct Outcome<Prompt> {
        /// The prompt of the messages kept.
        public let prompt: Prompt
        /// How many messages were left out.
        public let dropped: Int
    }

    /// Leaves out messages until prompt and reserve fit, at last only until the prompt itself does.
    ///
    /// Renders O(log(messages)) prompts.
    /// - Parameters:
    ///   - messages: the conversation.
    ///   - render: the prompt of some messages.
    ///   - count: its length in tokens.
    /// - Throws: `context-window-exceeded` when even system and last message leave no room for one token; what
    ///   `render` throws.
    public func apply<Prompt>(
        to messages: [ChatMessage], render: ([ChatMessage]) throws -> Prompt, count: (Prompt) -> Int
    ) throws -> Outcome<Prompt> {
        let first = messages.first?.role == .system ? 1 : 0
        let choices = Self.choices(messages, first: first)
        func attempt(_ dropped: Int) throws -> Outcome<Prompt> {
            let kept = Array(messages.prefix(first) + messages.dropFirst(first + dropped))
            return Outcome(prompt: try render(kept), dropped: dropped)
        }
        func fits(_ outcome: Outcome<Prompt>) -> Bool { count(outcome.prompt) + max(1, reserve) <= window }

        var best = try attempt(0)
        if fits(best) { return best }
        // Dropping more never makes the prompt longer: search for the least that fits.
        var low = 0
        var high = choices.count
        var found = false
        while low < high {
            let middle = (low + high) / 2
            let outcome = try attempt(choices[middle])
            if fits(outcome) {
                best = outcome
                found = true
                high = middle
            } else {
                low = middle + 1
            }
        }
        if found { return best }
        if let most = choices.last { best = try attempt(most) }
        guard count(best.prompt) < window else { throw Self.exceeded(tokens: count(best.prompt), window: window) }
        return best
    }

    /// The numbers of messages that may be left out, in rising order, without zero.
    private static func choices(_ messages: [ChatMessage], first: Int) -> [Int] {
        (first + 1..<max(first + 1, messages.count))
            .filter { $0 == messages.count - 1 || messages[$0].role != .assistant }
            .map { $0 - first }
    }

    private static func exceeded(tokens: Int, window: Int) -> LLMError {
        LLMError(
            .exceededContextWindowSize,
            "the prompt needs \(tokens) tokens, the context window has \(window)",
            context: ErrorContext(
                expected: "fewer than \(window) tokens", found: "\(tokens) tokens",
                remedy: "Shorten the text, or load the model with a larger context."),
            disposition: .usage)
    }
}
