import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

@Suite struct MessageLinesTests {
    @Test(arguments: [
        (["hello"], ["hello"]), (["one\\", "two"], ["one\ntwo"]), (["one\\\\"], ["one\\\\"]),
        (["```", "code", "```"], ["```\ncode\n```"]), (["text ```code``` text"], ["text ```code``` text"]),
        (["````", "```", "````"], ["````\n```\n````"]), (["a\nb", "c"], ["a\nb", "c"]),
        (["```swift\nlet a", "```"], ["```swift\nlet a\n```"]), (["", "x"], ["", "x"]),
        (["  ```", "x\\", "  ```"], ["  ```\nx\\\n  ```"]),
    ])
    func linesBecomeMessages(lines: [String], messages: [String]) {
        var collected = MessageLines()
        #expect(lines.compactMap { collected.append($0) } == messages)
        #expect(!collected.isOpen)
    }

    @Test func anOpenFenceWaitsForItsEnd() {
        var lines = MessageLines()
        #expect(lines.append("```") == nil)
        #expect(lines.append("~~~ and `` are text") == nil)
        #expect(lines.isOpen)
        #expect(lines.take() == "```\n~~~ and `` are text")
        #expect(!lines.isOpen)
    }
}

@Suite struct PasteFilterTests {
    private func events(_ text: String) -> [PasteFilter.Event] { events(Array(text.utf8)) }

    private func events(_ bytes: [UInt8]) -> [PasteFilter.Event] {
        var filter = PasteFilter()
        return bytes.flatMap { filter.take($0) }
    }

    private func characters(_ text: String) -> [PasteFilter.Event] { text.unicodeScalars.map { .character($0) } }

    @Test(arguments: ["abc", "äöü 日本 👩‍👩‍👧", "\r", "\u{1B}[A", "\u{1B}[20~", "\u{1B}OP", "\u{1B}x", "\u{7F}"])
    func typedCharactersPass(_ text: String) { #expect(events(text) == characters(text)) }

    @Test(arguments: [
        ("one", "one"), ("one\rtwo", "one\ntwo"), ("one\r\ntwo\n", "one\ntwo\n"), ("日本\u{1B}[A", "日本[A"), ("", ""),
        ("\u{1B}[200~", "[200~"), ("a\u{3}b\u{4}", "ab"),
    ])
    func aPastedTextIsOneEvent(text: String, pasted: String) {
        let expected: [PasteFilter.Event] = characters("x") + [.paste(pasted)] + characters("y")
        #expect(events("x\u{1B}[200~\(text)\u{1B}[201~y") == expected)
    }

    @Test func bytesThatAreNoTextBecomeReplacements() {
        #expect(events([0xFF, 0x61]) == characters("\u{FFFD}a"))
        #expect(events([0xC3, 0x61]) == characters("\u{FFFD}a"))
        #expect(events([0xE2, 0x82]) == [])
    }

    @Test(.enabled(if: TestExtent.isFull)) func aPastedTextIsBounded() {
        var filter = PasteFilter()
        for byte in "\u{1B}[200~".utf8 { #expect(filter.take(byte) == []) }
        for _ in 0..<(PasteFilter.longest + 1000) { _ = filter.take(UInt8(ascii: "a")) }
        let events = "\u{1B}[201~".utf8.flatMap { filter.take($0) }
        guard case .paste(let text)? = events.first else {
            Issue.record("no paste")
            return
        }
        #expect(text.utf8.count <= PasteFilter.longest + 6)
    }
}

@Suite struct LineHistoryTests {
    @Test func linesAreKeptForTheirOwnerOnly() throws {
        let folder = try TemporaryFolder()
        let history = LineHistory(path: folder.path("chat-history"))
        #expect(history.entries() == [])
        for text in ["one", "two\nlines", "two\nlines", "日本 \"quoted\"", ""] { history.append(text) }
        #expect(history.entries() == ["one", "two\nlines", "日本 \"quoted\""])
        var status = stat()
        #expect(lstat(history.path.string, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test func theHistoryIsBoundedAndSurvivesDamage() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("chat-history", Data("\"first\"\nno JSON\n{}\n\"last\"\n".utf8))
        let history = LineHistory(path: path)
        #expect(history.entries() == ["first", "last"])
        let many = (0..<1200).map { "\"line \($0)\"\n" }.joined()
        try Data(many.utf8).write(to: path.url)
        #expect(history.entries().count == LineHistory.maximumEntries)
        history.append(String(repeating: "a", count: LineHistory.longestEntry + 1))
        #expect(history.entries().last == "line 1199")
        history.append("new")
        #expect(history.entries().count == LineHistory.maximumEntries)
        #expect(history.entries().last == "new")
    }
}

@Suite struct ChatCommandTests {
    @Test(arguments: [
        ("", ChatCommand.nothing), ("hello", .message), ("/exit", .exit), ("/bye", .exit), ("/help", .help),
        ("/new", .new(isPrivate: false)), ("/reset", .new(isPrivate: false)), ("/private", .new(isPrivate: true)),
        ("/open 3", .open("3")), ("/open", .open("")), ("/search two words", .search("two words")),
        ("/undo", .undo("")),
        ("/undo 2", .undo("2")), ("/do", .perform("")), ("/retry", .retry), ("/continue", .continuation),
        ("/edit", .edit), ("/copy", .copy), ("/export a b.md", .export("a b.md")), ("/image  x.png", .image("x.png")),
        ("/file x", .file("x")), ("/model m@1.0.0", .model("m@1.0.0")), ("/stats", .stats),
        ("/think off", .think("off")),
        ("/exitnow", .unknown("/exitnow")), ("/", .unknown("/")), ("/home/me is a folder\nof mine", .message),
        ("a /exit", .message),
    ])
    func reads(text: String, command: ChatCommand) { #expect(ChatCommand(text) == command) }

    @Test(arguments: ChatCommand.table.map { $0.names[0] }) func everyCommandOfTheListIsKnown(_ name: String) {
        if case .unknown = ChatCommand(name) { Issue.record("\(name) is unknown") }
        #expect(ChatCommand.helpText(columns: 100).contains(name))
        #expect(ChatCommand.helpText(columns: 20).contains("\n\(name)") || name == ChatCommand.table[0].names[0])
    }

    @Test(arguments: [
        ("/st", ["/stats"]), ("/e", ["/edit", "/export", "/exit"]), ("hello", []), ("/image a", ["a.png", "a/"]),
        ("/model a", []), ("/set te", ["temperature"]), ("/set seed 1", []),
        ("/", ChatCommand.table.map { $0.names[0] }),
    ])
    func completes(line: String, candidates: [String]) {
        let completion = ChatCommand.completion(of: line) { typed in ["a.png", "a/"].filter { $0.hasPrefix(typed) } }
        #expect(completion.candidates == candidates)
    }

    @Test func filesAreCompletedInTheirFolder() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("picture.png", Data())
        _ = try folder.write("place.txt", Data())
        _ = try folder.write(".hidden", Data())
        let start = folder.path("p").string
        #expect(FileCompletion.candidates(start).map { Path($0).lastComponent } == ["picture.png", "place.txt"])
        #expect(LineCompletion(length: 0, candidates: FileCompletion.candidates(start)).common == start)
        #expect(FileCompletion.candidates(folder.path("none").string + "/x") == [])
    }
}

@Suite struct EmojiJoinersTests {
    /// What libedit shows has no scalar without a column; the line that it returns is the one that was typed.
    @Test(arguments: [
        ("hi 👨\u{200D}👩\u{200D}👧 you", "hi 👨👩👧 you"), ("❤\u{FE0F} a❤\u{FE0F}", "❤ a❤"),
        ("1\u{FE0F}\u{20E3} 1", "1\u{FE0F}\u{20E3} 1"),
        ("🏴\u{E0067}\u{E0062}\u{E007F}", "🏴"), ("plain\r\n\t", "plain\r\n\t"), ("é e\u{301} नमस्ते", "é e\u{301} नमस्ते"),
        ("👩🏽\u{200D}🚒 und 👩\u{200D}🚒", "👩🏽🚒 und 👩🚒"), ("\u{200D}", "\u{200D}"), ("", ""),
    ])
    func joinersComeBack(typed: String, shown: String) {
        var joiners = EmojiJoiners()
        let visible = joiners.shown(typed)
        #expect(Array(visible.unicodeScalars) == Array(shown.unicodeScalars))
        #expect(Array(joiners.restored(visible).unicodeScalars) == Array(typed.unicodeScalars))
    }

    /// Half of an emoji that was deleted stays half.
    @Test func aCutEmojiStaysCut() {
        var joiners = EmojiJoiners()
        _ = joiners.shown("👨\u{200D}👩\u{200D}👧")
        #expect(joiners.restored("👨👩") == "👨👩")
    }
}
