import Foundation
import HearthBase
import HearthInference

/// A failure of a turn as people see it.
public struct ChatFailure: Sendable, Hashable {
    /// The stable code, such as `model-not-loaded`.
    public var code: String
    /// One sentence with what to do next.
    public var message: String
    /// Whether no model can answer: the failure is a banner with the button "Download Model", not part of the message.
    public var needsModel: Bool

    public init(code: String, message: String, needsModel: Bool = false) {
        self.code = code
        self.message = message
        self.needsModel = needsModel
    }

    /// The codes of engines that cannot answer because no model is usable.
    static let modelCodes: Set<String> = [
        "not-installed", "model-does-not-fit", "cannot-load-model", "model-not-loaded",
    ]

    /// The failure of an error.
    public init(_ error: any Error) {
        if let failure = error as? any HearthFailure {
            let text = failure.errorDescription ?? failure.message
            let sentence = text.prefix(1).uppercased() + text.dropFirst()
            self.init(
                code: failure.codeText, message: sentence.hasSuffix(".") ? sentence : sentence + ".",
                needsModel: Self.modelCodes.contains(failure.codeText))
        } else {
            self.init(code: "unknown", message: error.localizedDescription)
        }
    }
}

/// A step of a turn, for views, terminals and servers.
public enum ChatEvent: Sendable, Hashable {
    /// The messages of the turn exist: the question, unless an answer is repeated, and the answer, which is empty unless it
    /// goes on.
    case started(question: AssistantMessage?, answer: AssistantMessage)
    /// A phase of work before the next text.
    case phase(GenerationPhase)
    /// The next piece of the thinking.
    case thinking(String)
    /// The thinking has ended.
    case thinkingEnded
    /// The next piece of the visible answer, without action blocks.
    case text(String)
    /// The text of the answer is removed; a second pass with search results follows.
    case cleared
    /// A card is new or has changed; cards are identified by their id.
    case card(ActionCard)
    /// What a person needs to know, as in ``AssistantMessage/notices``.
    case notice(String)
    /// The turn failed. Unless it is a banner, its text is also part of the message.
    case failed(ChatFailure)
    /// The message was empty when the user stopped it, and is removed.
    case removed(id: String)
    /// The turn has ended with this message.
    case finished(AssistantMessage)
}
