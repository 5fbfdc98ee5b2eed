import HearthInference

/// A key that this program uses.
enum Key: Sendable, Hashable {
    case up, down, pageUp, pageDown, home, end
    case enter
    /// Ctrl-C. A terminal in raw mode sends it as a byte.
    case interrupt
    /// Ctrl-D.
    case endOfInput
    /// Ctrl-L.
    case redraw
    /// Ctrl-Z, also sent as a byte in raw mode.
    case suspend
    case character(Unicode.Scalar)
}

/// Turns the bytes of a terminal in raw mode into keys.
///
/// A state machine without side effects, which remembers unfinished sequences, so that keys do not depend on how the
/// bytes were split. It ignores unknown key sequences, replies of the terminal and invalid text.
///
/// ```
/// text ──ESC──▶ escape ──[──▶ sequence ──final byte──▶ text
///                 ├─────O──▶ shifted ──any byte──▶ text
///                 └──] P X ^ _──▶ string ──any control character──▶ text
/// ```
struct KeyReader: Sendable {
    private enum State: Sendable {
        case text
        case escape
        /// Within `ESC [`: the parameters so far.
        case sequence([UInt8])
        /// After `ESC O`.
        case shifted
        /// A title or report of the terminal, not typed by the user.
        case string
    }

    /// The maximum length of a key's parameters; longer sequences are ignored.
    private static let longestParameters = 16
    private var state = State.text
    private var assembler = UTF8Assembler()

    /// Returns the keys that the next bytes complete.
    mutating func keys(_ bytes: some Sequence<UInt8>) -> [Key] { bytes.flatMap { take($0) } }

    private mutating func take(_ byte: UInt8) -> [Key] {
        // Ctrl-C works in every state.
        if byte == 0x03 {
            state = .text
            assembler.flush()
            return [.interrupt]
        }
        switch state {
        case .text: return text(byte)
        case .escape: return escape(byte)
        case .sequence(let parameters): return sequence(byte, after: parameters)
        case .shifted:
            state = .text
            return byte < 0x20 ? text(byte) : Self.key(shifted: byte)
        case .string:
            // The string ends with BEL or ESC \. After a typed Escape, any control key leaves this state.
            if byte < 0x20 { state = byte == 0x1B ? .escape : .text }
            return []
        }
    }

    private mutating func text(_ byte: UInt8) -> [Key] {
        if byte >= 0x80 { return assembler.append([byte]).unicodeScalars.map(Key.character) }
        assembler.flush()
        switch byte {
        case 0x1B:
            state = .escape
            return []
        case 0x0D, 0x0A: return [.enter]
        case 0x04: return [.endOfInput]
        case 0x0C: return [.redraw]
        case 0x1A: return [.suspend]
        case 0x20..<0x7F: return [.character(Unicode.Scalar(byte))]
        default: return []
        }
    }

    private mutating func escape(_ byte: UInt8) -> [Key] {
        switch byte {
        case UInt8(ascii: "["): state = .sequence([])
        case UInt8(ascii: "O"): state = .shifted
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
            state = .string
        case UInt8(ascii: "\\"): state = .text
        default:
            // The Escape key alone, followed by another key.
            state = .text
            return text(byte)
        }
        return []
    }

    private mutating func sequence(_ byte: UInt8, after parameters: [UInt8]) -> [Key] {
        switch byte {
        case 0x20..<0x40:
            state = .sequence(parameters.count < Self.longestParameters ? parameters + [byte] : parameters)
            return []
        case 0x40..<0x7F:
            state = .text
            return Self.key(final: byte, parameters: parameters)
        default:
            // Sequences don't contain such bytes: it begins something else.
            state = .text
            return text(byte)
        }
    }

    /// The keys of xterm, and alternatives sent by other terminals.
    private static func key(final: UInt8, parameters: [UInt8]) -> [Key] {
        switch (final, String(decoding: parameters, as: UTF8.self)) {
        case (UInt8(ascii: "~"), "1"), (UInt8(ascii: "~"), "7"): [.home]
        case (UInt8(ascii: "~"), "4"), (UInt8(ascii: "~"), "8"): [.end]
        case (UInt8(ascii: "~"), "5"): [.pageUp]
        case (UInt8(ascii: "~"), "6"): [.pageDown]
        case (UInt8(ascii: "A")...UInt8(ascii: "H"), ""): key(shifted: final)
        default: []
        }
    }

    private static func key(shifted final: UInt8) -> [Key] {
        switch final {
        case UInt8(ascii: "A"): [.up]
        case UInt8(ascii: "B"): [.down]
        case UInt8(ascii: "H"): [.home]
        case UInt8(ascii: "F"): [.end]
        // Enter on the keypad.
        case UInt8(ascii: "M"): [.enter]
        default: []
        }
    }
}
