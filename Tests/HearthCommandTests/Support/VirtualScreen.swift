import HearthBase

@testable import HearthCommand

/// What a terminal shows of what was written to it, as far as Hearth writes: text, lines, and the few sequences of its screens.
/// Anything else is noted, since nothing else may reach a terminal.
struct VirtualScreen: Sendable {
    private(set) var lines: [[Character]] = []
    private(set) var strangers: [String] = []
    private(set) var isTaken = false
    private(set) var hidesCursor = false
    private var position = (line: 0, column: 0)
    private var pending = ""

    /// The lines, without the spaces at their ends.
    var text: [String] {
        lines.map { String($0).replacing(/\s+$/, with: "") }
    }

    mutating func write(_ more: String) {
        pending += more
        while let scalar = pending.unicodeScalars.first {
            if scalar == "\u{1B}" {
                guard let match = pending.prefixMatch(of: /\u{1B}\[([?0-9;]*)([A-Za-z])/) else {
                    // The rest of it is still to come.
                    if pending.wholeMatch(of: /\u{1B}(\[[?0-9;]*)?/) != nil { return }
                    strangers.append(String(pending.prefix(8)))
                    pending.removeFirst()
                    continue
                }
                obey(String(match.1), String(match.2))
                pending.removeSubrange(match.range)
            } else {
                put(pending.removeFirst())
            }
        }
    }

    private mutating func obey(_ parameters: String, _ final: String) {
        switch (parameters, final) {
        case ("?1049", "h"): (isTaken, lines, position) = (true, [], (0, 0))
        case ("?1049", "l"): (isTaken, lines, position) = (false, [], (0, 0))
        case ("?25", "l"): hidesCursor = true
        case ("?25", "h"): hidesCursor = false
        case ("?7", "l"), ("?7", "h"): break
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
        case "\r\n": position = (position.line + 1, 0)
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
