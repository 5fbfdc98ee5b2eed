/// Finds a closing mark in bytes that come one after the other (Knuth, Morris and Pratt), with the white space before it.
struct ClosingMark: Sendable {
    private let bytes: [UInt8]
    /// For each length of the mark's front, the longest shorter front it ends with.
    private let fallback: [Int]
    private var matched = 0
    private var whiteSpace = 0
    /// The mark's first byte.
    let first: UInt8

    init(_ text: String) {
        bytes = Array(text.utf8)
        fallback = Self.fallback(bytes)
        first = bytes.first ?? 0
    }

    /// The bytes at the end that may belong to the mark, with the white space before it.
    var pending: Int { whiteSpace + matched }

    /// Takes a byte; `true` when it completes the mark.
    mutating func take(_ byte: UInt8) -> Bool {
        guard matched < bytes.count else { return false }
        while matched > 0, byte != bytes[matched] {
            matched = fallback[matched - 1]
            whiteSpace = 0
        }
        if byte == bytes[matched] {
            matched += 1
        } else {
            whiteSpace = byte.isThinkingWhiteSpace ? whiteSpace + 1 : 0
        }
        return matched == bytes.count
    }

    /// Takes bytes none of which is ``first``, when nothing is pending.
    mutating func skipped(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        whiteSpace = 0
        for byte in bytes.reversed() {
            guard byte.isThinkingWhiteSpace else { break }
            whiteSpace += 1
        }
    }

    mutating func reset() {
        matched = 0
        whiteSpace = 0
    }

    /// The table of the method: the next state after a byte that does not fit.
    static func fallback(_ bytes: [UInt8]) -> [Int] {
        var table = [Int](repeating: 0, count: bytes.count)
        var length = 0
        for index in bytes.indices.dropFirst() {
            while length > 0, bytes[index] != bytes[length] { length = table[length - 1] }
            if bytes[index] == bytes[length] { length += 1 }
            table[index] = length
        }
        return table
    }
}

/// Follows fenced code blocks (CommonMark 4.5) through bytes that come one after the other.
struct CodeFence: Sendable {
    private enum Line {
        /// So many spaces, and nothing else yet.
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
    var isOpen: Bool { opening != nil }

    /// Whether the line inside a block names a language, as the first line of another block does.
    private(set) var opensAgain = false

    /// Whether nothing but the end of the line matters.
    var isIdle: Bool { if case .other = line { true } else { false } }

    /// Takes a byte.
    /// - Parameter closingMark: a byte that may follow the end of a block on its line, although CommonMark wants none.
    mutating func take(_ byte: UInt8, closingMark: UInt8) {
        opensAgain = false
        if byte == 0x0A {
            finish()
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
            // Back-quotes after back-quotes are code within the line.
            if fence == 0x60, byte == 0x60 { line = .other }
        case .tail: followClosing(byte, closingMark)
        }
    }

    /// Ends the last line.
    mutating func finish() {
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

    private mutating func followClosing(_ byte: UInt8, _ closingMark: UInt8) {
        if byte == closingMark {
            opening = nil
            line = .other
        } else {
            if case .run = line, byte.isLetter { opensAgain = true }
            line = byte.isThinkingWhiteSpace ? .tail : .other
        }
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x41...0x5A).contains(self & 0xDF) }
}
