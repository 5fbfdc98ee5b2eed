import HearthInference

/// An entry of a transcript of Foundation Models, without Apple's types.
package struct TranscriptEntry: Sendable, Hashable {
    /// The kinds of entries.
    package enum Content: Sendable, Hashable {
        /// The app's instructions, and the tools that the model knows of.
        case instructions([TranscriptSegment], tools: [ToolDefinition] = [])
        /// A question; `schema` is the JSON schema that the model is shown for its answer, `nil` for none.
        case prompt([TranscriptSegment], schema: String? = nil)
        case reasoning([TranscriptSegment])
        case toolCalls([ToolCall])
        /// The result of the call with this id.
        case toolOutput([TranscriptSegment], call: String, tool: String)
        case response([TranscriptSegment])
        /// An entry that belongs to no message, such as data of another model.
        case other
    }

    /// Identifies the entry in its transcript.
    package var id: String
    package var content: Content

    /// Makes an entry.
    package init(_ content: Content, id: String = "") {
        self.id = id
        self.content = content
    }
}

/// A part of an entry.
package enum TranscriptSegment: Sendable, Hashable {
    case text(String)
    /// A generated value as JSON.
    case structure(String)
    /// The file of a picture, and the label that answers name it by.
    case picture([UInt8], label: String? = nil)
    /// Content of a kind that Hearth reads none of.
    case unreadable
}
