/// Goes on from an answer that is in memory as the model wrote it, with its thinking and its own choice of tokens, although a
/// template would tell it differently: without the thinking, or cut into other tokens.
///
/// The prompt is then what memory holds and the text that follows the answer. That text is found by rendering the
/// conversation with a mark in the answer's place. Nothing is assumed of the template but that it writes answers where
/// they belong; where it does not, the whole prompt is rendered as always.
public struct PromptContinuation: Sendable, Hashable {
    /// The conversation that was answered, as it was rendered.
    public let asked: [ChatMessage]
    /// The answer's text, without the thinking.
    public let answer: String
    /// The prompt's text, up to where the answer began.
    public let prompt: String

    /// What was answered last.
    public init(asked: [ChatMessage], answer: String, prompt: String) {
        self.asked = asked
        self.answer = answer
        self.prompt = prompt
    }

    /// Whether a conversation goes on exactly from that answer.
    public func isContinued(by messages: [ChatMessage]) -> Bool {
        messages.count > asked.count + 1 && messages.starts(with: asked)
            && messages[asked.count] == ChatMessage(.assistant, answer)
    }

    /// The text after the answer: what ends its turn, the messages since, and the beginning of the next answer.
    ///
    /// - Parameters:
    ///   - messages: the conversation now.
    ///   - tags: marks of thinking that the template may write or leave out before the answer.
    ///   - render: the template.
    /// - Returns: `nil` where memory must not be gone on from: another conversation, or a template that tells what came before
    ///   the answer differently now.
    public func suffix(
        of messages: [ChatMessage], tags: [ThinkingTags] = ThinkingTags.usual,
        render: ([ChatMessage]) throws -> String
    ) rethrows -> String? {
        guard isContinued(by: messages) else { return nil }
        var marked = messages
        marked[asked.count].content = Self.mark
        let text = try render(marked)
        let places = text.ranges(of: Self.mark)
        guard places.count == 1, let place = places.first else { return nil }
        let before = text[..<place.lowerBound]
        guard Self.differOnlyInThinking(String(before), prompt, tags) else { return nil }
        return String(text[place.upperBound...])
    }

    /// Whether one text begins the other and only marks of thinking and white space follow.
    private static func differOnlyInThinking(_ left: String, _ right: String, _ tags: [ThinkingTags]) -> Bool {
        let (short, long) = left.utf8.count <= right.utf8.count ? (left, right) : (right, left)
        guard long.utf8.starts(with: short.utf8) else { return false }
        var rest = String(decoding: long.utf8.dropFirst(short.utf8.count), as: UTF8.self)
        for pair in tags where pair.isUsable {
            rest = rest.replacing(pair.opening, with: "").replacing(pair.closing, with: "")
        }
        return rest.utf8.allSatisfy(\.isThinkingWhiteSpace)
    }

    /// Private-use characters, which stand for nothing in any template.
    private static let mark = "\u{E0F2}answer\u{E0F3}"
}
