/// Tracks fenced code blocks (CommonMark 4.5) byte by byte.
package struct CodeFence: Sendable {
    private enum Line {
        /// Only spaces so far, with their number.
        case start(Int)
        /// A run of back-quotes or tildes at the beginning of the line.
        case run(UInt8, Int)
        /// The text after a run that may open a block: its language.
        case info(UInt8, Int)
        /// White space after a run that closes the block.
        case tail
        case other
    }

    private var line = Line.start(0)
    private var opening: (byte: UInt8, count: Int)?

    /// Whether the text is inside a block.
    package var isOpen: Bool { opening != nil }

    package init() {}

    /// Whether the rest of the line has no effect.
    package var isIdle: Bool { if case .other = line { true } else { false } }

    /// Whether only spaces precede the next byte on its line.
    var isLineStart: Bool { if case .start = line { true } else { false } }

    /// Reads a byte.
    /// - Parameter closingMark: a byte that may follow the end of a block on its line, although CommonMark allows none.
    package mutating func take(_ byte: UInt8, closingMark: UInt8? = nil) {
        if byte == 0x0A {
            endLine()
            line = .start(0)
            return
        }
        switch line {
        case .other: break
        case .start(let spaces):
            if byte == 0x20, spaces < 3 {
                line = .start(spaces + 1)
            } else {
                line = byte == 0x60 || byte == 0x7E ? .run(byte, 1) : .other
            }
        case .run(let fence, let count):
            if byte == fence {
                line = .run(fence, count + 1)
            } else if closes(fence, count) {
                followClosing(byte, closingMark)
            } else {
                line = opening == nil && count >= 3 ? .info(fence, count) : .other
            }
        case .info(let fence, _):
            // Back-quotes in the text after back-quotes are inline code.
            if fence == 0x60, byte == 0x60 { line = .other }
        case .tail: followClosing(byte, closingMark)
        }
    }

    /// Ends a line.
    private mutating func endLine() {
        switch line {
        case .run(let fence, let count):
            if opening == nil {
                if count >= 3 { opening = (fence, count) }
            } else if closes(fence, count) {
                opening = nil
            }
        case .info(let fence, let count): opening = (fence, count)
        case .tail: opening = nil
        case .start, .other: break
        }
    }

    private func closes(_ fence: UInt8, _ count: Int) -> Bool {
        opening.map { $0.byte == fence && count >= $0.count } ?? false
    }

    private mutating func followClosing(_ byte: UInt8, _ closingMark: UInt8?) {
        if byte == closingMark {
            opening = nil
            line = .other
        } else {
            line = byte.isThinkingWhiteSpace ? .tail : .other
        }
    }
}

extension UInt8 {
    /// Whether the byte is white space around the marks of thinking: space, tab, line feed, carriage return.
    var isThinkingWhiteSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
