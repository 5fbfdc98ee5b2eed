import HearthTestSupport
import Testing

@testable import HearthCommand

@Suite struct MarkdownStreamTests {
    /// A text with every kind of block.
    static let mixed = MarkdownCases.all.map(\.source).filter { !$0.contains("[ref]: ") }.joined(separator: "\n\n")

    private func scalars(_ text: String) -> [String] { text.unicodeScalars.map { String($0) } }

    private func cut(_ text: String, _ seed: UInt64, mean: UInt64) -> [String] {
        var generator = SplitMix(state: seed)
        var pieces = [""]
        for scalar in text.unicodeScalars {
            if generator.next() % mean == 0 { pieces.append("") }
            pieces[pieces.count - 1].unicodeScalars.append(scalar)
        }
        return pieces
    }

    @Test(arguments: MarkdownCases.all.map(\.source)) func aTextThatComesScalarByScalarLooksLikeTheWhole(
        _ source: String
    ) {
        let streamed = MarkdownText.screen(scalars(source))
        #expect(streamed.shownText == MarkdownText.screen([source]).shownText)
        #expect(streamed.shownText == MarkdownText.painted(source))
        #expect(streamed.strangers == [])
    }

    @Test(arguments: TestExtent.isFull ? Array(1...12) : [2, 7] as [UInt64]) func cutsAnywhereLookLikeTheWhole(
        _ seed: UInt64
    ) {
        let whole = MarkdownText.screen([Self.mixed]).shownText
        #expect(whole.count > 150)
        #expect(MarkdownText.screen(cut(Self.mixed, seed, mean: seed)).shownText == whole)
    }

    /// Blocks that fit the window look the same in a low one, where only its lines can be painted again.
    @Test(arguments: TestExtent.isFull ? [12, 20, 50] : [20]) func aLowWindowShowsTheSame(_ height: Int) {
        let whole = MarkdownText.screen([Self.mixed]).shownText
        #expect(MarkdownText.screen(scalars(Self.mixed), height: height).shownText == whole)
    }

    @Test(arguments: [
        "```\n" + (1...40).map { "line \($0)" }.joined(separator: "\n") + "\n```\n\nend",
        (1...40).map { "\($0). item" }.joined(separator: "\n"),
        (1...40).map { "- item \($0)\n\n  more of it" }.joined(separator: "\n"),
        (1...200).map { "word\($0)" }.joined(separator: " "),
        (1...40).map { "> quote \($0)\n>" }.joined(separator: "\n"),
    ])
    func aBlockLongerThanTheWindowIsPaintedInParts(_ source: String) {
        let streamed = MarkdownText.screen(scalars(source), height: 10)
        #expect(streamed.shownText == MarkdownText.painted(source))
    }

    @Test func aLinkThatIsDefinedBeforeIsALink() {
        let source = "[a b]: https://example.org/x\n\nFirst.\n\nSecond [A  B] and [none].\n\nThird [t][a b].\n"
        for pieces in [[source], scalars(source)] {
            #expect(MarkdownText.screen(pieces).links.contains("https://example.org/x"))
        }
        let plain = MarkdownText.screen(scalars(source), links: false).shownText
        #expect(plain.joined().contains("[none]"))
        #expect(plain.joined().contains("t (https://example.org/x)"))
    }

    @Test func aFinishedBlockIsWrittenOnce() {
        var view = MarkdownView(hasLinks: false)
        let window = PaintedRegion.Window(columns: 80, lines: 24)
        var written = ""
        for piece in scalars("First paragraph.\n\nSecond paragraph.\n\nThird paragraph.") {
            written += view.append(piece, in: window)
        }
        let before = written
        for piece in scalars(" It goes on.") { written += view.append(piece, in: window) }
        #expect(!written.dropFirst(before.count).contains("Second"))
        #expect(written.hasPrefix("\u{1B}[?7l"))
    }

    @Test func aNarrowerWindowKeepsWhatStandsAbove() {
        var view = MarkdownView(hasLinks: false)
        var screen = VirtualScreen()
        screen.write(view.append("First.\n\nSecond one", in: .init(columns: 80, lines: 24)))
        screen.write(view.append(" goes on", in: .init(columns: 40, lines: 24)))
        screen.write(view.finish(in: .init(columns: 40, lines: 24)))
        #expect(screen.shownText == ["First.", "", "Second one goes on"])
    }
}

/// Texts that a model writes to harm the terminal or to stop the program.
@Suite(.timeLimit(.minutes(2))) struct HostileMarkdownTests {
    @Test(arguments: [
        "\u{1B}]0;title\u{7}text", "`\u{1B}[31m`", "&#27;]8;;https://x\u{1B}\\", "&#x9d;0;t&#7;", "```\n\u{1B}[2J\n```",
        "[a](https://x/\u{1B}[31m)", "[a](<https://x/&#27;[31m>)", "| \u{9b}31m | &#155;2J |\n|--|--|\n| a | b |",
        "# \u{1B}[A", "> &#x1b;[1;1H", "- &#x08;&#x0d;x", "<b \u{1B}[0m>", "[a]: https://x/&#27;\n\n[a]",
        "\u{202E}turned",
    ])
    func noControlCharacterReachesTheTerminal(_ source: String) {
        for pieces in [[source], source.unicodeScalars.map { String($0) }] {
            let screen = MarkdownText.screen(pieces)
            #expect(screen.strangers == [])
            #expect(screen.links.allSatisfy { $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } })
            #expect(!screen.text.joined().unicodeScalars.contains("\u{202E}"))
        }
    }

    @Test(
        arguments: [
            ("javascript:alert(1)", nil), ("file:///etc/passwd", nil),
            ("HTTPS://example.org/ä b", "HTTPS://example.org/%C3%A4%20b"),
            ("mailto:a@example.org", "mailto:a@example.org"), ("//example.org", nil), ("", nil),
            ("https://" + String(repeating: "a", count: 3000), nil),
        ] as [(String, String?)])
    func aTerminalOpensOnlyWebAndMailAddresses(address: String, expected: String?) {
        #expect(LinkAddress.clickable(address) == expected)
    }

    @Test func aTextThatNamesAnotherAddressShowsWhereItLeads() {
        for links in [true, false] {
            let line = MarkdownText.painted("[https://bank.example](https://evil.test/)", width: 80, links: links)
            #expect(line == ["https://bank.example (https://evil.test/)"])
        }
        #expect(MarkdownText.painted("[here](https://example.org)", links: true) == ["here"])
    }

    /// A piece so often, or a fifth of that in the short extent.
    private static func many(_ piece: String, _ count: Int) -> String {
        String(repeating: piece, count: TestExtent.isFull ? count : count / 5)
    }

    @Test(arguments: [
        many("> ", 20_000) + "x", many("- ", 20_000) + "x",
        many("*a_", 20_000), many("[", 50_000) + "x",
        many("[a](", 20_000), many("`", 30_001),
        many("`a", 30_000), many("<a ", 20_000),
        many("www.a.", 10_000), many("![[]()", 10_000),
        many("|", 20_000) + "\n" + many("|-", 20_000),
        (0..<(TestExtent.isFull ? 3000 : 600)).map { String(repeating: " ", count: $0 % 300) + "* x" }.joined(
            separator: "\n"),
        many("a", 1 << 20), many("word ", 40_000),
        many("語", 60_000), many("e\u{301}", 50_000),
        "a" + many("\u{301}", 30_000), many("\n", 50_000),
        many("[a]: /b\n", 20_000), many("a\n\n", 5000),
        "```\n" + many("code line\n", 20_000), many("|a|b|\n", 5000),
    ])
    func aHugeTextIsShownInBoundedTime(_ source: String) {
        let clock = ContinuousClock()
        var view = MarkdownView(hasLinks: true)
        let window = PaintedRegion.Window(columns: 80, lines: 24)
        let time = clock.measure {
            _ = view.append(source, in: window)
            _ = view.finish(in: window)
        }
        #expect(time < .seconds(20), "\(source.prefix(10)): \(time)")
    }

    @Test func deepNestingIsShownWithAllItsText() {
        let source = (0..<40).map { String(repeating: "  ", count: $0) + "- level \($0)" }.joined(separator: "\n")
        let content = MarkdownText.content(source)
        #expect((0..<40).allSatisfy { content.contains("level\($0)") })
    }
}
