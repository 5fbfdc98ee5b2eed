import Foundation
import HearthBase
import Testing

@testable import HearthCommand

@Suite struct HelpTests {
    private static let golden = Path(#filePath).parent.appending("Golden")
    static let pages: [String] =
        ["hearth"] + HearthCommand.table.groups.map(\.name)
        + HearthCommand.table.commands.map { $0.declaration.path.joined(separator: "-") }

    /// The words that ask for a page.
    private func words(_ page: String) -> [String] {
        page == "hearth" ? ["--help"] : page.split(separator: "-").map(String.init) + ["--help"]
    }

    /// Compares each page with its golden file; `HEARTH_RECORD=1 swift test` writes them anew.
    @Test(arguments: pages)
    func everyPageIsAsRecorded(page: String) async throws {
        guard case .help(let text) = try HearthCommand.table.invocation(of: words(page)) else {
            Issue.record("no help for \(page)")
            return
        }
        let path = Path(Self.golden.string + "/\(page).txt")
        if ProcessInfo.processInfo.environment["HEARTH_RECORD"] == "1" {
            try LocalFileSystem().replaceContents(of: path, with: Data(text.utf8))
        }
        let recorded = String(decoding: try Data(contentsOf: path.url), as: UTF8.self)
        #expect(text == recorded)
    }

    @Test func noGoldenFileIsLeftOver() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.golden.string)
        #expect(Set(files) == Set(Self.pages.map { "\($0).txt" }))
    }

    @Test(arguments: HearthCommand.table.commands.map { $0.declaration.path })
    func everyCommandHasAnExampleThatParses(path: [String]) throws {
        let declaration = try #require(HearthCommand.table.commands.map { $0.declaration }.first { $0.path == path })
        #expect(!declaration.examples.isEmpty)
        for example in declaration.examples {
            #expect(example.line.contains("hearth \(path.joined(separator: " "))"))
            // The shell's own syntax is not the parser's.
            guard !example.line.contains(where: { "\"|<>".contains($0) }) else { continue }
            let words = example.line.split(separator: " ").map(String.init).drop { $0 != "hearth" }.dropFirst()
            guard case .run = try HearthCommand.table.invocation(of: Array(words)) else {
                Issue.record("\(example.line) is no command")
                continue
            }
        }
    }

    @Test(arguments: pages)
    func noLineIsWiderThanATerminal(page: String) throws {
        guard case .help(let text) = try HearthCommand.table.invocation(of: words(page)) else { return }
        for line in text.split(separator: "\n") where !line.hasPrefix("  hearth ") {
            #expect(line.count <= 80, "\(line)")
        }
    }

    @Test func helpForACommandReadsTheSameBothWays() throws {
        guard case .help(let one) = try HearthCommand.table.invocation(of: ["help", "config", "set"]),
            case .help(let other) = try HearthCommand.table.invocation(of: ["config", "set", "-h"])
        else {
            Issue.record("no help")
            return
        }
        #expect(one == other)
    }
}
