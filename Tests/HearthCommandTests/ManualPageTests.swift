import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

@Suite struct ManualPageTests {
    private static let pages = ManualPages(
        HearthCommand.table, version: "1.2.3", date: Date(timeIntervalSince1970: 1_700_000_000)
    ).pages

    @Test func everyCommandHasAPage() {
        let names = Set(Self.pages.map(\.name))
        #expect(names == Set(["hearth.1"] + HearthCommand.table.entries.map { "hearth-\($0.name).1" }))
        for (name, text) in Self.pages {
            #expect(text.hasPrefix(".TH \"HEARTH"), "\(name)")
            #expect(text.contains(" 1 2023\\-11\\-14 ") || text.contains(" 1 2023-11-14 "), "\(name)")
            #expect(text.contains(".SH \"NAME\"\n") && text.contains(".SH \"SYNOPSIS\"\n"), "\(name)")
        }
    }

    /// A line is text, or one of the macros that the writer knows; nothing that a text holds becomes a request.
    @Test func everyLineIsTextOrAKnownMacro() {
        let macros = [".TH ", ".SH ", ".SS ", ".PP", ".TP", ".RS 4", ".RE", ".nf", ".fi", ".nh", ".ad l"]
        for (name, text) in Self.pages {
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                let isASCII = line.allSatisfy { $0.isASCII }
                #expect(!line.isEmpty && isASCII && !line.hasPrefix("'"), "\(name): \(line)")
                let isKnown = !line.hasPrefix(".") || macros.contains { line.hasPrefix($0) }
                #expect(isKnown, "\(name): \(line)")
            }
        }
    }

    @Test func hostileTextStaysText() {
        var page = ManualText(title: "x\"\n.so /etc/passwd", date: "2026-01-01", version: "v")
        page.paragraph([.plain(".so /etc/passwd"), .bold("'\\n\u{1B}[2J"), .italic("„ü“")])
        page.example(".example \"quoted\" \\", "'tis")
        for line in page.text.split(separator: "\n") {
            #expect(!line.hasPrefix(".so") && !line.hasPrefix("'") && !line.hasPrefix(".example"), "\(line)")
        }
        #expect(!page.text.contains("\u{1B}") && page.text.contains("\\[u201E]\\[u00FC]\\[u201C]"))
    }

    @Test func theFolderIsMadeAndFilled() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"), environment: ["SOURCE_DATE_EPOCH": "0"])
        #expect(await probe.run("help", "--man", folder.path("share/man1").string) == 0)
        let page = try String(contentsOf: folder.path("share/man1/hearth-chat.1").url, encoding: .utf8)
        #expect(page.contains("1970-01-01") && page.contains("\\fB\\-\\-seed\\fR"))
    }
}
