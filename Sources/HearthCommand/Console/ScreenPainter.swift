/// Knows what a terminal shows, and what to write so that it shows something else. A value; what it gives is all that is ever
/// written on a screen, so nothing from outside drives the terminal.
struct ScreenPainter: Sendable {
    private var size: ScreenSize?
    private var shown: [String] = []

    /// What changes the screen to these lines, `nil` where it shows them already.
    /// - Parameter lines: from the top; what is beyond the window is not shown.
    mutating func paint(_ lines: [String], on size: ScreenSize) -> String? {
        let lines = lines.prefix(max(0, size.lines)).map(TerminalText.singleLine)
        var text = ""
        if size != self.size {
            text = "\u{1B}[2J"
            shown = []
        }
        for index in 0..<max(lines.count, shown.count) {
            let line = index < lines.count ? lines[index] : ""
            if index < shown.count ? line != shown[index] : !line.isEmpty {
                text += "\u{1B}[\(index + 1);1H\u{1B}[K\(line)"
            }
        }
        self.size = size
        shown = lines
        return text.isEmpty ? nil : text
    }

    /// Somebody else has written there: the next time everything is drawn anew.
    mutating func forget() { size = nil }
}
