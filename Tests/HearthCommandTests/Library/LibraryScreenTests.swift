import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthCommand

/// What `hearth models` draws, without a terminal.
@Suite struct LibraryScreenTests {
    private static func screen(_ rows: [LibraryRow], selected index: Int = 0) -> LibraryScreen {
        LibraryScreen(rows: rows, selection: rows.isEmpty ? nil : rows[index].id)
    }

    private static let library = [
        Rows.here("ada"), Rows.offered("bob", .download, .reading(.progress(0.42)), .reading(Rows.reading())),
        Rows.offered("cyd"),
    ]

    @Test func aWindowShowsEverything() {
        #expect(
            Self.screen(Self.library, selected: 1).lines(ScreenSize(columns: 100, lines: 12)) == [
                "AI Model: 3 models, 1 on this device (* default)",
                "     NAME     SIZE      MEMORY  BADGES  STATE",
                "     ada   98.4 MB  1.2 GB RAM          downloaded",
                ">    bob   98.4 MB  1.2 GB RAM          downloading 42%, 2.0 MB/s, 29 s left",
                "     cyd   98.4 MB  1.2 GB RAM          not downloaded",
                "",
                "bob@1.0.0:q4_1",
                "Downloading: 42.0 MB of 100.0 MB",
                "↑↓ choose  c Cancel download  r refresh  q leave",
            ])
    }

    @Test(arguments: [
        (100, "BADGES"), (65, "MEMORY"), (58, "SIZE"), (40, "NAME"), (20, "STATE"),
    ])
    func aNarrowWindowKeepsTheStateAndDropsFigures(columns: Int, last: String) {
        let lines = Self.screen(Self.library).lines(ScreenSize(columns: columns, lines: 12))
        let titles = lines[1].split(separator: " ")
        #expect(titles.last == "STATE")
        #expect(titles.dropLast().last.map(String.init) ?? "" == (last == "STATE" ? "NAME" : last), "\(lines[1])")
    }

    /// Columns do not come and go while a download tells how far it is.
    @Test(arguments: 20...120)
    func theColumnsFollowFromTheWindowAlone(columns: Int) {
        let size = ScreenSize(columns: columns, lines: 12)
        let headers = [
            Rows.offered("bob"), Self.library[1], Rows.offered("bob", .download, .failed(Rows.lost)),
        ].map { Self.screen([Self.library[0], $0]).lines(size)[1] }
        #expect(Set(headers).count == 1, "\(headers)")
    }

    @Test(arguments: [
        ("not here", Rows.offered("ada"), "↑↓ choose  Enter Download Model  r refresh  q leave"),
        ("on its way", Rows.offered("ada", .download), "↑↓ choose  c Cancel download  r refresh  q leave"),
        ("here", Rows.here("ada"), "↑↓ choose  Enter make default  x delete  r refresh  q leave"),
        (
            "a release before", Rows.updated("ada"),
            "↑↓ choose  Enter make default  b roll back to 1.0.0  x delete  r refresh  q leave"
        ),
        (
            "an update", Rows.updatable("ada"),
            "↑↓ choose  Enter make default  u update  x delete  r refresh  q leave"
        ),
        (
            "failed", Rows.offered("ada", .download, .failed(Rows.lost)),
            "↑↓ choose  Enter Download Model  c Cancel download  r refresh  q leave"
        ),
    ])
    func theLastLineSaysWhatKeysDo(name: String, row: LibraryRow, keys: String) {
        #expect(Self.screen([row]).lines(ScreenSize(columns: 100, lines: 24)).last == keys)
    }

    @Test func theDefaultIsMarkedAndTheReasonOfTheChosenRowIsWhole() {
        let (ada, bob) = (Rows.model("ada", summary: "short\npoems"), Rows.model("bob"))
        let rows = Rows.library(
            [LocalModel(ada)],
            [OfferedModel(ada), OfferedModel(bob, objection: .notEnoughMemory(needed: 9_000_000_000))], default: "ada")
        let size = ScreenSize(columns: 100, lines: 24)
        let first = Self.screen(rows).lines(size)
        #expect(first[2].hasPrefix("> *  ada "))
        #expect(first[2].contains("Active"))
        #expect(first.contains("ada@1.0.0:q4_1: short poems"))
        #expect(first.last == "↑↓ choose  x delete  r refresh  q leave", "it is the default already")
        let second = Self.screen(rows, selected: 1).lines(size)
        #expect(second.contains { $0.contains("incompatible: needs 9.0 GB of memory") })
        #expect(second.contains("This model requires 9 GB RAM. Your device may not support it."))
        #expect(second.last == "↑↓ choose  r refresh  q leave")
    }

    @Test func whatThisDeviceCannotRunIsDimmed() {
        let objection = Ineligibility.notEnoughMemory(needed: 9_000_000_000)
        let rows = ["ada", "bob", "cyd", "dan"].enumerated().map { number, name in
            Rows.row(
                Rows.model(name), .offered(OfferedModel(Rows.model(name), objection: number % 2 == 1 ? objection : nil))
            )
        }
        for lines in 1...12 {
            let drawn = Self.screen(rows, selected: 3).drawn(ScreenSize(columns: 100, lines: lines))
            let wanted = drawn.lines.indices.filter { drawn.lines[$0].contains("incompatible: ") }
            #expect(drawn.dimmed == Set(wanted), "\(lines): \(drawn)")
            if lines > 1 { #expect(!wanted.isEmpty) }
        }
    }

    @Test func noticesAndQuestionsAreShown() {
        var screen = Self.screen(Self.library)
        screen.isRefreshing = true
        screen.notices = ["main: it does not answer. Using the list cached on 2026-11-20T08:00:00Z."]
        screen.prompt = "Delete ada from this device? [y/N]"
        let lines = screen.lines(ScreenSize(columns: 100, lines: 24))
        #expect(lines.first == "AI Model: 3 models, 1 on this device (* default); asking the origins")
        #expect(lines.dropLast().last == screen.notices[0])
        #expect(lines.last == screen.prompt)
        // A long one has its whole sentence.
        screen.notices = ["main: " + String(repeating: "it does not answer ", count: 8) + "and has to do."]
        let narrow = screen.lines(ScreenSize(columns: 80, lines: 24))
        #expect(narrow.dropLast().suffix(3).joined(separator: " ") == screen.notices[0])
        screen.notices = ["main: it does not answer."]
        // In a low window what concerns the whole list is kept longest.
        #expect(screen.lines(ScreenSize(columns: 100, lines: 5)).contains(screen.notices[0]))
    }

    @Test func anEmptyLibrarySaysSo() {
        let size = ScreenSize(columns: 60, lines: 10)
        #expect(LibraryScreen().lines(size).first == "No model is here, and none is on offer.")
        #expect(LibraryScreen(isRefreshing: true).lines(size).first == "Asking the origins")
        #expect(LibraryScreen().lines(size).last == "r refresh  q leave")
    }

    /// Whatever is chosen is seen, a page at a time.
    @Test(arguments: TestExtent.isFull ? Array(1...30) : [1, 2, 3, 7, 30])
    func theChosenRowIsAlwaysThere(lines: Int) {
        let rows = (0..<40).map { Rows.offered("model-\($0 + 10)") }
        for index in rows.indices {
            let shown = Self.screen(rows, selected: index).lines(ScreenSize(columns: 80, lines: lines))
            #expect(shown.count <= lines)
            if lines > 1 { #expect(shown.contains { $0.hasPrefix(">") && $0.contains("model-\(index + 10)") }) }
        }
    }

    /// Names as a hostile catalog has them.
    static let names = [
        "\u{1B}]0;owned\u{7}\u{1B}[2J\u{1B}[31mred", "a\r\nb\u{8}\u{9B}31m", "\u{202E}txet desrever\u{2066}",
        String(repeating: "日本👩‍👩‍👧", count: 200), "a" + String(repeating: "\u{301}", count: 400), "مرحبا بالعالم",
        "\u{2028}x\u{2029}", "", String(repeating: "⭐🇩🇪✅", count: 60), "⚡ ❤️ 1️⃣ ⌛ 〈〉 Ａ",
    ]

    @Test(arguments: names)
    func noNameDrivesTheTerminalOrLeavesItsLine(name: String) {
        let model = Rows.model("ada", displayName: name, summary: name)
        let failure = FailureBody(code: "x", message: name)
        let row = Rows.row(model, .offered(OfferedModel(model)), .download, .failed(failure))
        var screen = Self.screen([row, Rows.here("bob")])
        screen.notices = [name]
        for prompt in [nil, name] {
            screen.prompt = prompt
            for columns in [0, 1, 2, 3, 8, 20, 40, 80, 200] {
                for height in [0, 1, 2, 3, 5, 8, 24] {
                    let lines = screen.lines(ScreenSize(columns: columns, lines: height))
                    #expect(lines.count <= height)
                    for line in lines {
                        #expect(VirtualScreen.cells(of: line) <= max(0, columns - 1), "\(line)")
                        #expect(
                            line.unicodeScalars.allSatisfy {
                                $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) && $0.value != 0x202E
                                    && $0.value != 0x2028
                            })
                    }
                }
            }
        }
    }
}
