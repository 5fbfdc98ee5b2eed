import Foundation
import HearthAssistant

/// `hearth contacts`
enum Contacts: RecordNoun {
    typealias Choice = SearchedWords

    struct Values: RecordOptions {
        @Option("number", "NUMBER", .word, isRepeatable: true, "A phone number.") var numbers: [String]
        @Option("mail", "ADDRESS", .word, isRepeatable: true, "A mail address.") var mails: [String]
        @Option("nickname", "NAME", .word, "A nickname.") var nickname: String?
        @Option("organization", "NAME", .text, "The organization; empty for none.") var organization: String?
        @Option("note", "TEXT", .text, "Further text; empty for none.") var note: String?
        @Option("birthday", "DAY", .text, "A day such as 1980-02-29, or --02-29; empty for none.") var birthday: String?
        @Option(
            "without", "VALUE", .word, isRepeatable: true,
            "Take away this number, mail address or nickname.") var removed: [String]

        func apply(to contact: inout Contact, isNew: Bool, in context: CommandContext) async throws {
            for number in numbers where !contact.numbers.contains(where: { $0.value == number }) {
                contact.numbers.append(Contact.Entry(label: "cell", value: number))
            }
            for mail in mails where !contact.mails.contains(where: { $0.value == mail }) {
                contact.mails.append(Contact.Entry(label: "", value: mail))
            }
            contact.organization = organization ?? contact.organization
            contact.note = note ?? contact.note
            if let birthday { contact.birthday = birthday.isEmpty ? nil : birthday }
            for value in removed {
                let before = contact
                contact.numbers.removeAll { $0.value == value }
                contact.mails.removeAll { $0.value == value }
                contact.nicknames.removeAll { $0 == value }
                guard contact != before else {
                    throw UsageError("the contact has no number, mail address or nickname \(value.quotedForTerminal)")
                }
            }
            if let nickname, !contact.nicknames.contains(nickname) { contact.nicknames.append(nickname) }
        }
    }

    static let name = "contacts"
    static let title = (name: "NAME", meaning: "The full name.")

    static let help = RecordHelp(
        list: "List contacts, or find some",
        listing: "Words are looked for in name, nickname, number and mail address.",
        members: "id, book, name, nicknames, numbers and mails (with label and value), organization, note and birthday",
        adding: "It is a vCard that khard and other programs read and change.",
        file: "one file of vCards", fileName: "people.vcf",
        importing: """
            Cards keep their lines as they are; quoted-printable lines and those of other character sets become plain
            UTF-8. One with a known UID is replaced. What cannot be read is kept to the byte, and listed by
            `hearth contacts problems`.
            """,
        listExamples: "hearth contacts list anna  # People named Anna.",
        addExamples: """
            hearth contacts add "Anna Smith" --number 0123456  # A contact with a number.
            """,
        editing: "--number, --mail and --nickname add one; --without takes one away.",
        change: "--mail anna@example.org")

    static func book(_ records: Records) -> RecordBook<Contact> { records.contacts }
    static func setTitle(_ title: String, of contact: inout Contact) { contact.name = title }

    static func columns(id: @escaping (Contact) -> String, now: Date) -> [Column<Contact>] {
        [
            .left("ID", id), .left("NAME") { $0.name }, .left("NUMBER") { $0.numbers.first?.value ?? "" },
            .left("MAIL") { $0.mails.first?.value ?? "" },
        ]
    }

    static func facts(_ contact: Contact, now: Date) -> [(String, String?)] {
        func text(_ entries: [Contact.Entry]) -> String {
            entries.map { $0.label.isEmpty ? $0.value : "\($0.value) (\($0.label))" }.joined(separator: ", ")
        }
        return [
            ("name", contact.name), ("nicknames", contact.nicknames.joined(separator: ", ")),
            ("numbers", text(contact.numbers)), ("mail", text(contact.mails)), ("organization", contact.organization),
            ("birthday", contact.birthday), ("note", contact.note), ("book", contact.collection), ("id", contact.id),
        ]
    }
}
