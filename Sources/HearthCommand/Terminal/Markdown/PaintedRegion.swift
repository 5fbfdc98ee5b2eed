/// The lines at the bottom of a terminal that are painted again while they change. Has no side effects: it returns the
/// text to write.
///
/// Lines above the screen cannot be reached: they stay as they were painted.
struct PaintedRegion: Sendable {
    /// The window of the terminal, in characters.
    struct Window: Sendable, Hashable {
        var columns: Int
        var lines: Int
    }

    /// The lines that may still change, as painted.
    private(set) var shown: [StyledLine] = []
    /// Whether the cursor is at the end of a line.
    private(set) var isLineOpen = false
    private var window: Window?
    private let links: Bool

    /// Lines are cut instead of wrapped, so that a character that is wider than expected moves no other line.
    private static let (cutting, wrapping) = ("\u{1B}[?7l", "\u{1B}[?7h")

    /// - Parameter links: whether the terminal makes links.
    init(links: Bool) { self.links = links }

    /// Returns the text that replaces the changeable lines by finished ones, followed by changeable ones.
    mutating func paint(finished: [StyledLine], open: [StyledLine], in window: Window) -> String {
        let lines = finished + open
        var height = shown.count
        if let before = self.window, before.columns > window.columns {
            // Terminals wrap lines that no longer fit.
            height = shown.reduce(0) { $0 + max(1, ($1.width + window.columns - 1) / max(1, window.columns)) }
        }
        let wraps = height != shown.count
        self.window = window
        defer { shown = open }
        guard !lines.isEmpty || !shown.isEmpty else { return "" }
        let reachable = max(0, height - max(1, window.lines - 1))
        var first = wraps ? 0 : zip(lines, shown).prefix { $0 == $1 }.count
        if first == lines.count, first == shown.count { return "" }
        first = max(first, min(reachable, shown.count))
        // Where lines are removed, the last one that remains is painted again, so that the cursor is at its end.
        if first >= lines.count { first = max(0, lines.count - 1) }
        var text = ""
        if first >= shown.count {
            text += isLineOpen ? "\r\n" : ""
        } else {
            let up = (wraps ? min(height, max(1, window.lines - 1)) : shown.count - first) - 1
            text += "\r" + (up > 0 ? "\u{1B}[\(up)A" : "") + "\u{1B}[J"
        }
        text += lines.dropFirst(first).map { $0.escaped(links: links) }.joined(separator: "\r\n")
        isLineOpen = !lines.isEmpty || first > 0
        return Self.cutting + text + Self.wrapping
    }

    /// Returns the text that ends the region: what follows begins on a new line.
    mutating func end() -> String {
        defer { (shown, isLineOpen) = ([], false) }
        return isLineOpen ? "\r\n" : ""
    }
}
