import Foundation
import HearthAssistant
import HearthBase

/// `hearth notes list`, and of the other nouns
struct RecordList<Noun: RecordNoun>: Command {
    let choice = Noun.Choice()
    @Option(.limit) var limit: Int
    @Option(.listing) var format: ListingFormat

    static var declaration: CommandDeclaration {
        CommandDeclaration(
            Noun.name, "list", summary: Noun.help.list,
            """
            \(Noun.help.listing)

            With --format json, an array of objects with \(Noun.help.members).

            \(Noun.help.listExamples)
            """)
    }

    func run(in context: CommandContext) async throws {
        try await context.withRecords { records in
            let found = try await Noun.chosen(choice, limit: limit, records)
            try await context.complain(about: Noun.self, records)
            let (ids, now) = (found.map(\.id), records.time.now)
            try context.console.list(
                found, format, json: JSON.pretty(found.map { Noun.listed($0, now: now) }), empty: Noun.empty(choice),
                Noun.columns(id: { RecordText.short($0.id, among: ids) }, now: now))
        }
    }
}

/// `hearth notes show`, and of the other nouns
struct RecordShow<Noun: RecordNoun>: Command {
    @Argument(Noun.id) var id: String
    @Option(.listing) var format: ListingFormat

    static var declaration: CommandDeclaration {
        CommandDeclaration(
            Noun.name, "show", summary: "Show \(Noun.one)",
            "hearth \(Noun.name) show \(Noun.help.example)  # All values of \(Noun.one).")
    }

    func run(in context: CommandContext) async throws {
        try await context.withRecords { records in
            let (record, now) = (try await Noun.find(id, records), records.time.now)
            if format == .table, let text = Noun.markdown(record) {
                return try context.console.printMarkdown(text)
            }
            try context.show(Noun.listed(record, now: now), format, Noun.facts(record, now: now))
        }
    }
}

/// `hearth notes add`, and of the other nouns
struct RecordAdd<Noun: RecordNoun>: Command {
    @Argument(Noun.title.name, .word, Noun.title.meaning) var title: String
    let values = Noun.Values()
    @Option(.listing) var format: ListingFormat

    static var declaration: CommandDeclaration {
        CommandDeclaration(
            Noun.name, "add", summary: "\(Noun.help.verb) \(Noun.one)",
            requiredOptions: Noun.help.requiredOptions,
            "\(Noun.help.adding)\n\n\(Noun.help.addExamples)")
    }

    func run(in context: CommandContext) async throws {
        var record = Noun.Record.empty
        Noun.setTitle(title, of: &record)
        try await values.apply(to: &record, isNew: true, in: context)
        let new = record
        try await context.withRecords { records in
            try context.report(try await Noun.book(records).add(new), "The \(Noun.noun) is added", format)
        }
    }
}

/// `hearth notes edit`, and of the other nouns
struct RecordEditCommand<Noun: RecordNoun>: Command {
    @Argument(Noun.id) var id: String
    @Option(Noun.title.name.lowercased(), "TEXT", .word, "Another \(Noun.title.name.lowercased()).") var title: String?
    let values = Noun.Values()
    @Option(.listing) var format: ListingFormat

    static var declaration: CommandDeclaration {
        CommandDeclaration(
            Noun.name, "edit", summary: "Change \(Noun.one)",
            """
            What is not named stays as it is. \(Noun.help.editing)

            hearth \(Noun.name) edit \(Noun.help.example) \(Noun.help.change)  # Another value of \(Noun.one).
            """)
    }

    func run(in context: CommandContext) async throws {
        try await context.withRecords { records in
            let present = try await Noun.find(id, records)
            var record = present
            if let title { Noun.setTitle(title, of: &record) }
            try await values.apply(to: &record, isNew: false, in: context)
            if record == present, let edited = try await Noun.edited(record, in: context) { record = edited }
            guard record != present else {
                throw UsageError(
                    "nothing is changed: no option names another value", hint: Self.declaration.hint())
            }
            let changed = record
            let edit = try await Noun.book(records).change(record.id) { $0 = changed }
            try context.report(edit, "The \(Noun.noun) is changed", format)
        }
    }
}

/// `hearth notes remove`, and of the other nouns
struct RecordRemove<Noun: RecordNoun>: Command {
    @Argument(Noun.id) var id: String
    @Option(.listing) var format: ListingFormat

    static var declaration: CommandDeclaration {
        CommandDeclaration(
            Noun.name, "remove", summary: "Remove \(Noun.one)", isDestructive: true,
            """
            `hearth undo` brings it back.

            hearth \(Noun.name) remove \(Noun.help.example)  # Remove \(Noun.one).
            """)
    }

    func run(in context: CommandContext) async throws {
        try await context.withRecords { records in
            let record = try await Noun.find(id, records)
            let edit = try await Noun.book(records).remove(record.id)
            try context.report(edit, "\(record.displayName.shownOnTerminal.quoted) is removed", format)
        }
    }
}

/// `hearth calendar export`, and of other nouns
struct RecordExport<Noun: RecordNoun>: Command {
    let form = Noun.Form()
    @Option(.exportFile) var file: String?

    static var declaration: CommandDeclaration {
        CommandDeclaration(
            Noun.name, "export", summary: "Write all \(Noun.noun)s as \(Noun.help.file)",
            "hearth \(Noun.name) export --to \(Noun.help.fileName)  # Take the \(Noun.noun)s elsewhere.")
    }

    func run(in context: CommandContext) async throws {
        try await context.withRecords { records in
            try await context.complain(about: Noun.self, records)
            try await context.export(Noun.exported(form, records), to: file)
        }
    }
}

/// `hearth calendar import`, and of other nouns
struct RecordImportCommand<Noun: RecordNoun>: Command {
    @Argument(.importFile) var file: String
    @Option(.listing) var format: ListingFormat

    static var declaration: CommandDeclaration {
        CommandDeclaration(
            Noun.name, "import", summary: "Add the \(Noun.noun)s of \(Noun.help.file)",
            """
            \(Noun.help.importing)

            With --format json, an object with added, changed, skipped and unreadable, which add up to the records of the
            file, with other, problems and action.

            hearth \(Noun.name) import \(Noun.help.fileName)  # Add the \(Noun.noun)s of a file.
            """)
    }

    func run(in context: CommandContext) async throws {
        let data = try await context.importedFile(file)
        try await context.withRecords { records in
            let outcome = try await Noun.book(records).import(data)
            try ImportReport(outcome, noun: Noun.name, file: file).print(to: context.console, format)
        }
    }
}
