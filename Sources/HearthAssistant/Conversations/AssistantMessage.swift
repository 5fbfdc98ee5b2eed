import Foundation
import HearthInference
import HearthRouting

/// The facts of an answer.
public struct AnswerFacts: Sendable, Hashable, Codable {
    /// The name of the model that answered.
    public var model: String
    /// Whether a model of this device or one in the cloud answered.
    public var source: RouteSource
    /// Why that engine answered.
    public var reason: String
    public var finish: FinishReason
    /// The tokens of all passes of the turn.
    public var usage: TokenUsage
    public var timings: GenerationTimings

    public init(
        model: String, source: RouteSource, reason: String, finish: FinishReason, usage: TokenUsage,
        timings: GenerationTimings
    ) {
        self.model = model
        self.source = source
        self.reason = reason
        self.finish = finish
        self.usage = usage
        self.timings = timings
    }
}

/// The text of a list's, search's or page's results, which the next turn of the model sees as data.
package struct MessageResult: Sendable, Hashable, Codable {
    /// Where the text is from, if others wrote it, such as `contacts` or `web page example.org`; `nil` for the user's own.
    package var source: String?
    package var text: String

    package init(source: String? = nil, text: String) {
        self.source = source
        self.text = text
    }
}

/// One message of a conversation with the assistant, as people see it.
public struct AssistantMessage: Sendable, Hashable, Codable, Identifiable {
    public let id: String
    public var role: ChatRole
    /// The text without action blocks.
    public var content: String
    /// Whether the model is still thinking.
    public var isThinking: Bool
    public var thinkingContent: String
    public var images: [ChatImage]
    public var cards: [ActionCard]
    /// What a person needs to know about the message: a time-out, pictures that were left out.
    public var notices: [String]
    public var date: Date
    public var facts: AnswerFacts?
    /// The text for later prompts, if it differs from ``content``: an answer with its action blocks as the model wrote
    /// them, or a question with the data that was sent with it.
    public var rawContent: String?
    /// The results of the message's actions, for the next turn; `nil` for none.
    package var results: [MessageResult]?
    /// The message before this one; `nil` for the first. Messages with the same parent are branches.
    public var parent: String?

    public init(
        id: String = UUID().uuidString, role: ChatRole, content: String = "", isThinking: Bool = false,
        thinkingContent: String = "", images: [ChatImage] = [], cards: [ActionCard] = [], notices: [String] = [],
        date: Date, facts: AnswerFacts? = nil, rawContent: String? = nil, parent: String? = nil
    ) {
        self.id = id
        self.role = role
        self.content = content
        self.isThinking = isThinking
        self.thinkingContent = thinkingContent
        self.images = images
        self.cards = cards
        self.notices = notices
        self.date = date
        self.facts = facts
        self.rawContent = rawContent
        self.parent = parent
    }
}
