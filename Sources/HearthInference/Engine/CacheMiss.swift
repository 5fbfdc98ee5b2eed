/// The reason why a prompt could not use all tokens in the engine's memory.
package enum CacheMiss: String, Sendable, Hashable, Codable, CaseIterable {
    /// The memory held nothing.
    case cold
    /// Not even the first token agreed.
    case otherBeginning = "other-beginning"
    /// The same prompt again: its last token is computed anew, because the answer's first token is chosen from that.
    case repeated
    /// The conversation continued differently: an edited message, or an answer that the template writes in another way.
    case parted
    /// The oldest messages were left out to fit the window.
    case truncated
    /// As `repeated`, `parted` or `truncated`, in a model whose recurrent layers keep no earlier state.
    case recurrent
    /// The engine could not remove a part of its memory.
    case removalRefused = "removal-refused"
}
