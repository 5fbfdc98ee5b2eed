import Foundation

/// The parts of a person's name.
struct ContactName: Sendable, Hashable {
    var prefix = ""
    var given = ""
    var middle = ""
    var family = ""
    var suffix = ""

    init(prefix: String = "", given: String = "", middle: String = "", family: String = "", suffix: String = "") {
        (self.prefix, self.given, self.middle) = (prefix, given, middle)
        (self.family, self.suffix) = (family, suffix)
    }

    /// The parts of a whole name: its last word is the family's, but for names in Chinese characters, Kana and Hangul.
    /// ``text`` of the parts is the name, but for repeated blanks.
    init(_ name: String) {
        let words = name.split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count > 1, !Self.isEastAsian(name) else {
            given = words.joined(separator: " ")
            return
        }
        given = words.dropLast().joined(separator: " ")
        family = words.last ?? ""
    }

    /// The whole name: `Dr. Anna Maria Weiß`, `王小明`.
    var text: String {
        if !family.isEmpty, !given.isEmpty, Self.isEastAsian(family), Self.isEastAsian(given) {
            return [prefix, family + given, suffix].filter { !$0.isEmpty }.joined(separator: " ")
        }
        return [prefix, given, middle, family, suffix].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Whether all letters are Chinese characters, Kana or Hangul, in which the family's name is first.
    private static func isEastAsian(_ text: String) -> Bool {
        let letters = text.unicodeScalars.filter { $0.properties.isAlphabetic }
        return !letters.isEmpty
            && letters.allSatisfy { scalar in
                switch scalar.value {
                case 0x3005...0x3007, 0x3041...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3,
                    0xF900...0xFAFF, 0x20000...0x3FFFF:
                    true
                default: false
                }
            }
    }
}
