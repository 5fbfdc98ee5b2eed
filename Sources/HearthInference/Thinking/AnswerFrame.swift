/// The chat template's text around an answer: the marks of its thinking, and the text between thinking and answer.
///
/// `gpt-oss` writes `<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>` before its answer.
package struct AnswerFrame: Sendable, Hashable {
    /// The marks around thinking; the first that matches is used.
    package var tags: [ThinkingTags]
    /// The text that begins every message of the model, and again after its thinking; empty if thinking and answer are
    /// one message.
    package var turn: String
    /// The text directly before the answer's text; empty for none.
    package var lead: String
    /// The text that ends the answer before the end of the generation; `nil` for none.
    package var end: String?

    /// Makes a frame, by default with the usual marks only.
    package init(tags: [ThinkingTags] = ThinkingTags.default, turn: String = "", lead: String = "", end: String? = nil)
    {
        self.tags = tags
        self.turn = turn
        self.lead = lead
        self.end = end
    }

    /// All texts that the model may write around its answer.
    package var texts: [String] { tags.flatMap { [$0.opening, $0.closing] } + [turn, lead, end ?? ""] }

    /// The text that the model writes between the end of its thinking and its answer.
    package var afterThinking: String { lead.isEmpty ? "" : turn + lead }

    /// The possible beginnings of an answer, each with the marks of the thinking that it opens; `nil` if the answer's
    /// text follows.
    func fronts(afterThinking: Bool) -> [(bytes: [UInt8], pair: ThinkingTags?)] {
        let usable = tags.filter(\.isUsable)
        guard afterThinking else {
            return usable.map { (Array($0.opening.utf8), $0) } + (lead.isEmpty ? [] : [(Array(lead.utf8), nil)])
        }
        guard !lead.isEmpty else { return [] }
        let again = turn.isEmpty ? [] : usable.map { (Array((turn + $0.opening).utf8), Optional($0)) }
        return Set([lead, turn + lead]).sorted().map { (Array($0.utf8), nil) } + again
    }

    /// Whether a text begins with, or is itself the beginning of, a text that precedes the answer.
    package func mayBegin(_ text: [UInt8], afterThinking: Bool) -> Bool {
        fronts(afterThinking: afterThinking).contains { $0.bytes.starts(with: text) || text.starts(with: $0.bytes) }
    }
}
