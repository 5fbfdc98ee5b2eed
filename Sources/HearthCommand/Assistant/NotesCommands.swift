import Foundation
import HearthAssistant
import HearthBase

private struct NoteEntry: Encodable {
    let id: String
    let title: String
    let created: String
    let changed: String
    var body: String?

    init(_ note: Note, withBody: Bool) {
        (id, title) = (note.id, note.title)
        (created, changed) = (RecordText.json(note.created), RecordText.json(note.changed))
        body = withBody ? note.body : nil
    }
}

extension AssistantHome {
    fileprivate func note(_ word: String) async throws -> Note {
        if let exact = try await notes.note(word) { return exact }
        return try RecordText.only(
            word, among: try await notes.notes(limit: 100_000), id: \.id, kind: "note", listing: "hearth notes list")
    }
}

/// `hearth notes list`
struct NotesList: Command {
    private static let words = Argument(
        "WORDS", .word, arity: .optional, "Only notes with these words, the best first.")

    static let declaration = CommandDeclaration(
        "notes", "list", summary: "List notes, or find words in them",
        discussion: [
            "Words match whole words, or beginnings from three letters on, without regard to accents and case.",
            "With --format json, an array of objects with id, title, created and changed.",
        ],
        arguments: [words], options: [Option.limit, Option.listing],
        examples: [
            .init("hearth notes list", "All notes, those changed last first."),
            .init("hearth notes list recipe", "Notes about recipes."),
        ])

    let words: String?
    let limit: Int
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        words = try values.optional(Self.words)
        limit = try values.value(.limit) ?? 100
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let notes =
                if let words {
                    try await home.notes.notes(matching: words, limit: limit)
                } else {
                    try await home.notes.notes(limit: limit)
                }
            let ids = notes.map(\.id)
            let entries = notes.map { NoteEntry($0, withBody: false) }
            try context.list(entries, format, empty: words == nil ? "There are no notes." : "Nothing is found.") {
                var table = Table(("ID", .left), ("CHANGED", .left), ("TITLE", .left))
                for note in notes {
                    table.add(RecordText.short(note.id, among: ids), RecordText().moment(note.changed), note.title)
                }
                return table
            }
        }
    }
}

/// `hearth notes show`
struct NotesShow: Command {
    static let declaration = CommandDeclaration(
        "notes", "show", summary: "Show a note",
        discussion: ["At a terminal, Markdown is painted; elsewhere the note's text is printed as it is."],
        arguments: [Argument.recordID], options: [Option.listing],
        examples: [.init("hearth notes show 3f2a91c0", "Read a note.")])

    let id: String
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        id = try values.value(Argument.recordID)
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let note = try await home.note(id)
            switch format {
            case .json: try context.console.print(JSONText.pretty(NoteEntry(note, withBody: true)))
            case .table:
                let heading = note.title.isEmpty ? "" : "# \(TerminalText.singleLine(note.title))\n\n"
                try context.console.printMarkdown(heading + note.body + "\n", context.environment)
            }
        }
    }
}

/// `hearth notes add`
struct NotesAdd: Command {
    private static let title = Argument("TITLE", .word, "The title.")
    private static let body = Option("body", "TEXT", .text, default: "the standard input", "The text, Markdown.")

    static let declaration = CommandDeclaration(
        "notes", "add", summary: "Write a note",
        discussion: [
            "Without --body, the text is read from the standard input; at a terminal the note has a title alone."
        ],
        arguments: [title], options: [body, Option.listing],
        examples: [
            .init("hearth notes add Shopping --body \"bread, milk\"", "A short note."),
            .init("hearth notes add Minutes < minutes.md", "The text of a file."),
        ])

    let title: String
    let body: String?
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        title = try values.value(Self.title)
        body = try values.value(Self.body)
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        var body = body ?? ""
        if self.body == nil, !context.input.isTerminal { body = try await context.input.all(limit: 4 << 20) }
        let text = body
        try await context.withAssistantHome { home in
            let card = ActionCard(commanded: "New note", .note, title)
            let change = try await home.notes.creation(title: title, body: text, id: card.id, at: home.time.now)
            try await home.carryOut(card, [change])
            try context.report(card.id, "The note is kept", format)
        }
    }
}

/// `hearth notes remove`
struct NotesRemove: Command {
    static let declaration = CommandDeclaration(
        "notes", "remove", summary: "Remove a note",
        arguments: [Argument.recordID], examples: [.init("hearth notes remove 3f2a91c0", "Remove a note.")])

    let id: String

    init(_ values: ParsedArguments) throws { id = try values.value(Argument.recordID) }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let note = try await home.note(id)
            try await home.carryOut(
                ActionCard(commanded: "Remove a note", .note, note.title), [home.notes.removal(of: note.id)])
            context.console.say("Removed \"\(note.title.shownOnTerminal)\". `hearth undo` brings it back.")
        }
    }
}

/// `hearth notes export`
struct NotesExport: Command {
    private static let folder = Argument("FOLDER", .word, "The folder, which is created if it is missing.")

    static let declaration = CommandDeclaration(
        "notes", "export", summary: "Write all notes as Markdown files",
        discussion: [
            "Each file begins with lines for the id, the title and the dates, so that importing it again finds the same note. "
                + "A file of the same name is replaced."
        ],
        arguments: [folder], examples: [.init("hearth notes export notes", "Take the notes elsewhere.")])

    let folder: String

    init(_ values: ParsedArguments) throws { folder = try values.value(Self.folder) }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let path = Path(folder).absolute
            let names = try await NoteFolder.write(try await home.notes.notes(limit: 1_000_000), to: path)
            context.console.say("\(names.count) \(names.count == 1 ? "note is" : "notes are") in \(path).")
        }
    }
}

/// `hearth notes import`
struct NotesImport: Command {
    private static let folder = Argument("FOLDER", .word, "The folder with the .md files, and folders in it.")

    static let declaration = CommandDeclaration(
        "notes", "import", summary: "Read notes from Markdown files",
        discussion: [
            "A file that was exported replaces its note if the file is newer. Other files become notes whose title is their first "
                + "heading, or their name."
        ],
        arguments: [folder], examples: [.init("hearth notes import notes", "Read a folder of Markdown files.")])

    let folder: String

    init(_ values: ParsedArguments) throws { folder = try values.value(Self.folder) }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let (notes, unreadable) = try await NoteFolder.read(Path(folder).absolute)
            let result = try await home.notes.add(notes)
            for name in unreadable { context.console.complain("\(name.shownOnTerminal) is no text and is left out.") }
            context.console.say("\(result.added) added, \(result.replaced) replaced, \(result.kept) kept as they are.")
        }
    }
}
