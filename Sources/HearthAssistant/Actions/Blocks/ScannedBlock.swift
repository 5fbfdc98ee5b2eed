/// An action block of an answer, as the model wrote it.
package struct ScannedBlock: Sendable, Hashable, Codable {
    package var tag: ActionTag
    /// The JSON object of the block.
    package var payload: String
    /// The place among the blocks of the answer, from 0.
    package var index: Int
    /// Whether the object is closed; `false` for a block that the answer's end or a wrong bracket cut off.
    package var isComplete = true
    /// Whether its action is on offer in the conversation; one that is not is never carried out.
    package var isOffered = true

    private enum CodingKeys: CodingKey { case tag, payload, index, isComplete }
}
