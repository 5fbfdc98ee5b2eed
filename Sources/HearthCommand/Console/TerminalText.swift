/// Makes text from outside (models, servers, files, arguments) safe to show on a terminal.
///
/// Terminals obey escape sequences: text could retitle the window, overwrite earlier output or simulate input.
/// Without control characters, the rest of a sequence is plain text.
enum TerminalText {
    /// Whether a scalar may be shown: all but C0 (except line feed and tab), DEL and C1.
    static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A, 0x09: true
        case 0..<0x20, 0x7F..<0xA0: false
        default: true
        }
    }

    /// Removes control characters. Judges each scalar alone, so that streams can be cleaned in pieces.
    static func sanitised(_ text: String) -> String {
        if text.unicodeScalars.allSatisfy(isAllowed) { return text }
        var result = String.UnicodeScalarView()
        result.append(contentsOf: text.unicodeScalars.filter(isAllowed))
        return String(result)
    }

    /// Whether a scalar changes the direction of later text, beyond the end of its own.
    private static func turnsText(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// The most combining marks that letters of any script carry.
    private static let maximumMarks = 8

    /// The text as part of one line: line feeds, tabs and separators become spaces. Removes changes of text direction
    /// and excess combining marks, which would be drawn over other lines; keeps the letters of every script.
    static func singleLine(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var marks = 0
        for scalar in text.unicodeScalars where isAllowed(scalar) && !turnsText(scalar) {
            if scalar.value >= 0x300, [.nonspacingMark, .enclosingMark].contains(scalar.properties.generalCategory) {
                marks += 1
                if marks > maximumMarks { continue }
            } else {
                marks = 0
            }
            let breaks = scalar == "\n" || scalar == "\t" || scalar.value == 0x2028 || scalar.value == 0x2029
            result.append(breaks ? " " : scalar)
        }
        return String(result)
    }

    /// The columns of a character: 2 for wide East Asian characters and emoji, 0 for combining marks.
    static func columns(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation || isWide(scalar) { return 2 }
        // The variation selector requests the emoji instead of the text form.
        return scalar.properties.isEmoji && character.unicodeScalars.contains("\u{FE0F}") ? 2 : 1
    }

    /// Whether a scalar has the East Asian width W or F; `isEmojiPresentation` covers emoji.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6,
            0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60,
            0xFFE0...0xFFE6, 0x16FE0...0x1B2FB, 0x1F200...0x1F265, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD:
            true
        default:
            false
        }
    }

    /// The columns of a text on one line.
    static func columns(of text: String) -> Int { text.reduce(0) { $0 + columns(of: $1) } }

    /// Truncates a text to a number of columns, ending in `…`.
    static func truncated(_ text: String, to width: Int) -> String {
        guard columns(of: text) > width else { return text }
        guard width > 0 else { return "" }
        var result = ""
        var used = 0
        for character in text {
            let next = columns(of: character)
            if used + next > width - 1 { break }
            result.append(character)
            used += next
        }
        return result + "…"
    }

    /// Wraps a text at spaces to a number of columns; a longer word gets a line of its own.
    /// - Parameters:
    ///   - first: the indentation of the first line.
    ///   - hanging: the indentation of the other lines.
    static func wrapped(_ text: String, to width: Int, first: Int = 0, hanging: Int = 0) -> [String] {
        var lines: [String] = []
        var line = String(repeating: " ", count: first)
        var isEmpty = true
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if !isEmpty && columns(of: line) + 1 + columns(of: String(word)) > width {
                lines.append(line)
                line = String(repeating: " ", count: hanging)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [line]
    }

    /// Pads a text with spaces to a number of columns.
    static func padded(_ text: String, to width: Int, atEnd: Bool = true) -> String {
        let fill = String(repeating: " ", count: max(0, width - columns(of: text)))
        return atEnd ? text + fill : fill + text
    }
}

extension String {
    /// A word from the command line, made short and safe for a message.
    var shownOnTerminal: String { TerminalText.truncated(TerminalText.singleLine(self), to: 60) }
    /// ``shownOnTerminal`` in single quotation marks.
    var quotedForTerminal: String { "'\(shownOnTerminal)'" }
}
