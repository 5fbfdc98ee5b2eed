import HearthBase
import HearthInference

/// Reads the picture of one character elsewhere, such as in the cloud.
public protocol CharacterReader: Sendable {
    /// Asks about one picture. One call is one billed request.
    /// - Parameter picture: a PNG file with the character.
    /// - Returns: the words of the answer, which may be anything, and the billed tokens of question and answer.
    /// - Throws: any error; the answer of this device then stays.
    func read(_ picture: ChatImage) async throws -> (text: String, tokens: Int)
}

/// The answer to the picture of a character.
package struct CharacterReading: Sendable, Hashable {
    /// The words of the answer, which may be anything.
    package var text: String
    /// The tokens of question and answer, which are billed.
    package var tokens: Int

    /// The character, if the answer is exactly one: white space around it does not count, and a question mark is an
    /// answer that nothing was recognised.
    package var character: String? {
        let words = text.split { $0.isWhitespace || $0.isNewline }
        guard words.count == 1, let word = words.first, word.count == 1, let character = word.first else { return nil }
        let isReadable = character.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .privateUse, .unassigned, .surrogate: false
            default: true
            }
        }
        guard isReadable, word.utf8.count <= 32, character != "?", character != "？", character != "\u{FFFD}" else {
            return nil
        }
        return String(character)
    }
}
