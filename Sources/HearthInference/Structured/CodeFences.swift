/// Follows a text and tells whether it is inside a fenced code block of Markdown.
///
/// A fence is a line of at least three backticks or tildes, indented by at most three spaces; the same character closes it.
package struct CodeFences: Sendable, Hashable {
    private struct Line: Sendable, Hashable {
        var indent = 0
        var character: UInt8 = 0
        var run = 0
        var isInRun = true
        var isBlankAfterRun = true
        var hasLaterBacktick = false
    }

    private var line = Line()
    /// The character and length of the fence that opened the block; length 0 outside.
    private var openCharacter: UInt8 = 0
    private var openRun = 0

    package init() {}

    /// Whether the text ends inside a fenced block.
    package var isInside: Bool { openRun > 0 }

    /// Takes the next bytes of the text.
    package mutating func append(_ bytes: some Sequence<UInt8>) { for byte in bytes { append(byte) } }

    /// Takes the next byte of the text.
    package mutating func append(_ byte: UInt8) {
        if byte == UInt8(ascii: "\n") {
            endLine()
            line = Line()
        } else if line.isInRun {
            if line.run == 0, byte == UInt8(ascii: " ") {
                line.indent += 1
            } else if line.run == 0 ? byte == UInt8(ascii: "`") || byte == UInt8(ascii: "~") : byte == line.character {
                line.character = byte
                line.run += 1
            } else {
                line.isInRun = false
                note(byte)
            }
        } else {
            note(byte)
        }
    }

    private mutating func note(_ byte: UInt8) {
        if byte == UInt8(ascii: "`") { line.hasLaterBacktick = true }
        if byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t"), byte != UInt8(ascii: "\r") {
            line.isBlankAfterRun = false
        }
    }

    private mutating func endLine() {
        guard line.run >= 3, line.indent <= 3 else { return }
        if isInside {
            if line.character == openCharacter, line.run >= openRun, line.isBlankAfterRun { openRun = 0 }
        } else if line.character == UInt8(ascii: "~") || !line.hasLaterBacktick {
            (openCharacter, openRun) = (line.character, line.run)
        }
    }
}
