/// Markdown and the lines that it looks like in 40 columns, without links.
enum MarkdownCases {
    struct Case: Sendable {
        let source: String
        let lines: [String]

        init(_ source: String, _ lines: String...) {
            self.source = source
            self.lines = lines
        }
    }

    static let all: [Case] = texts + blocks

    private static let texts = [
        Case("plain text", "plain text"),
        Case("one\ntwo", "one two"),
        Case("one  \ntwo", "one", "two"),
        Case("one\\\ntwo", "one", "two"),
        Case("a **bold** and *italic* and ~~gone~~ `code` word", "a bold and italic and gone code word"),
        Case("***both***", "both"),
        Case("**bold with `code` in it**", "bold with code in it"),
        Case("~not gone~", "~not gone~"),
        Case("[text](https://example.org/page)", "text (https://example.org/page)"),
        Case("[example.org](https://evil.test/)", "example.org (https://evil.test/)"),
        Case("<https://example.org>", "https://example.org"),
        Case("www.example.org and mail@example.org", "www.example.org and mail@example.org"),
        Case("![a picture](https://example.org/a.png)", "a picture (https://example.org/a.png)"),
        Case("[odd](javascript:alert)", "odd (javascript:alert)"),
        Case(
            "[ref] and [other][ref]\n\n[ref]: https://example.org", "ref (https://example.org) and other",
            "(https://example.org)"),
        Case("raw <b>html</b> text", "raw <b>html</b> text"),
        Case("<div>\nblock\n</div>", "<div>", "block", "</div>"),
        Case("&amp; &lt; &copy; &#27;[31m &#x9b;31m", "& < © [31m 31m"),
        Case("\\*not italic\\*", "*not italic*"),
        Case("日本語の文章はスペースなしで書かれ、行の終わりで折り返されます。とても長い文です。", "日本語の文章はスペースなしで書かれ、行の", "終わりで折り返されます。とても長い文で", "す。"),
        Case(
            "emoji 👩\u{200D}👩\u{200D}👧 ❤️ 🇩🇪 👍🏽 in a text that is long enough to be broken at forty",
            "emoji 👩\u{200D}👩\u{200D}👧 ❤️ 🇩🇪 👍🏽 in a text that is long", "enough to be broken at forty"),
        Case(
            "e\u{301}e\u{301}e\u{301} combining letters in a text which is broken at forty columns too",
            "e\u{301}e\u{301}e\u{301} combining letters in a text which is", "broken at forty columns too"),
        Case(
            "averyveryveryveryveryveryveryverylongwordwithoutanyspace after",
            "averyveryveryveryveryveryveryverylongwor", "dwithoutanyspace after"),
        Case(
            "https://example.org/a/very/long/address/that/does/not/fit/in/the/width",
            "https://example.org/a/very/long/address/", "that/does/not/fit/in/the/width"),
        Case("text\n\n\n\nmore text", "text", "", "more text"),
        Case("1986\\. A great year", "1986. A great year"),
        Case("*a*b_c_ __d__e snake_case_word", "ab_c_ __d__e snake_case_word"),
        Case("`` a ` b ``", "a ` b"),
        Case("text with \u{200B} zero \u{A0} and\ttab", "text with \u{200B} zero \u{A0} and tab"),
        Case("mathematics: 2 * 3 * 4 = 24", "mathematics: 2 * 3 * 4 = 24"),
    ]

    private static let blocks = [
        Case("# One\n\ntext", "One", "", "text"),
        Case("## Two ##\nnext", "Two", "", "next"),
        Case("Title\n=====\n\nSub\n---", "Title", "", "Sub"),
        Case("###### six", "six"),
        Case("#no heading", "#no heading"),
        Case("- a\n- b\n- c", "• a", "• b", "• c"),
        Case("- a\n\n- b", "• a", "", "• b"),
        Case("- a\n  - b\n    - c\n      - d", "• a", "  ◦ b", "    ▪ c", "      ▪ d"),
        Case("1. one\n2. two\n10. three", "1. one", "2. two", "3. three"),
        Case("9) nine\n10) ten", " 9) nine", "10) ten"),
        Case("8. eight\n9. nine\n10. ten", " 8. eight", " 9. nine", "10. ten"),
        Case("1. one\n   - nested\n   - more\n2. two", "1. one", "   ◦ nested", "   ◦ more", "2. two"),
        Case("- [ ] open\n- [x] done\n- plain", "☐ open", "☑ done", "• plain"),
        Case("1. [x] first\n2. [ ] second", "1. ☑ first", "2. ☐ second"),
        Case("- para\n\n  second para\n- next", "• para", "", "  second para", "• next"),
        Case("- item\n  ```\n  code\n  ```\n- after", "• item", "    code", "• after"),
        Case("-", "•"),
        Case("* * *", "────────────────────────────────────────"),
        Case("---", "────────────────────────────────────────"),
        Case(
            "> quoted text that is long enough to be broken into two lines", "│ quoted text that is long enough to be",
            "│ broken into two lines"),
        Case("> a\n>\n> b", "│ a", "│", "│ b"),
        Case("> - list\n> - in quote\n>\n> > deeper", "│ • list", "│ • in quote", "│", "│ │ deeper"),
        Case("```\ncode  line\n\tindented\n```", "  code  line", "      indented"),
        Case("```swift\nlet a = 1\n```\nafter", "  let a = 1", "", "after"),
        Case("    indented\n      more", "  indented", "    more"),
        Case("~~~\nopen fence\nno end", "  open fence", "  no end"),
        Case(
            "```\na line of code that is much longer than the width of forty columns\n```",
            "  a line of code that is much longer tha", "  n the width of forty columns"),
        Case("| a | b |\n|---|---|\n| 1 | 2 |", "a │ b", "──┼──", "1 │ 2"),
        Case(
            "| left | center | right |\n|:--|:-:|--:|\n| a | b | c |\n| longer cell | x | 12345 |",
            "left        │ center │ right", "────────────┼────────┼──────", "a           │   b    │     c",
            "longer cell │   x    │ 12345"),
        Case("a | b\n--|--\n**x** | `y`", "a │ b", "──┼──", "x │ y"),
        Case(
            "| name | text |\n|---|---|\n| a | a long text that does not fit in the width of the window |",
            "name │ text", "─────┼──────────────────────────────────", "a    │ a long text that does not fit in",
            "     │ the width of the window"),
        Case("| a | b | c |\n|---|---|---|\n| 1 |", "a │ b │ c", "──┼───┼──", "1 │   │"),
        Case(
            "| 日本 | b |\n|---|---|\n| x | 👩\u{200D}👩\u{200D}👧 |\n| é | yy |", "日本 │ b", "─────┼───",
            "x    │ 👩\u{200D}👩\u{200D}👧", "é    │ yy"),
        Case(
            "| a | b | c | d | e | f | g |\n|-|-|-|-|-|-|-|\n| 1 | 2 | 3 | 4 | 5 | 6 | 7 |",
            "a │ b │ c │ d │ e │ f │ g", "──┼───┼───┼───┼───┼───┼──", "1 │ 2 │ 3 │ 4 │ 5 │ 6 │ 7"),
        Case("| a\\|b | c |\n|---|---|\n| `x\\|y` | z |", "a|b │ c", "────┼──", "x|y │ z"),
        Case("para\n- list\n- goes on\n\npara", "para", "", "• list", "• goes on", "", "para"),
        Case("- a\n\n\n\n- b\n\n\ntext", "• a", "", "• b", "", "text"),
        Case("+ plus\n* star\n- minus", "• plus", "", "• star", "", "• minus"),
        Case(
            "Line one.\n\n***\n\nLine two.", "Line one.", "", "────────────────────────────────────────", "",
            "Line two."),
        Case("1. a\n\n   ```\n   x\n   ```\n\n2. b", "1. a", "", "     x", "", "2. b"),
        Case("> ```\n> code in a quote\n> ```", "│   code in a quote"),
        Case("- > quote in a list\n- # heading in a list", "• │ quote in a list", "• heading in a list"),
        Case("- a\n- | x | y |\n  |---|---|\n  | 1 | 2 |", "• a", "• x │ y", "  ──┼──", "  1 │ 2"),
    ]
}
