/// Switches flash attention (`-fa` of llama.cpp), which needs no memory for the scores between all tokens.
package enum FlashAttention: String, Sendable, Hashable, Codable, CaseIterable {
    /// Off where the memory plan expects faster answers without it: for one conversation on a processor. Otherwise
    /// llama.cpp decides, and uses it where the device and the model support it.
    case automatic = "auto"
    case on
    /// Off. A processor then answers faster at the end of one long conversation, reads a first prompt more slowly, and
    /// needs more memory. Cache types smaller than `f16` use flash attention in any case, so the plan chooses none
    /// unless one is configured.
    case off
}
