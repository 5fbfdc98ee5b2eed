import HearthBase

/// Whether and how long a model may think before it answers.
public struct ThinkingOptions: Sendable, Hashable {
    /// Whether the template asks the model to think. The engine ends the thinking of a model that thinks all the same.
    public var isEnabled: Bool
    /// The most tokens of thinking; `nil` for as many as leave room for the answer.
    public var maximumTokens: Int?
    /// The longest time for thinking, counted from its first token; `nil` for as long as leaves time for the answer.
    public var maximumTime: Duration?
    /// The tokens of `maximumNewTokens` that thinking leaves for the answer; at most half of them are kept. Default 256.
    public var answerTokens: Int
    /// The part of `timeout` that thinking leaves for the answer; at most half of it is kept. Default 30 s.
    public var answerTime: Duration
    /// The text written before the closing mark when the engine ends the thinking; empty for none.
    public var lastWords: String
    /// The marks to look for, the first that fits; `nil` for those the model's template names.
    public var tags: [ThinkingTags]?
    /// Ends the thinking from outside.
    public var control: ThinkingControl?

    /// Thinking is allowed as long as an answer still fits, unless said otherwise.
    public init(
        isEnabled: Bool = true, maximumTokens: Int? = nil, maximumTime: Duration? = nil, answerTokens: Int = 256,
        answerTime: Duration = .seconds(30), lastWords: String = "", tags: [ThinkingTags]? = nil,
        control: ThinkingControl? = nil
    ) {
        self.isEnabled = isEnabled
        self.maximumTokens = maximumTokens
        self.maximumTime = maximumTime
        self.answerTokens = answerTokens
        self.answerTime = answerTime
        self.lastWords = lastWords
        self.tags = tags
        self.control = control
    }

    /// No thinking.
    public static let disabled = ThinkingOptions(isEnabled: false)
}

/// The button "answer now" of one generation: pressed from any thread, seen before the next token.
public final class ThinkingControl: Sendable, Hashable {
    private let isPressed = Locked(false)

    /// A control that has not been used yet.
    public init() {}

    /// Ends the thinking; the answer follows. Pressed before the thinking begins it ends at its first token; in an answer
    /// it does nothing.
    public func answerNow() { isPressed.withLock { $0 = true } }

    /// Whether the user wants the answer now.
    public var wantsAnswer: Bool { isPressed.withLock { $0 } }

    public static func == (left: ThinkingControl, right: ThinkingControl) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
