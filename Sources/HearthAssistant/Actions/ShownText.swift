/// The text of a value as cards show it: each character that displays as nothing, turns the reading order or stacks up is
/// a visible mark such as `‹U+202E›`. The value itself stays as it is.
///
/// Shells show cards as they come, so that all of them show the same. Joiners that shape letters, emoji of several
/// characters, and the marks of letters stay.
package enum ShownText {
    /// The most combining marks that letters of any script carry.
    static let maximumMarks = 8

    package static func of(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { !isPlain($0) }) else { return text }
        let scalars = Array(text.unicodeScalars)
        var result = String.UnicodeScalarView()
        var marks = 0
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            if let length = flagLength(scalars, index) {
                result.append(contentsOf: scalars[index..<(index + length)])
                (marks, index) = (0, index + length)
                continue
            }
            if isStacking(scalar) {
                marks += 1
                guard marks > maximumMarks else {
                    result.append(scalar)
                    index += 1
                    continue
                }
                let end = scalars[index...].firstIndex { !isStacking($0) } ?? scalars.endIndex
                result.append(contentsOf: "‹\(end - index) marks›".unicodeScalars)
                index = end
                continue
            }
            if isHidden(scalar), !shapes(scalars, index) {
                result.append(contentsOf: mark(scalar).unicodeScalars)
            } else {
                result.append(scalar)
                if !isHidden(scalar) { marks = 0 }
            }
            index += 1
        }
        return String(result)
    }

    /// `‹U+200D›`
    static func mark(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "‹U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "›"
    }

    /// Whether the scalar needs no look at its neighbours.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x300
            ? scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && scalar != "\u{AD}"
            : !isHidden(scalar) && !isStacking(scalar) && scalar != blackFlag
    }

    /// Whether a character displays as nothing, or changes how others are displayed.
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\n", "\t": return false
        // The empty pattern of Braille, an empty note, a filler, and the marks of annotations and of hieroglyphs.
        case "\u{2800}", "\u{1D159}", "\u{16FE4}", "\u{FFF9}"..."\u{FFFC}", "\u{13430}"..."\u{13440}": return true
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: return true
        // The signs of Arabic, Syriac and Kaithi numbers are visible.
        case .format: return !scalar.properties.isNumberSign
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Whether a character is drawn over the one before it.
    private static func isStacking(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: !isHidden(scalar)
        default: false
        }
    }

    // MARK: Characters that shape others

    /// Whether a hidden character does its work on its neighbours, as in emoji of several characters and in scripts
    /// whose letters join.
    private static func shapes(_ scalars: [Unicode.Scalar], _ index: Int) -> Bool {
        guard index > 0 else { return false }
        let before = scalars[index - 1]
        let after = index + 1 < scalars.count ? scalars[index + 1] : nil
        switch scalars[index].value {
        case 0x200C:
            return joins(before) && (after.map(joins) ?? false || before.properties.canonicalCombiningClass == .virama)
        case 0x200D:
            if let after, isPicture(after) {
                var start = index - 1
                while start > 0, scalars[start].value == 0xFE0F || scalars[start].properties.isEmojiModifier {
                    start -= 1
                }
                return isPicture(scalars[start])
            }
            return joins(before) && (after.map { joins($0) || isEnd($0) } ?? true)
        case 0xFE0E, 0xFE0F:
            if before.value < 0x80 { return before.properties.isEmoji && after?.value == 0x20E3 }
            return before.properties.isEmoji || before.properties.isIdeographic
        case 0xFE00...0xFE02, 0xE0100...0xE01EF: return before.properties.isIdeographic
        case 0x180B...0x180D, 0x180F: return (0x1820...0x18AA).contains(before.value)
        case 0x180E:
            return (0x1820...0x18AA).contains(before.value)
                && after.map { [0x1820, 0x1821].contains($0.value) } ?? false
        default: return false
        }
    }

    private static func isPicture(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value > 0xFF && scalar.properties.isEmoji && !scalar.properties.isEmojiModifier
    }

    private static func isEnd(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace
            || [.otherPunctuation, .dashPunctuation].contains(scalar.properties.generalCategory)
    }

    /// Whether a letter or mark is of a script in which joiners change letters: Arabic, Syriac, N'Ko, Mandaic, the
    /// scripts of India and their relatives, Mongolian.
    private static func joins(_ scalar: Unicode.Scalar) -> Bool {
        guard !isHidden(scalar) else { return false }
        switch scalar.properties.generalCategory {
        case .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark: break
        default: return false
        }
        switch scalar.value {
        case 0x620...0x8FF, 0x900...0xDFF, 0x1000...0x109F, 0x1780...0x17D3, 0x1820...0x18AA, 0x1A20...0x1AAD,
            0x1B00...0x1B7F, 0xA840...0xA877, 0xA8E0...0xA8FF, 0xA980...0xA9DF, 0xFB50...0xFDFF, 0xFE70...0xFEFE,
            0x10AC0...0x10AFF, 0x10D00...0x10D3F, 0x10F30...0x10FCF, 0x11000...0x11FFF, 0x1E900...0x1E95F:
            return true
        default: return false
        }
    }

    private static let blackFlag: Unicode.Scalar = "\u{1F3F4}"
    /// England, Scotland, Wales.
    private static let flags = ["gbeng", "gbsct", "gbwls"].map { name in
        [blackFlag] + name.unicodeScalars.compactMap { Unicode.Scalar($0.value + 0xE0000) } + ["\u{E007F}"]
    }

    /// The length of a flag that tags spell.
    private static func flagLength(_ scalars: [Unicode.Scalar], _ index: Int) -> Int? {
        guard scalars[index] == blackFlag else { return nil }
        return flags.first { scalars[index...].starts(with: $0) }?.count
    }
}

extension Unicode.Scalar.Properties {
    /// Whether the format character is displayed: the signs that stand before numbers.
    fileprivate var isNumberSign: Bool { !isDefaultIgnorableCodePoint && !isBidiControl }
}
