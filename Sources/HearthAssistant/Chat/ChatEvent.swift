import Foundation
import HearthBase
import HearthInference

extension FailureBody {
    /// The codes of engines that cannot answer because no model is usable.
    static let modelCodes: Set<String> = [
        "not-installed", "not-enough-memory", "cannot-load-model", "model-not-loaded",
    ]

    /// Whether no model can answer, so that the button "Download Model" helps.
    public var needsModel: Bool { Self.modelCodes.contains(code) }

    /// The failure of a turn: a sentence with what to do next.
    package init(turn error: any Error) {
        guard let failure = error as? any HearthFailure else {
            self.init(code: "unknown", message: error.localizedDescription)
            return
        }
        let text = failure.errorDescription ?? failure.message
        let sentence = text.prefix(1).uppercased() + text.dropFirst()
        self.init(
            code: failure.codeText, message: sentence.hasSuffix(".") ? sentence : sentence + ".",
            disposition: failure.disposition)
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
    /// So many of the oldest messages are not part of the prompt.
    case truncated(dropped: Int)
    /// So many pictures are not part of the prompt: the model cannot see them, or `cloud.shares` keeps them here.
    case picturesLeftOut(count: Int)
    /// The turn failed. The message keeps the failure, with its text so far.
    case failed(FailureBody)
    /// The message was empty when the user stopped it, or is an empty answer that is repeated, and is removed.
    case removed(id: String)
    /// The turn has ended with this message.
    case finished(AssistantMessage)
}

/// The wire form: the name as `event`, and the facts beside it.
extension ChatEvent: Encodable {
    /// The stable name of the event, which programs read.
    package var name: String {
        switch self {
        case .started: "started"
        case .phase: "phase"
        case .thinking: "thinking"
        case .thinkingEnded: "thinking-ended"
        case .text: "text"
        case .cleared: "cleared"
        case .card: "card"
        case .notice: "notice"
        case .truncated: "truncated"
        case .picturesLeftOut: "pictures-left-out"
        case .failed: "failed"
        case .removed: "message-removed"
        case .finished: "finish"
        }
    }

    private enum CodingKeys: CodingKey {
        case event, question, answer, delta, card, text, dropped, count, failure, needsModel, id, reason, usage, timings
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .event)
        switch self {
        case .started(let question, let answer):
            try container.encodeIfPresent(question?.id, forKey: .question)
            try container.encode(answer.id, forKey: .answer)
        case .phase(let phase): try phase.encode(to: encoder)
        case .thinking(let piece), .text(let piece): try container.encode(piece, forKey: .delta)
        case .thinkingEnded, .cleared: break
        case .card(let card): try container.encode(card, forKey: .card)
        case .notice(let text): try container.encode(text, forKey: .text)
        case .truncated(let dropped): try container.encode(dropped, forKey: .dropped)
        case .picturesLeftOut(let count): try container.encode(count, forKey: .count)
        case .failed(let failure):
            try container.encode(failure, forKey: .failure)
            try container.encode(failure.needsModel, forKey: .needsModel)
        case .removed(let id): try container.encode(id, forKey: .id)
        case .finished(let message):
            try container.encode(message.id, forKey: .id)
            try container.encodeIfPresent(message.facts?.finish, forKey: .reason)
            try container.encodeIfPresent(message.facts?.usage, forKey: .usage)
            try container.encodeIfPresent(message.facts?.timings, forKey: .timings)
        }
    }
}
