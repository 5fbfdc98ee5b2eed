import HearthInference

/// Computes the tokens of a ``ComputedEngine``. Only the engine's thread uses it.
package protocol TokenComputer: AnyObject {
    /// The number of logits.
    var vocabularySize: Int { get }

    /// Forgets the state after the first `count` tokens; a larger number changes nothing.
    func truncate(to count: Int)

    /// Computes tokens after those whose state is held, and holds their state too.
    /// - Parameters:
    ///   - tokens: at least one, each of the vocabulary.
    ///   - logits: receives ``vocabularySize`` numbers for the last token; `nil` computes none.
    ///   - isStopped: asked often; `true` ends the computation.
    /// - Returns: `false` after a stop; the held state is that of before.
    /// - Throws: `generation-failed`; no state is then held.
    func compute(
        _ tokens: ArraySlice<TokenID>, logits: UnsafeMutablePointer<Float>?, isStopped: () -> Bool
    ) throws -> Bool
}
