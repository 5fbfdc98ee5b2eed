import HearthBase
import HearthInference

/// Reads the picture of one character elsewhere, such as in the cloud.
public protocol CharacterReader: Sendable {
    /// Asks about one picture. One call is one billed request.
    /// - Parameter picture: a PNG file with the character.
    /// - Throws: any error; the answer of this device then stays.
    func read(_ picture: ChatImage) async throws -> CharacterReading
}

/// The answer to the picture of a character.
public struct CharacterReading: Sendable, Hashable {
    /// The words of the answer, which may be anything.
    public var text: String
    /// The tokens of question and answer, which are billed.
    public var tokens: Int

    /// Memberwise.
    public init(text: String, tokens: Int) {
        self.text = text
        self.tokens = tokens
    }

    /// The character, if the answer is exactly one: white space around it does not count, and a question mark is an
    /// answer that nothing was recognised.
    public var character: String? {
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
