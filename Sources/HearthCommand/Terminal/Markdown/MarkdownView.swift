/// A Markdown text that is painted while it arrives. Has no side effects: it returns the text to write.
struct MarkdownView: Sendable {
    private var stream = MarkdownStream()
    private var region: PaintedRegion
    private let hasLinks: Bool
    /// Whether a block stands above, so that the next one needs a blank line.
    private var hasText = false

    /// The widest lines of text, which is read more easily in narrow columns.
    private static let widest = 100

    /// - Parameter hasLinks: whether the terminal makes links.
    init(hasLinks: Bool) {
        self.hasLinks = hasLinks
        region = PaintedRegion(links: hasLinks)
    }

    /// Returns the text to write for the next piece.
    mutating func append(_ piece: String, in window: PaintedRegion.Window) -> String {
        paint(stream.append(piece), in: window)
    }

    /// Returns the text to write at the end; what follows begins on a new line.
    mutating func finish(in window: PaintedRegion.Window) -> String {
        let text = paint(stream.finish(), in: window)
        return text + region.end()
    }

    private mutating func paint(_ change: MarkdownStream.Change, in window: PaintedRegion.Window) -> String {
        let painter = MarkdownPainter(width: max(1, min(Self.widest, window.columns - 1)), hasLinks: hasLinks)
        let gap = { (isFirst: Bool) in isFirst ? [] : [StyledLine()] }
        var finished: [StyledLine] = []
        if !change.finished.isEmpty {
            finished = gap(!hasText || change.continues) + painter.lines(change.finished)
            hasText = true
        }
        var open: [StyledLine] = []
        if !change.open.isEmpty {
            open = gap(!hasText || (change.finished.isEmpty && change.continues)) + painter.lines(change.open)
        }
        return region.paint(finished: finished, open: open, in: window)
    }
}
