extension Console {
    /// The window in which text can be painted; `nil` where plain text is written.
    var window: PaintedRegion.Window? {
        guard canDim, let columns = output.width else { return nil }
        return PaintedRegion.Window(columns: columns, lines: output.lines ?? 24)
    }

    /// Writes Markdown: painted at a terminal, as it is elsewhere.
    func printMarkdown(_ text: String) throws {
        guard let window else { return try write(output.isTerminal ? TerminalText.sanitised(text) : text) }
        var view = MarkdownView(hasLinks: hasLinks)
        try write(view.append(text, in: window) + view.finish(in: window))
    }
}
