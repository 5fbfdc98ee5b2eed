/// Breaks styled text into lines of a width: at spaces, between wide characters, and within words that are too long.
struct TextBreaker: Sendable {
    /// The columns of a line, at least 1.
    let width: Int

    init(width: Int) { self.width = max(1, width) }

    /// The lines of the runs; a line feed in a run ends a line.
    func lines(_ runs: [StyledRun]) -> [StyledLine] {
        var text = Flow(runs)
        return text.broken(to: width)
    }

    /// The lines of text that is kept as it is: breaks only where a line is full.
    func hardLines(_ runs: [StyledRun]) -> [StyledLine] {
        var text = Flow(runs)
        text.breaksOnlyWhereFull = true
        return text.broken(to: width)
    }
}

/// The characters of runs in one sequence.
private struct Flow {
    var characters: [Character] = []
    var widths: [Int] = []
    var styles: [Int] = []
    let runs: [StyledRun]
    var breaksOnlyWhereFull = false

    init(_ runs: [StyledRun]) {
        self.runs = runs
        for (index, run) in runs.enumerated() {
            for character in run.text {
                characters.append(character)
                widths.append(TerminalText.columns(of: character))
                styles.append(index)
            }
        }
    }

    mutating func broken(to width: Int) -> [StyledLine] {
        var lines: [StyledLine] = []
        var (start, used, index) = (0, 0, 0)
        var lastBreak: Int?
        func end(_ range: Range<Int>) {
            var upper = range.upperBound
            if !breaksOnlyWhereFull {
                while upper > range.lowerBound, characters[upper - 1] == " " { upper -= 1 }
            }
            lines.append(line(range.lowerBound..<upper))
        }
        while index < characters.count {
            if characters[index] == "\n" {
                end(start..<index)
                (start, used, lastBreak) = (index + 1, 0, nil)
                index += 1
                continue
            }
            if used + widths[index] > width, index > start {
                if !breaksOnlyWhereFull, characters[index] == " " {
                    end(start..<index)
                    while index < characters.count, characters[index] == " " { index += 1 }
                    (start, used, lastBreak) = (index, 0, nil)
                } else if let place = lastBreak, place > start {
                    end(start..<place)
                    (start, lastBreak) = (place, nil)
                    used = widths[place..<index].reduce(0, +)
                } else {
                    end(start..<index)
                    (start, used, lastBreak) = (index, 0, nil)
                }
                continue
            }
            used += widths[index]
            if !breaksOnlyWhereFull, mayBreak(after: index) { lastBreak = index + 1 }
            index += 1
        }
        end(start..<characters.count)
        return lines
    }

    /// Whether a line may end after a character.
    func mayBreak(after index: Int) -> Bool {
        guard index + 1 < characters.count else { return false }
        let (this, next) = (characters[index], characters[index + 1])
        if this == " " { return next != " " }
        guard next != " ", next != "\n" else { return false }
        let isWide = Self.isIdeograph(this) || Self.isIdeograph(next)
        return isWide && !Self.closing.contains(next) && !Self.opening.contains(this)
    }

    /// Whether a character is written without spaces between words.
    private static func isIdeograph(_ character: Character) -> Bool {
        switch character.unicodeScalars.first?.value ?? 0 {
        case 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4C6, 0xF900...0xFAFF, 0xFE30...0xFE6B,
            0xFF01...0xFF60, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    /// Characters that do not begin a line.
    private static let closing = Set<Character>("、。，．：；？！）」』】》〉〕］｝ー…‥々・,.:;?!)]}»”’％")
    /// Characters that do not end a line.
    private static let opening = Set<Character>("（「『【《〈〔［｛([{«“‘")

    private func line(_ range: Range<Int>) -> StyledLine {
        var line = StyledLine()
        var last: Int?
        for index in range {
            if styles[index] == last {
                line.runs[line.runs.count - 1].text.append(characters[index])
            } else {
                line.runs.append(StyledRun(String(characters[index]), runs[styles[index]].style))
                last = styles[index]
            }
        }
        return line
    }
}
