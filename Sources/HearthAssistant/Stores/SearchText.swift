import Foundation

/// Text as searches compare it: words without case, accents and width.
///
/// Scripts without spaces between words (Han, Kana, Hangul, Thai and others) form runs, which are compared by pairs of
/// characters.
package enum SearchText {
    package enum Kind: Sendable, Hashable { case word, run }

    /// A word or run with its place in the text.
    package struct Token: Sendable, Hashable {
        package let kind: Kind
        /// The folded text, letters and digits alone, at most 64 characters.
        package let text: String
        package let range: Range<String.Index>
    }

    /// The longest word that is compared; longer ones, such as encoded data, are cut.
    private static let longestWord = 64

    /// Calls `body` for each token, until it returns `false`.
    package static func forEachToken(of text: String, _ body: (Token) -> Bool) {
        let scalars = text.unicodeScalars
        var index = scalars.startIndex
        var current: (kind: Kind, start: String.Index, isASCII: Bool)?

        /// - Returns: whether to continue.
        func finish(at end: String.Index) -> Bool {
            guard let token = current else { return true }
            current = nil
            let range = token.start..<end
            let folded = token.isASCII ? foldASCII(scalars[range]) : fold(scalars[range])
            return folded.isEmpty || body(Token(kind: token.kind, text: folded, range: range))
        }

        while index < scalars.endIndex {
            let scalar = scalars[index]
            switch ScalarClass(scalar) {
            case .separator:
                guard finish(at: index) else { return }
            case .continuation:
                current?.isASCII = false
            case .token(let kind):
                if current?.kind != kind {
                    guard finish(at: index) else { return }
                    current = (kind, index, true)
                }
                if !scalar.isASCII { current?.isASCII = false }
            }
            index = scalars.index(after: index)
        }
        _ = finish(at: index)
    }

    /// The first tokens of a text.
    package static func tokens(of text: String, limit: Int = .max) -> [Token] {
        var found: [Token] = []
        forEachToken(of: text) {
            found.append($0)
            return found.count < limit
        }
        return found
    }

    /// The words and runs joined by spaces, for comparisons of names: `Café  Größe` is `cafe grosse`.
    package static func folded(_ text: String) -> String { tokens(of: text).map(\.text).joined(separator: " ") }

    private static func foldASCII(_ token: Substring.UnicodeScalarView) -> String {
        var folded = ""
        for scalar in token.prefix(longestWord) {
            let isUpper = ("A"..."Z").contains(scalar)
            folded.unicodeScalars.append(isUpper ? Unicode.Scalar(UInt8(scalar.value) + 32) : scalar)
        }
        return folded
    }

    private static func fold(_ token: Substring.UnicodeScalarView) -> String {
        var folded = String.UnicodeScalarView()
        // A word of many marks is cut before it is normalised.
        let beginning = String(Substring(token.prefix(longestWord * 4)))
        for scalar in beginning.decomposedStringWithCompatibilityMapping.unicodeScalars {
            if scalar.isAccent { continue }
            for letter in replacement(of: scalar).unicodeScalars {
                switch ScalarClass(letter) {
                case .token: folded.append(letter)
                case .continuation where letter.properties.generalCategory != .format: folded.append(letter)
                default: break
                }
            }
        }
        // Korean syllables and Japanese sound marks, which are no accents, become one character again.
        return String(String(folded).precomposedStringWithCanonicalMapping.prefix(longestWord))
    }

    /// The lower-case letter, or the letters that people type for it.
    private static func replacement(of scalar: Unicode.Scalar) -> String {
        let lower = scalar.properties.lowercaseMapping
        switch lower {
        case "ß": return "ss"
        case "æ": return "ae"
        case "œ": return "oe"
        case "ø": return "o"
        case "ł": return "l"
        case "đ", "ð": return "d"
        case "þ": return "th"
        case "ħ": return "h"
        case "ı": return "i"
        case "ς": return "σ"
        default: return lower
        }
    }
}

/// The part of a character in a word.
private enum ScalarClass {
    case separator
    case token(SearchText.Kind)
    /// A mark or an invisible character, which belongs to the word or run before it.
    case continuation

    init(_ scalar: Unicode.Scalar) {
        if scalar.isASCII {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9": self = .token(.word)
            default: self = .separator
            }
            return
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .format: self = .continuation
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            self = .token(scalar.isUnspaced ? .run : .word)
        default: self = .separator
        }
    }
}

extension Unicode.Scalar {
    /// Whether the script is written without spaces between words, or joins particles to words (Hangul).
    fileprivate var isUnspaced: Bool {
        switch value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF: true  // Thai, Lao, Burmese, Khmer
        case 0x1100...0x11FF, 0x3130...0x318F, 0xA960...0xA97F, 0xAC00...0xD7FF: true  // Hangul
        // Kana, Bopomofo
        case 0x3005...0x3007, 0x3041...0x312F, 0x31A0...0x31BF, 0x31F0...0x31FF, 0xFF66...0xFFDC: true
        case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF: true  // Han
        default: false
        }
    }

    /// Whether the mark is an accent or a vowel point that people leave out when they search.
    fileprivate var isAccent: Bool {
        switch value {
        case 0x0300...0x036F, 0x0483...0x0489, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
        case 0xFE00...0xFE0F: true  // Variants of a character
        case 0x0591...0x05BD, 0x05BF, 0x05C1...0x05C2, 0x05C4...0x05C5, 0x05C7: true  // Hebrew
        // Arabic
        case 0x0610...0x061A, 0x0640, 0x064B...0x065F, 0x0670, 0x06D6...0x06DC, 0x06DF...0x06E8, 0x06EA...0x06ED: true
        default: false
        }
    }
}
