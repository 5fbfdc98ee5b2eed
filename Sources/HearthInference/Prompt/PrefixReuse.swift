/// How much of a new prompt the engine has already computed.
///
/// The decision is made on tokens, never on text: the same text may be cut into other tokens once more of it follows.
public struct PrefixReuse: Sendable, Hashable {
    /// The tokens at the front whose state is kept.
    public let reused: Int
    /// The tokens left to compute, at least one: the logits of the last prompt token are needed to go on.
    public let remaining: Int
    /// The cached tokens that must be removed.
    public let discarded: Int

    /// Compares what the cache holds with what is asked now.
    ///
    /// O(length of the common prefix).
    public init(cached: [Int32], prompt: [Int32]) {
        let limit = min(cached.count, max(0, prompt.count - 1))
        var common = 0
        while common < limit && cached[common] == prompt[common] { common += 1 }
        reused = common
        remaining = prompt.count - common
        discarded = cached.count - common
    }
}
