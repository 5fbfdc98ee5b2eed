import Testing

@testable import HearthCommand

@Suite struct MarkdownPainterTests {
    @Test(arguments: MarkdownCases.all) func looksAsExpected(_ example: MarkdownCases.Case) {
        #expect(MarkdownText.painted(example.source, links: false) == example.lines)
    }

    @Test func thereAreManyCases() { #expect(MarkdownCases.all.count >= 60) }

    /// No line is wider than the window, by the widths of a terminal.
    @Test(arguments: [1, 2, 5, 16, 17, 23, 40, 80]) func noLineIsTooWide(_ width: Int) {
        for example in MarkdownCases.all {
            for line in MarkdownText.painted(example.source, width: width) {
                // A wide character and the least width of nested text need more than a very narrow window has.
                #expect(VirtualScreen.cells(of: line) <= max(width, 34), "\(line)")
                if width >= 40 { #expect(VirtualScreen.cells(of: line) <= width, "\(line)") }
            }
        }
    }

    @Test(arguments: [
        ("**a** *b* ~~c~~ `d`", "\u{1B}[1ma\u{1B}[0m \u{1B}[3mb\u{1B}[0m \u{1B}[9mc\u{1B}[0m \u{1B}[36md\u{1B}[0m"),
        ("# a", "\u{1B}[1;4ma\u{1B}[0m"),
        ("[a](https://x.test)", "\u{1B}]8;;https://x.test\u{1B}\\\u{1B}[4ma\u{1B}[0m\u{1B}]8;;\u{1B}\\"),
    ])
    func stylesAreEscapeSequences(source: String, expected: String) {
        let lines = MarkdownPainter(width: 40, hasLinks: true).lines(MarkdownParser.blocks(source))
        #expect(lines.map { $0.escaped(links: true) } == [expected])
    }
}
