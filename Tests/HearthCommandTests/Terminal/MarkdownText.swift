import Foundation

@testable import HearthCommand

/// What Markdown looks like, for comparisons.
enum MarkdownText {
    /// The lines as painted, with their marks.
    static func painted(_ source: String, width: Int = 40, links: Bool = true) -> [String] {
        MarkdownPainter(width: width, hasLinks: links).lines(MarkdownParser.blocks(source)).map { line in
            VirtualScreen.trimmed(line.text)
        }
    }

    /// The text as painted, without marks and without spaces.
    static func content(_ source: String) -> String {
        let lines = MarkdownPainter(width: 60).lines(MarkdownParser.blocks(source))
        return lines.map(\.content).joined().filter { !$0.isWhitespace }
    }

    /// The text that HTML shows, without spaces.
    static func shown(_ html: String) -> String {
        var text = html.replacing(/<img[^>]*alt="([^"]*)"[^>]*>/) { $0.1 }
        text = text.replacing(/<[^>]*>/, with: "")
        for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")] {
            text = text.replacing(entity, with: character)
        }
        return text.filter { !$0.isWhitespace }
    }

    /// What a window shows after a text came in pieces.
    static func screen(
        _ pieces: [String], columns: Int = 41, height: Int? = nil, links: Bool = true
    ) -> VirtualScreen {
        var view = MarkdownView(hasLinks: links)
        var screen = VirtualScreen()
        screen.height = height
        let window = PaintedRegion.Window(columns: columns, lines: height ?? 100_000)
        for piece in pieces { screen.write(view.append(piece, in: window)) }
        screen.write(view.finish(in: window))
        return screen
    }
}

extension VirtualScreen {
    /// The lines, without blank ones at the end.
    var shownText: [String] {
        var lines = text
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}
