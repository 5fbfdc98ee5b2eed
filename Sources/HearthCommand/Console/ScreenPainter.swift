/// Tracks a terminal's content and returns the text that changes it. Has no side effects. Text for a screen only
/// comes from here, so outside text cannot control the terminal.
struct ScreenPainter: Sendable {
    private var size: ScreenSize?
    private var shown: [Line] = []

    private struct Line: Sendable, Hashable {
        var text = ""
        var isDimmed = false
    }

    /// Returns the text that changes the screen to these lines, `nil` if it shows them already.
    /// - Parameters:
    ///   - lines: from the top; lines beyond the window are not shown.
    ///   - dimmed: the numbers of faint lines.
    mutating func paint(_ lines: [String], dimmed: Set<Int> = [], on size: ScreenSize) -> String? {
        let lines = lines.prefix(max(0, size.lines)).enumerated().map { number, text in
            Line(text: TerminalText.singleLine(text), isDimmed: dimmed.contains(number))
        }
        var text = ""
        if size != self.size {
            text = "\u{1B}[2J"
            shown = []
        }
        for index in 0..<max(lines.count, shown.count) {
            let line = index < lines.count ? lines[index] : Line()
            if index < shown.count ? line != shown[index] : !line.text.isEmpty {
                let shown = line.isDimmed ? "\u{1B}[2m\(line.text)\u{1B}[22m" : line.text
                text += "\u{1B}[\(index + 1);1H\u{1B}[K\(shown)"
            }
        }
        self.size = size
        shown = lines
        return text.isEmpty ? nil : text
    }

    /// Redraws everything next time, after other programs wrote on the screen.
    mutating func forget() { size = nil }
}
