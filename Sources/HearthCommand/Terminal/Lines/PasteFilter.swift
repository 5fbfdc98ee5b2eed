/// Turns the bytes of a terminal into characters, and pasted text of several lines into one.
///
/// A terminal in bracketed-paste mode sends pasted text between `ESC [ 200 ~` and `ESC [ 201 ~`. Without side effects; it
/// remembers unfinished sequences.
struct PasteFilter: Sendable {
    /// Something that came from the terminal.
    enum Event: Sendable, Hashable {
        case character(Unicode.Scalar)
        /// A pasted text, without control characters but line feeds.
        case paste(String)
    }

    private static let beginning = Array("\u{1B}[200~".utf8)
    private static let ending = Array("\u{1B}[201~".utf8)
    /// The most bytes of a pasted text; the rest is dropped.
    static let longest = 4 << 20

    /// The bytes that may begin a sequence, or a character.
    private var pending: [UInt8] = []
    /// The bytes of the pasted text so far; `nil` outside of one.
    private var pasted: [UInt8]?

    /// Returns the events that a byte completes.
    mutating func take(_ byte: UInt8) -> [Event] {
        pasted == nil ? typed(byte) : inPaste(byte)
    }

    private mutating func inPaste(_ byte: UInt8) -> [Event] {
        pasted?.append(byte)
        guard let count = pasted?.count, count >= Self.ending.count,
            pasted?.suffix(Self.ending.count) == Self.ending[...]
        else {
            // Keep the end, which may be that of the sequence, also of a text that is too long.
            if let count = pasted?.count, count > Self.longest + Self.ending.count { pasted?.remove(at: Self.longest) }
            return []
        }
        let text = String(decoding: (pasted ?? []).dropLast(Self.ending.count), as: UTF8.self)
        pasted = nil
        // The two characters of a line end are one `Character`.
        let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        return [.paste(TerminalText.sanitised(lines))]
    }

    private mutating func typed(_ byte: UInt8) -> [Event] {
        pending.append(byte)
        if pending[0] == 0x1B {
            if pending == Self.beginning {
                (pending, pasted) = ([], [])
                return []
            }
            // Keys such as the arrows begin in the same way.
            return Self.beginning.starts(with: pending) ? [] : flush()
        }
        let isWhole = Self.length(of: pending[0]) <= pending.count
        let isBroken = pending.count > 1 && byte & 0xC0 != 0x80
        return isWhole || isBroken ? flush() : []
    }

    /// The bytes as characters; what is no text becomes U+FFFD.
    private mutating func flush() -> [Event] {
        defer { pending = [] }
        return String(decoding: pending, as: UTF8.self).unicodeScalars.map(Event.character)
    }

    private static func length(of byte: UInt8) -> Int {
        switch byte {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }
}
