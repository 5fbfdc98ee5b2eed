import HearthBase

/// Whether and how long a model may think before its answer.
public struct ThinkingOptions: Sendable, Hashable {
    /// Whether the template asks the model to think. If `false`, the engine ends the thinking of a model that still
    /// thinks.
    public var isEnabled: Bool
    /// The most tokens of thinking; `nil` for as many as leave room for the answer.
    public var maximumTokens: Int?
    /// The longest time for thinking, from its first token; `nil` for as long as leaves time for the answer.
    public var maximumTime: Duration?
    /// The tokens of `maximumNewTokens` that are kept for the answer, at most half of them. Default 256.
    public var answerTokens: Int
    /// The part of `timeout` that is kept for the answer, at most half of it. Default 30 s.
    public var answerTime: Duration
    /// The text written before the closing mark when the engine ends the thinking; empty for none.
    public var lastWords: String
    /// The possible marks, of which the first that matches is used; `nil` for those of the model's template.
    package var tags: [ThinkingTags]?
    /// A control with which the user ends the thinking.
    public var control: ThinkingControl?

    /// Makes options: by default thinking is allowed as long as an answer still fits.
    public init(
        isEnabled: Bool = true, maximumTokens: Int? = nil, maximumTime: Duration? = nil, answerTokens: Int = 256,
        answerTime: Duration = .seconds(30), lastWords: String = "",
        control: ThinkingControl? = nil
    ) {
        self.isEnabled = isEnabled
        self.maximumTokens = maximumTokens
        self.maximumTime = maximumTime
        self.answerTokens = answerTokens
        self.answerTime = answerTime
        self.lastWords = lastWords
        self.control = control
    }

    /// No thinking.
    public static let disabled = ThinkingOptions(isEnabled: false)
}

/// The button "answer now" of one generation. Any thread may press it; it takes effect before the next token.
public final class ThinkingControl: Sendable, Hashable {
    private let isPressed = Locked(false)

    /// Makes a control that is not pressed.
    public init() {}

    /// Ends the thinking; the answer follows. Before the thinking it takes effect at the first thinking token; in an
    /// answer it has no effect.
    public func answerNow() { isPressed.withLock { $0 = true } }

    /// Whether the user requested the answer.
    public var wantsAnswer: Bool { isPressed.withLock { $0 } }

    public static func == (left: ThinkingControl, right: ThinkingControl) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
