import Foundation
import HearthBase
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
}

/// The text of a list's, search's or page's results, which the next turn of the model sees as data.
package struct MessageResult: Sendable, Hashable, Codable {
    /// Where the text is from, if others wrote it, such as `contacts` or `web page example.org`; `nil` for the user's own.
    package var source: String?
    package var text: String
}

/// One message of a conversation with the assistant, as people see it.
public struct AssistantMessage: Sendable, Hashable, Codable, Identifiable {
    public private(set) var id = UUID().uuidString
    public var role: ChatRole
    /// The text without action blocks.
    public var content = ""
    /// Whether the model is still thinking.
    public var isThinking = false
    public var thinkingContent = ""
    public var images: [ChatImage] = []
    /// The documents that go with a question; `nil` for none.
    package var documents: [Document]?
    public var cards: [ActionCard] = []
    /// What a person needs to know about the message: a time-out, pictures that were left out.
    public var notices: [String] = []
    public var date: Date
    public var facts: AnswerFacts?
    /// Why the answer has no end of its own: the code `stopped` for the user, else that of an error. Its text so far
    /// stays, and the next turn sees it.
    public var failure: FailureBody?
    /// `true` while the answer is written. A process that ends then leaves it so.
    package var isOpen: Bool?
    /// The text for later prompts, if it differs from ``content``: an answer with its action blocks as the model wrote
    /// them, or a question with the data that was sent with it.
    public var rawContent: String?
    /// The results of the message's actions, for the next turn; `nil` for none.
    package var results: [MessageResult]?
    /// The message before this one; `nil` for the first. Messages with the same parent are branches.
    public var parent: String?
}

extension AssistantMessage {
    /// A message with its text.
    package init(_ role: ChatRole, _ content: String, date: Date = Date()) {
        self.init(role: role, content: content, date: date)
    }
}
