import Foundation
import HearthAssistant
import HearthBase

private struct ContactEntry: Encodable {
    struct Entry: Encodable {
        let label: String
        let value: String

        init(_ entry: Contact.Entry) { (label, value) = (entry.label, entry.value) }
    }

    let id: String
    let book: String
    let name: String
    let nicknames: [String]
    let numbers: [Entry]
    let mails: [Entry]
    let organization: String
    let note: String

    init(_ contact: Contact) {
        (id, book, name, nicknames) = (contact.id, contact.collection, contact.name, contact.nicknames)
        (numbers, mails) = (contact.numbers.map(Entry.init), contact.mails.map(Entry.init))
        (organization, note) = (contact.organization, contact.note)
    }
}

/// `hearth contacts list`
struct ContactsList: Command {
    private static let words = Argument(
        "WORDS", .word, arity: .optional, "Only contacts whose name, nickname, number or mail address has these words.")

    static let declaration = CommandDeclaration(
        "contacts", "list", summary: "List contacts, or find some",
        discussion: [
            "With --format json, an array of objects with id, book, name, nicknames, numbers and mails (with label and value), "
                + "organization and note."
        ],
        arguments: [words], options: [Option.limit, Option.listing],
        examples: [.init("hearth contacts list anna", "People named Anna.")])

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
            let found = try await home.contacts.contacts(matching: words ?? "", limit: limit)
            for file in try await home.contacts.unreadableFiles() {
                context.console.complain("not read: \(TerminalText.singleLine(file))")
            }
            let ids = found.map(\.id)
            try context.list(
                found.map(ContactEntry.init), format,
                empty: words == nil ? "There are no contacts." : "No contact is found."
            ) {
                var table = Table(("ID", .left), ("NAME", .left), ("NUMBER", .left), ("MAIL", .left))
                for contact in found {
                    table.add(
                        RecordText.short(contact.id, among: ids), contact.name, contact.numbers.first?.value ?? "",
                        contact.mails.first?.value ?? "")
                }
                return table
            }
        }
    }
}

/// `hearth contacts show`
struct ContactsShow: Command {
    static let declaration = CommandDeclaration(
        "contacts", "show", summary: "Show a contact", arguments: [Argument.recordID], options: [Option.listing],
        examples: [.init("hearth contacts show 3f2a91c0", "All values of a contact.")])

    let id: String
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        id = try values.value(Argument.recordID)
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let all = try await home.contacts.contacts(matching: "", limit: 1_000_000)
            let contact = try RecordText.only(
                id, among: all, id: \.id, kind: "contact", listing: "hearth contacts list")
            func text(_ entries: [Contact.Entry]) -> String {
                entries.map { $0.label.isEmpty ? $0.value : "\($0.value) (\($0.label))" }.joined(separator: ", ")
            }
            try context.show(
                ContactEntry(contact), format,
                [
                    ("name", contact.name), ("nicknames", contact.nicknames.joined(separator: ", ")),
                    ("numbers", text(contact.numbers)), ("mail", text(contact.mails)),
                    ("organization", contact.organization), ("note", contact.note), ("book", contact.collection),
                    ("id", contact.id),
                ])
        }
    }
}

/// `hearth contacts add`
struct ContactsAdd: Command {
    private static let name = Argument("NAME", .word, "The full name.")
    private static let number = Option("number", "NUMBER", .word, isRepeatable: true, "A phone number.")
    private static let mail = Option("mail", "ADDRESS", .word, isRepeatable: true, "A mail address.")
    private static let nickname = Option("nickname", "NAME", .word, "A nickname.")

    static let declaration = CommandDeclaration(
        "contacts", "add", summary: "Add a contact",
        discussion: ["It is a vCard that khard and other programs read and change."], arguments: [name],
        options: [number, mail, nickname, Option.listing],
        examples: [.init("hearth contacts add \"Anna Smith\" --number 0123456", "A contact with a number.")])

    let name: String
    let numbers: [String]
    let mails: [String]
    let nickname: String?
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        name = try values.value(Self.name)
        numbers = try values.values(Self.number)
        mails = try values.values(Self.mail)
        nickname = try values.value(Self.nickname)
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let card = ActionCard(commanded: "New contact", .contactsSearch, name)
            let changes = try await home.contacts.importing(Data(vCard(id: card.id).utf8))
            try await home.carryOut(card, changes)
            try context.report(card.id, "The contact is kept", format)
        }
    }

    /// The contact as a vCard 3.0, which every address book reads.
    private func vCard(id: String) -> String {
        let words = name.split(separator: " ")
        let family = words.count > 1 ? String(words.last ?? "") : ""
        let given = words.count > 1 ? words.dropLast().joined(separator: " ") : name
        var lines = ["BEGIN:VCARD", "VERSION:3.0", "UID:\(id)", "FN:\(ContentText.escaped(name))"]
        lines.append("N:\(ContentText.escaped(family));\(ContentText.escaped(given));;;")
        if let nickname { lines.append("NICKNAME:\(ContentText.escaped(nickname))") }
        lines += numbers.map { "TEL;TYPE=CELL:\(ContentText.escaped($0))" }
        lines += mails.map { "EMAIL;TYPE=INTERNET:\(ContentText.escaped($0))" }
        return (lines + ["END:VCARD", ""]).joined(separator: "\r\n")
    }
}

/// `hearth contacts export`
struct ContactsExport: Command {
    static let declaration = CommandDeclaration(
        "contacts", "export", summary: "Write all contacts as one file of vCards", options: [Option.exportFile],
        examples: [.init("hearth contacts export --to people.vcf", "Take the contacts elsewhere.")])

    let file: String?

    init(_ values: ParsedArguments) throws { file = try values.value(.exportFile) }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            try await context.export(home.contacts.exported(), to: file)
        }
    }
}

/// `hearth contacts import`
struct ContactsImport: Command {
    static let declaration = CommandDeclaration(
        "contacts", "import", summary: "Add the contacts of a file of vCards",
        discussion: ["Cards of versions 3 and 4 keep their lines as they are. One with a known UID is replaced."],
        arguments: [Argument.importFile], options: [Option.listing],
        examples: [.init("hearth contacts import people.vcf", "Add the contacts of a phone's export.")])

    let file: String
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        file = try values.value(Argument.importFile)
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        let data = try await context.importedFile(file)
        try await context.withAssistantHome { home in
            let changes = try await home.contacts.importing(data)
            try await home.importRecords(changes, .contactsSearch, "contact", format, context)
        }
    }
}
