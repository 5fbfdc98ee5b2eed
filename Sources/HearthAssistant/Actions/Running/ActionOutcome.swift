/// The result of the blocks of an answer.
package struct ActionOutcome: Sendable {
    /// The results of a list or search as bounded text for the next turn.
    package struct Result: Sendable, Hashable, Codable {
        package var tag: ActionTag
        package var text: String
        /// Where the text is from, if others wrote it; `nil` for the user's own data.
        package var outsideSource: String?
        /// The place of the block among the blocks of the answer.
        package var index = 0
    }

    /// A block whose payload cannot be used, for the repair pass.
    package struct Malformed: Sendable, Hashable {
        package var block: ScannedBlock
        /// The reason, for the model and the user.
        package var reason: String
    }

    /// The cards of all usable blocks, in the order in which they were carried out.
    package var cards: [ActionCard] = []
    package var results: [Result] = []
    package var malformed: [Malformed] = []

    /// The blocks of the repair pass in place of the malformed ones: each gets the place, and so the key, of the block that
    /// it replaces. Others are dropped, since the pass may repair alone.
    package func repaired(_ blocks: [ScannedBlock]) -> [ScannedBlock] {
        var open = malformed.map(\.block)
        return blocks.compactMap { block in
            guard let place = open.firstIndex(where: { $0.tag == block.tag }) else { return nil }
            var block = block
            block.index = open.remove(at: place).index
            return block
        }
    }
}
