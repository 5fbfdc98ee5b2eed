import Foundation

/// Composes the characters of texts: Unicode's normalization form C.
enum ComposedText {
    /// The composed text.
    ///
    /// Foundation's `precomposedStringWithCanonicalMapping` composes U+10041 with an accent as if it were an A (6.3), so
    /// ICU's rule is used.
    static func of(_ text: String) -> String {
        guard !isComposed(text) else { return text }
        return text.applyingTransform(StringTransform("Any-NFC"), reverse: false) ?? text
    }

    /// Whether a text has only characters that stay as they are, behind any other. Most texts of most languages do, and
    /// need no second look.
    static func isComposed(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0..<0x300: true  // Latin
            case 0x400..<0x483, 0x48A..<0x530: true  // Cyrillic
            case 0x5D0..<0x5EB, 0x620..<0x64B, 0x660..<0x670: true  // Hebrew and Arabic without marks
            case 0xE01..<0xE38: true  // Thai without its lower and upper marks
            case 0x2002..<0x2126, 0x2190..<0x2329, 0x232B..<0x2ADC: true  // punctuation, arrows, signs
            case 0x3000..<0x302A, 0x3041..<0x3097, 0x309B..<0x3100: true  // Japanese
            case 0x3400..<0xA000, 0xAC00..<0xD7A4: true  // Chinese and Korean
            case 0xFF01..<0xFFF0: true  // wide forms
            case 0x1F000..<0x1FC00: true  // pictures
            default: false
            }
        }
    }
}
