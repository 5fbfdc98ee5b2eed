import Hearth
import HearthAssistant
import HearthBase

/// `hearth calendar problems`, and of the other nouns whose records other programs write
struct RecordProblems<Noun: RecordNoun>: Command {
    @Option(.listing) var format: ListingFormat

    static var declaration: CommandDeclaration {
        CommandDeclaration(
            Noun.name, "problems", summary: "List \(Noun.noun)s that cannot be read as written",
            """
            Files that cannot be read, \(Noun.noun)s that an import has kept because they cannot be read, and those that
            Hearth shows otherwise than the program that wrote them. The bytes of all of them are kept, and exported. To
            read one, correct its file and import it.

            With --format json, an array of objects with code, id, title, reason and file, which is in Hearth's home.

            hearth \(Noun.name) problems  # What is wrong with which \(Noun.noun).
            """)
    }

    func run(in context: CommandContext) async throws {
        try await context.withRecords { records in
            let problems = try await Noun.book(records).problems()
            try context.console.list(
                problems, format, json: JSON.pretty(problems), empty: "There are no problems.",
                [
                    .left("TITLE") { $0.title.isEmpty ? $0.id : $0.title },
                    .left("PROBLEM") { $0.reason }, .left("FILE") { $0.file ?? "" },
                ])
        }
    }
}
