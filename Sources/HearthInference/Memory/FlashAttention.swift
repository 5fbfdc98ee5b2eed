/// Switches flash attention (`-fa` of llama.cpp), which needs no memory for the scores between all tokens.
public enum FlashAttention: String, Sendable, Hashable, Codable, CaseIterable {
    /// Off where the memory plan expects faster answers without it, which is one conversation on a processor; else as llama.cpp
    /// decides, which is on wherever the device and the model can.
    case automatic = "auto"
    case on
    /// A processor then answers faster at the end of one long conversation, reads a first prompt more slowly, and needs the room.
    /// A cache of a smaller type than `f16` has it on all the same, so none is chosen unless it is asked for.
    case off
}
