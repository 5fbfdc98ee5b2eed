/// Finds a closing mark byte by byte, with the white space before it.
struct ClosingMark: Sendable {
    private var mark: Mark
    private var whiteSpace = 0
    /// The mark's first byte.
    let first: UInt8

    init(_ text: String) {
        mark = Mark(text)
        first = mark.bytes.first ?? 0
    }

    /// Whether the last byte is the first of the mark.
    var isFirstByte: Bool { mark.matched == 1 }

    /// The number of bytes at the end that may belong to the mark, with the white space before it.
    var pending: Int { whiteSpace + mark.matched }

    /// Reads a byte; `true` if it completes the mark.
    mutating func take(_ byte: UInt8) -> Bool {
        let before = mark.matched
        let isWhole = mark.take(byte)
        if mark.matched != before + 1 {
            if before > 0 { whiteSpace = 0 }
            if mark.matched == 0 { whiteSpace = byte.isThinkingWhiteSpace ? whiteSpace + 1 : 0 }
        }
        return isWhole
    }

    /// Reads bytes that do not contain ``first``, when no bytes are pending.
    mutating func skipped(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        whiteSpace = bytes.reversed().prefix { $0.isThinkingWhiteSpace }.count
    }

    mutating func reset() {
        mark.reset()
        whiteSpace = 0
    }
}
