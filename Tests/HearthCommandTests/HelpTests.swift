import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

@Suite struct HelpTests {
    private static let golden = Path(#filePath).parent.appending("Golden")
    static let pages: [String] =
        ["hearth", "beginning"] + HearthCommand.table.groups.map(\.name)
        + HearthCommand.table.commands.map { $0.declaration.path.joined(separator: "-") }

    /// The words that ask for a page.
    private func words(_ page: String) -> [String] {
        page == "hearth"
            ? ["--help"] : page == "beginning" ? [] : page.split(separator: "-").map(String.init) + ["--help"]
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

    @Test(arguments: [["config", "set"], ["config"], ["ls"], ["gateway", "keys", "create"]])
    func helpForACommandReadsTheSameBothWays(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let (one, other) = (CommandProbe(home: folder.path("a")), CommandProbe(home: folder.path("b")))
        #expect(await one.run(["help"] + words) == 0)
        #expect(await other.run(words + ["-h"]) == 0)
        #expect(one.output.contents == other.output.contents && one.output.contents.count > 100)
    }

    @Test func requiredOptionsStandWithoutBrackets() throws {
        for type in HearthCommand.table.commands {
            let parameters = CommandParameters(of: type.init())
            let page = HelpText.page(type.declaration, parameters)
            for shape in parameters.options.map(\.shape) {
                let isRequired = shape.isRequired || type.declaration.requiredOptions.contains(shape.name)
                let usage = page.components(separatedBy: "\n\n")[1]
                #expect(usage.contains("[\(shape.flag)") != isRequired, "\(type.declaration.commandLine) \(shape.flag)")
            }
            for name in type.declaration.requiredOptions {
                #expect(parameters.options.contains { $0.shape.name == name }, "\(name)")
            }
        }
    }

    @Test func theFirstPageHasElevenLinesOfTheTable() throws {
        let lines = HearthCommand.table.firstLines
        #expect(lines.count == 11)
        for (line, _) in lines {
            let words = line.replacing("\"QUESTION\"", with: "question").replacing("help COMMAND", with: "help pull")
                .replacing("FAMILY", with: "family").split(separator: " ").map(String.init)
            guard case .run = try HearthCommand.table.invocation(of: words) else {
                Issue.record("\(line) is no command")
                continue
            }
        }
    }

    @Test(arguments: ErrorPage.codes) func everyCodeHasAPage(code: String) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("help", code) == 0)
        let lines = probe.output.contents.split(separator: "\n")
        #expect(lines.first.map(String.init) == code)
        let (causes, cures) = (lines.filter { $0.hasPrefix("  Cause  ") }, lines.filter { $0.hasPrefix("  Cure   ") })
        #expect(!causes.isEmpty && causes.count == cures.count)
        let odd = lines.filter { $0.count > 80 || $0.contains("](") }
        #expect(odd.isEmpty)
        #expect(CommandTable.named(code, among: HearthCommand.table.entries, name: \.name) == nil)
    }

    @Test(arguments: [
        (["[checksum-mismatch]"], Int32(0), "Cause"), (["checksum-mismach"], 64, "`hearth help checksum-mismatch`"),
        (["nothing-of-the-kind-at-all"], 64, "hearth --help"), (["config", "sett"], 64, "`hearth config set`"),
        (["\u{1B}[2J"], 64, "hearth --help"),
    ])
    func helpIsForgiving(words: [String], status: Int32, text: String) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run(["help"] + words) == status)
        #expect((probe.output.contents + probe.errors.contents).contains(text))
    }
}
