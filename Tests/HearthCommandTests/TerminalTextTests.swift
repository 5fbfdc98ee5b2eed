import Foundation
import HearthBase
import Testing

@testable import HearthCommand

@Suite struct TerminalTextTests {
    @Test(arguments: 0...0xFF as ClosedRange<UInt32>)
    func onlyLineFeedAndTabPassOfTheControlCharacters(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        let text = "a" + String(scalar) + "b"
        let isControl = value < 0x20 || (0x7F..<0xA0).contains(value)
        let passes = !isControl || value == 0x0A || value == 0x09
        #expect(TerminalText.sanitised(text) == (passes ? text : "ab"))
        if isControl { #expect(TerminalText.singleLine(text).unicodeScalars.allSatisfy { $0.value >= 0x20 }) }
    }

    @Test func escapeSequencesBecomeHarmlessText() {
        #expect(TerminalText.sanitised("\u{1B}]0;title\u{7}\u{1B}[31mred") == "]0;title[31mred")
        #expect(TerminalText.sanitised("a\r\nb\rc") == "a\nbc")
        #expect(TerminalText.sanitised("naïve 日本 👩‍👩‍👧") == "naïve 日本 👩‍👩‍👧")
    }

    @Test(arguments: [
        ("", 0, ""), ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abc", 0, ""), ("日本語", 6, "日本語"), ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"), ("abc", 1, "…"),
    ])
    func cutsToColumns(text: String, width: Int, expected: String) {
        #expect(TerminalText.truncated(text, to: width) == expected)
        #expect(TerminalText.columns(of: TerminalText.truncated(text, to: width)) <= width)
    }

    /// What a terminal gives two cells, and what only looks like it.
    @Test(arguments: [
        ("日", 2), ("Ａ", 2), ("ｱ", 1), ("〈", 2), ("é", 1), ("e\u{301}", 1), ("→", 1), ("\u{17000}", 2), ("\u{200B}", 0),
        ("⭐", 2), ("✅", 2), ("⚡", 2), ("⌛", 2), ("❤", 1), ("❤️", 2), ("🇩🇪", 2), ("1️⃣", 2), ("👩‍👩‍👧", 2),
        ("👍🏽", 2), ("🟢", 2), ("🀄", 2), ("🌡", 1), ("🌡️", 2),
    ])
    func wideCharactersTakeTwoColumns(character: String, columns: Int) {
        #expect(TerminalText.columns(of: character) == columns)
        #expect(VirtualScreen.cells(of: character) == columns)
    }

    @Test func aLabelCannotTurnTheRestOfItsLine() {
        for value: UInt32 in [0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069] {
            let mark = Unicode.Scalar(value).map(String.init) ?? ""
            #expect(TerminalText.singleLine("a\(mark)b") == "ab")
            #expect(TerminalText.sanitised("a\(mark)b") == "a\(mark)b", "an answer is its own text to the end")
        }
        #expect(TerminalText.singleLine("مرحبا 👩‍👩‍👧 ❤️") == "مرحبا 👩‍👩‍👧 ❤️")
    }

    @Test func aLetterIsNoTower() {
        let tower = "a" + String(repeating: "\u{301}", count: 1000)
        #expect(TerminalText.singleLine(tower + "b" + tower).unicodeScalars.count == 1 + 8 + 1 + 1 + 8)
        #expect(TerminalText.singleLine("שָׁלוֹם ที่ e\u{301}\u{323}") == "שָׁלוֹם ที่ e\u{301}\u{323}")
    }

    @Test(arguments: [
        ("", 10, [""]), ("one two", 10, ["one two"]), ("one two three", 7, ["one two", "three"]),
        ("日本 語 x", 7, ["日本 語", "x"]), ("extraordinary x", 5, ["extraordinary", "x"]),
    ])
    func breaksAtSpaces(text: String, width: Int, lines: [String]) {
        #expect(TerminalText.wrapped(text, to: width) == lines)
    }

    @Test func tablesAlignAlsoWithWideText() {
        let columns: [Column<[String]>] = [
            .left("NAME") { $0[0] }, .right("SIZE") { $0[1] }, .left("STATE") { $0[2] },
        ]
        let lines = columns.lines(of: [["日本", "1 kB", "installed"], ["abc\n\u{1B}", "20 kB", "x"]])
        #expect(
            lines == ["NAME   SIZE  STATE", "日本   1 kB  installed", "abc   20 kB  x"])
    }
}

@Suite struct TimeTextTests {
    @Test(arguments: [
        (0.0, "0 s"), (-1, "0 s"), (59.2, "1 min 0 s"), (61, "1 min 1 s"), (7260, "2 h 1 min"),
        (.infinity, "many hours"),
        (.nan, "many hours"), (1e300, "many hours"),
    ])
    func writesTimes(seconds: Double, text: String) { #expect(TimeText.short(seconds) == text) }

    @Test func aPieceIsJSON() throws {
        let pieces =
            (0...0x9F).compactMap { Unicode.Scalar($0).map { "a\($0)b" } }
            + ["", "\"\\/\u{2028}", "naïve 日本 👩‍👩‍👧 \u{FEFF}e\u{301}", "\r\n"]
        for piece in pieces {
            let json = Data("[\(JSONValue.string(piece).text)]".utf8)
            #expect(try JSONDecoder().decode([String].self, from: json) == [piece])
        }
        let output = CaptureSink()
        let console = Console(output: output, errors: CaptureSink(), environment: [:])
        try console.emitPiece("text", delta: "\u{1B}\"\n")
        #expect(output.contents == #"{"delta":"\u001b\"\n","event":"text"}"# + "\n")
        #expect(console.speaksEvents)
    }
}
