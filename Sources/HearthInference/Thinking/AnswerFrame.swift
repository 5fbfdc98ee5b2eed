/// Text of the chat template around an answer: the marks of its thinking, and what stands between those and the answer.
///
/// `gpt-oss` writes `<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>` before its answer.
package struct AnswerFrame: Sendable, Hashable {
    /// The marks around thinking, the first that fits.
    package var tags: [ThinkingTags]
    /// Begins every message of the model, after its thinking once more; empty where thinking and answer are one message.
    package var turn: String
    /// Stands before the answer's text; empty for nothing.
    package var lead: String
    /// Ends the answer's text where that is no end of generation yet.
    package var end: String?

    /// A frame with marks alone, unless said otherwise.
    package init(tags: [ThinkingTags] = ThinkingTags.usual, turn: String = "", lead: String = "", end: String? = nil) {
        self.tags = tags
        self.turn = turn
        self.lead = lead
        self.end = end
    }

    /// All texts that the model may write around its answer.
    package var texts: [String] { tags.flatMap { [$0.opening, $0.closing] } + [turn, lead, end ?? ""] }

    /// The text that the model writes between the end of its thinking and its answer.
    package var afterThinking: String { lead.isEmpty ? "" : turn + lead }

    /// Beginnings of an answer, each with the marks of the thinking it opens; `nil` where the answer's text follows.
    func fronts(afterThinking: Bool) -> [(bytes: [UInt8], pair: ThinkingTags?)] {
        let usable = tags.filter(\.isUsable)
        guard afterThinking else {
            return usable.map { (Array($0.opening.utf8), $0) } + (lead.isEmpty ? [] : [(Array(lead.utf8), nil)])
        }
        guard !lead.isEmpty else { return [] }
        let again = turn.isEmpty ? [] : usable.map { (Array((turn + $0.opening).utf8), Optional($0)) }
        return Set([lead, turn + lead]).sorted().map { (Array($0.utf8), nil) } + again
    }

    /// Whether a text may begin what precedes the answer, or begins with it.
    package func mayBegin(_ text: [UInt8], afterThinking: Bool) -> Bool {
        fronts(afterThinking: afterThinking).contains { $0.bytes.starts(with: text) || text.starts(with: $0.bytes) }
    }
}
