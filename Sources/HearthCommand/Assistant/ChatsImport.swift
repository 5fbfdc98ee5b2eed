import Foundation
import HearthAssistant
import HearthBase

/// `hearth chats import`
struct ChatsImport: Command {
    @Argument("FILE", .word, "An export of Hearth, of ChatGPT (the ZIP file) or of Open WebUI.") var file: String
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "chats", "import", summary: "Add the conversations of an export",
        """
        Branches, dates and titles are kept. A conversation that is here already gets only the messages that are missing,
        so a second import changes nothing. Each conversation is added whole or not at all; the refused ones are listed.
        A file has at most 200 MiB.

        With --format json, an object with imported, updated, skipped, refused, refusals and changed.

        hearth chats import chatgpt-export.zip  # Bring the conversations of ChatGPT along.
        """)

    func run(in context: CommandContext) async throws {
        let path = Path(file).absolute
        let name = "hearth-\(UUID().uuidString)"
        let scratch = Path(FileManager.default.temporaryDirectory.path).joined(name)
        try await context.withAssistantHome { home in
            try await blocking { try LocalFileSystem().makeFolders(scratch, permissions: 0o700) }
            let result: Result<ConversationImport.Report, any Error>
            do {
                let work = ConversationImport(into: home.conversations, now: home.time.now)
                result = .success(try await work.run(path, scratch: scratch))
            } catch {
                result = .failure(error)
            }
            try await blocking { try LocalFileSystem().removeTree(scratch) }
            try report(try result.get(), context)
        }
    }

    private func report(_ report: ConversationImport.Report, _ context: CommandContext) throws {
        for refusal in report.refusals {
            context.console.complain("number \(refusal.number) is refused (\(refusal.code)): \(refusal.message)")
        }
        switch format {
        case .json: try context.console.print(JSON.text(report))
        case .table:
            context.console.say(
                "\(report.imported) imported, \(report.updated) updated, \(report.skipped) known already, "
                    + "\(report.refused) refused.")
        }
    }
}

extension CommandContext {
    /// Writes all conversations to a new file, or to the standard output.
    func exportAll(_ home: AssistantHome, to name: String?) async throws {
        let archive = ConversationArchive(home.conversations)
        guard let name else {
            return try await archive.write { try console.write(String(decoding: $0, as: UTF8.self)) }
        }
        let path = Path(name).absolute
        // An export never replaces a file.
        let file = try await blocking { try LocalFileSystem().open(path, .createNew, permissions: 0o600) }
        var offset: UInt64 = 0
        try await archive.write { piece in
            let place = offset
            try await blocking { try piece.withUnsafeBytes { try LocalFileSystem().write(file, $0, at: place) } }
            offset += UInt64(piece.count)
        }
        try await blocking { try LocalFileSystem().synchronize(file) }
        console.say("Written to \(path).")
    }
}
