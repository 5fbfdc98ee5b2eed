/// Cuts a text where the rule of Mistral's later models does and the nearest rule of llama.cpp does not: between two
/// digits, and before an apostrophe behind a letter with its marks.
enum TextCuts {
    /// The bytes of a text with FF, which no text has, at each cut.
    static func marked(_ text: String) -> [UInt8] {
        var marked: [UInt8] = []
        marked.reserveCapacity(text.utf8.count + 16)
        var follows = Kind.other
        for scalar in text.unicodeScalars {
            let kind = Kind(scalar, behind: follows)
            let isCut = kind == .digit ? follows == .digit : scalar == "'" && follows == .letter
            if isCut { marked.append(0xFF) }
            marked += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            follows = kind
        }
        return marked
    }

    private enum Kind {
        case digit, letter, other

        init(_ scalar: Unicode.Scalar, behind previous: Kind) {
            switch scalar.properties.generalCategory {
            case .decimalNumber, .letterNumber, .otherNumber: self = .digit
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: self = .letter
            // A mark belongs to the letter before it.
            case .nonspacingMark, .spacingMark, .enclosingMark: self = previous == .letter ? .letter : .other
            default: self = .other
            }
        }
    }
}
