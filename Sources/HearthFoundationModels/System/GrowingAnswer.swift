import HearthInference

/// Finds the new text of an answer of which each reading is the whole text so far.
package struct GrowingAnswer: Sendable {
    /// The text so far.
    package private(set) var text = ""
    /// Whether the last reading changed text that was passed on.
    package private(set) var isRewritten = false

    package init() {}

    /// Takes the next reading.
    /// - Returns: the new text; empty while a reading does not begin with the text so far.
    package mutating func append(_ reading: String) -> String {
        // Of bytes, because a new mark may belong to the last character.
        guard reading.utf8.starts(with: text.utf8) else {
            isRewritten = true
            return ""
        }
        isRewritten = false
        defer { text = reading }
        return String(decoding: reading.utf8.dropFirst(text.utf8.count), as: UTF8.self)
    }
}
