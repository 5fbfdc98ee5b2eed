import Foundation
import HearthAssistant
import HearthBase

/// `hearth notes`
enum Notes: RecordNoun {
    typealias Choice = SearchedWords

    struct Values: RecordOptions {
        @Option("body", "TEXT", .text, default: "the standard input", "The text, Markdown.") var body: String?

        func apply(to note: inout Note, isNew: Bool, in context: CommandContext) async throws {
            if let body {
                note.body = body
            } else if isNew, !context.input.isTerminal {
                note.body = try await context.input.all(limit: 4 << 20)
            }
        }
    }

    static let name = "notes"

    static let help = RecordHelp(
        list: "List notes, or find words in them",
        listing: """
            Words match whole words, or beginnings from three letters on, without regard to accents and case.
            """,
        members: "id, title, body, created and changed",
        verb: "Write",
        adding: """
            Without --body, the text is read from the standard input; at a terminal the note has a title alone.
            """,
        file: "Markdown files", fileName: "notes",
        listExamples: """
            hearth notes list  # All notes, those changed last first.
            hearth notes list recipe  # Notes about recipes.
            """,
        addExamples: """
            hearth notes add Shopping --body "bread, milk"  # A short note.
            hearth notes add Minutes < minutes.md  # The text of a file.
            """,
        editing: "At a terminal with VISUAL or EDITOR set, no option at all opens the text in that editor.",
        change: "--title Groceries")

    static func book(_ records: Records) -> RecordBook<Note> { records.notes }
    static func setTitle(_ title: String, of note: inout Note) { note.title = title }

    static func columns(id: @escaping (Note) -> String, now: Date) -> [Column<Note>] {
        [.left("ID", id), .left("CHANGED") { RecordText().moment($0.changed) }, .left("TITLE") { $0.title }]
    }

    static func facts(_ note: Note, now: Date) -> [(String, String?)] { [] }

    static func edited(_ note: Note, in context: CommandContext) async throws -> Note? {
        guard context.hasPerson, let editor = ExternalEditor(environment: context.environment) else { return nil }
        guard let text = try await blocking({ try editor.edited(note.body, suffix: ".md") }) else {
            throw UsageError("the editor failed: nothing is changed")
        }
        var note = note
        note.body = text
        return note
    }

    static func markdown(_ note: Note) -> String? {
        (note.title.isEmpty ? "" : "# \(TerminalText.singleLine(note.title))\n\n") + note.body + "\n"
    }
}

/// `hearth notes export`
struct NotesExport: Command {
    @Argument("FOLDER", .word, "The folder, which is created if it is missing.") var folder: String

    static let declaration = CommandDeclaration(
        "notes", "export", summary: "Write all notes as Markdown files",
        """
        Each file begins with lines for the id, the title and the dates, so that importing it again finds the same note.
        A file of the same name is replaced.

        hearth notes export notes  # Take the notes elsewhere.
        """)

    func run(in context: CommandContext) async throws {
        try await context.withRecords { records in
            let path = Path(folder).absolute
            let names = try await NoteFolder.write(try await records.notes.find(limit: .max), to: path)
            context.console.say("\(names.count) \(names.count == 1 ? "note is" : "notes are") in \(path).")
        }
    }
}

/// `hearth notes import`
struct NotesImport: Command {
    @Argument("FOLDER", .word, "The folder with the .md files, and folders in it.") var folder: String
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "notes", "import", summary: "Read notes from Markdown files",
        """
        A file that was exported replaces its note if the file is newer. Other files become notes whose title is their
        first heading, or their name.

        hearth notes import notes  # Read a folder of Markdown files.
        """)

    func run(in context: CommandContext) async throws {
        try await context.withRecords { records in
            let (notes, unreadable) = try await NoteFolder.read(Path(folder).absolute)
            for name in unreadable { context.console.complain("\(name.shownOnTerminal) is no text and is left out.") }
            let outcome = try await records.notes.import(try RecordJSON.data(notes))
            try ImportReport(outcome, noun: "notes", file: "").print(to: context.console, format)
        }
    }
}
