/// Tracks a terminal's content and returns the text that changes it. Has no side effects. Text for a screen only
/// comes from here, so outside text cannot control the terminal.
struct ScreenPainter: Sendable {
    private var size: ScreenSize?
    private var shown: [String] = []

    /// Returns the text that changes the screen to these lines, `nil` if it shows them already.
    /// - Parameter lines: from the top; lines beyond the window are not shown.
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

    /// Redraws everything next time, after other programs wrote on the screen.
    mutating func forget() { size = nil }
}
