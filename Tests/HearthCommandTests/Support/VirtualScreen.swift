import HearthBase

@testable import HearthCommand

/// What a terminal shows of what was written to it, as far as Hearth writes: text, lines, and the few sequences of its screens.
/// Anything else is noted, since nothing else may reach a terminal.
struct VirtualScreen: Sendable {
    private(set) var lines: [[Character]] = []
    private(set) var strangers: [String] = []
    private(set) var isTaken = false
    private(set) var hidesCursor = false
    /// The addresses of links that were opened.
    private(set) var links: [String] = []
    /// The lines of the window, which the cursor does not leave; `nil` for one without end.
    var height: Int?
    private var position = (line: 0, column: 0)
    private var pending = ""

    /// What takes two cells, as the table of East Asian widths of Unicode 14 has it: W and F, what is unassigned between
    /// two of them included.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
        0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F, 0x2693...0x2693, 0x26A1...0x26A1,
        0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA,
        0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B,
        0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
        0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55, 0x2E80...0x303E,
        0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAD9,
        0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FB, 0x1F004...0x1F004,
        0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F320, 0x1F32D...0x1F335,
        0x1F337...0x1F37C, 0x1F37E...0x1F393, 0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0,
        0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E, 0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D,
        0x1F54B...0x1F54E, 0x1F550...0x1F567, 0x1F57A...0x1F57A, 0x1F595...0x1F596, 0x1F5A4...0x1F5A4,
        0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC, 0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6DF,
        0x1F6EB...0x1F6EC, 0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7F0, 0x1F90C...0x1F93A, 0x1F93C...0x1F945,
        0x1F947...0x1F9FF, 0x1FA70...0x1FAF6, 0x20000...0x3FFFF,
    ]

    /// The cells a terminal gives a character: by a table of its own, not by the one that is tested with it.
    static func cells(of character: Character) -> Int {
        let scalars = character.unicodeScalars.map(\.value)
        guard let first = scalars.first else { return 0 }
        // A flag is two letters; a variation selector asks for the picture.
        if (0x1F1E6...0x1F1FF).contains(first) || scalars.contains(0xFE0F) { return 2 }
        if [.nonspacingMark, .enclosingMark, .format].contains(
            character.unicodeScalars.first?.properties.generalCategory)
        {
            return 0
        }
        return wide.contains { $0.contains(first) } ? 2 : 1
    }

    static func cells(of text: String) -> Int { text.reduce(0) { $0 + cells(of: $1) } }

    /// The lines, without the spaces at their ends.
    var text: [String] { lines.map(Self.trimmed) }

    /// A line without the spaces at its end.
    static func trimmed(_ line: some BidirectionalCollection<Character>) -> String {
        let end = line.lastIndex { !$0.isWhitespace }
        return end.map { String(line[...$0]) } ?? ""
    }

    mutating func write(_ more: String) {
        let text = pending + more
        pending = ""
        var rest = text[...]
        while let scalar = rest.unicodeScalars.first {
            guard scalar == Self.escape else {
                put(rest.removeFirst())
                continue
            }
            switch Self.sequence(rest.unicodeScalars) {
            case .link(let address, let end):
                if !address.isEmpty { links.append(address) }
                rest = rest[end...]
            case .control(let parameters, let final, let end):
                obey(parameters, final)
                rest = rest[end...]
            case .unfinished:
                pending = String(rest)
                return
            case .strange:
                strangers.append(String(rest.prefix(8)))
                rest.removeFirst()
            }
        }
    }

    private static let escape: Unicode.Scalar = "\u{1B}"

    private enum Escape {
        case link(String, end: String.Index)
        case control(String, final: String, end: String.Index)
        /// The rest of the sequence is still to come.
        case unfinished
        case strange
    }

    /// The sequence that a text begins with. Read scalar by scalar: an expression would be compiled for each of thousands.
    private static func sequence(_ text: Substring.UnicodeScalarView) -> Escape {
        var rest = text.dropFirst()
        guard let kind = rest.popFirst() else { return .unfinished }
        if kind == "[" {
            let parameters = rest.prefix { "0" <= $0 && $0 <= "9" || $0 == "?" || $0 == ";" }
            rest = rest[parameters.endIndex...]
            guard let final = rest.popFirst() else { return .unfinished }
            guard final.isASCII, final.properties.isAlphabetic else { return .strange }
            return .control(String(parameters), final: String(final), end: rest.startIndex)
        }
        guard kind == "]" else { return .strange }
        for expected in "8;;".unicodeScalars {
            guard let next = rest.popFirst() else { return .unfinished }
            guard next == expected else { return .strange }
        }
        let address = rest.prefix { $0 != escape && $0 != "\u{7}" }
        rest = rest[address.endIndex...]
        for expected in [escape, "\\"] {
            guard let next = rest.popFirst() else { return .unfinished }
            guard next == expected else { return .strange }
        }
        return .link(String(address), end: rest.startIndex)
    }

    private mutating func obey(_ parameters: String, _ final: String) {
        switch (parameters, final) {
        case ("?1049", "h"): (isTaken, lines, position) = (true, [], (0, 0))
        case ("?1049", "l"): (isTaken, lines, position) = (false, [], (0, 0))
        case ("?25", "l"): hidesCursor = true
        case ("?25", "h"): hidesCursor = false
        case ("?7", "l"), ("?7", "h"), ("?2004", "l"), ("?2004", "h"): break
        case (_, "m"): break
        case (_, "A"):
            let top = height.map { max(0, lines.count - $0) } ?? 0
            position.line = max(top, position.line - max(1, Int(parameters) ?? 1))
        case ("", "J"):
            reach()
            lines[position.line].removeSubrange(min(position.column, lines[position.line].count)...)
            lines.removeSubrange((position.line + 1)...)
        case ("2", "J"): lines = []
        case ("", "K"):
            reach()
            lines[position.line].removeSubrange(min(position.column, lines[position.line].count)...)
        case (_, "H"):
            let numbers = parameters.split(separator: ";").compactMap { Int($0) }
            position = ((numbers.first ?? 1) - 1, (numbers.dropFirst().first ?? 1) - 1)
        default: strangers.append("\(parameters)\(final)")
        }
    }

    private mutating func put(_ character: Character) {
        switch character {
        case "\r\n":
            position = (position.line + 1, 0)
            reach()
        case "\n": position.line += 1
        case "\r": position.column = 0
        default:
            if !character.unicodeScalars.allSatisfy(TerminalText.isAllowed) { strangers.append("\(character)") }
            reach()
            if position.column < lines[position.line].count {
                lines[position.line][position.column] = character
            } else {
                lines[position.line].append(character)
            }
            position.column += 1
        }
    }

    private mutating func reach() {
        while lines.count <= position.line { lines.append([]) }
        while lines[position.line].count < position.column { lines[position.line].append(" ") }
    }
}
