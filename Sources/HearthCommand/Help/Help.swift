import Foundation
import HearthBase
import HearthCatalog

/// `hearth help`
struct Help: Command {
    @Argument(
        "WORD", .word, arity: .any,
        "A command, such as config set, or the code of an error, as messages have it in brackets.")
    var words: [String]
    @Option("man", "FOLDER", .path, "Write the manual pages of all commands into this folder instead.")
    var manuals: Path?

    static let declaration = CommandDeclaration(
        "help", summary: "Explain a command, or the code of an error",
        """
        Without a word, the list of all commands. Of a code, the cause and the cure; a code of several parts of Hearth has
        several.

        hearth help  # All commands.
        hearth help config set  # The page of a command.
        hearth help checksum-mismatch  # Why a command failed, and what to do.
        hearth help --man ./man1  # Write hearth.1 and a page for each command.
        """)

    func run(in context: CommandContext) async throws {
        let table = HearthCommand.table
        if let manuals {
            return try await ManualPages(table, version: HearthCommand.version, date: context.pageDate)
                .write(to: manuals.absolute)
        }
        guard let first = words.first else { return try context.console.write(table.overview) }
        let code = first.trimmingCharacters(in: ["[", "]"])
        if words.count == 1, let page = ErrorPage(code: code)?.text { return try context.console.write(page) }
        do {
            guard case .help(let page) = try table.invocation(of: words.prefix(3) + ["--help"]) else { return }
            try context.console.write(page)
        } catch let error as UsageError where words.count == 1 {
            let codes = NearNames.words(code, among: ErrorPage.codes).map { "`hearth help \($0)`" }
            guard code.contains("-"), !codes.isEmpty else { throw error }
            throw UsageError(
                "there is no command and no code \(first.quotedForTerminal)",
                hint: "Did you mean \(codes.joined(separator: " or "))? Run `hearth --help` for the list.")
        }
    }
}

/// `hearth version`
struct VersionCommand: Command {
    static let declaration = CommandDeclaration(
        "version", summary: "Print the version",
        "hearth version  # The same as `hearth --version`.")

    func run(in context: CommandContext) throws { try context.console.print(HearthCommand.versionLine) }
}

extension HearthCommand {
    static var versionLine: String { "hearth \(version)" }
}

extension CommandContext {
    /// The day on manual pages: today, or that of `SOURCE_DATE_EPOCH`, so that a build can be repeated.
    fileprivate var pageDate: Date {
        environment["SOURCE_DATE_EPOCH"].flatMap(Double.init).map(Date.init(timeIntervalSince1970:)) ?? time.now
    }
}
