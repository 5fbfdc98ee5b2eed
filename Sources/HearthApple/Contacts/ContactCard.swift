import Foundation
import HearthAssistant
import HearthBase

/// A contact with the values of the Contacts framework that Hearth uses.
struct ContactCard: Sendable, Hashable {
    /// A labelled value; the label is that of the framework, such as `_$!<Home>!$_`.
    struct Entry: Sendable, Hashable {
        var label: String?
        var value: String
    }

    /// `CNContact.identifier`; empty for a new contact.
    var identifier = ""
    var prefix = ""
    var given = ""
    var middle = ""
    var family = ""
    var suffix = ""
    var nickname = ""
    var organization = ""
    var numbers: [Entry] = []
    var mails: [Entry] = []
    var addresses: [Entry] = []
    /// `nil` if the app may not read notes.
    var note: String?
    /// Without a year for a birthday without one.
    var birthday: DateComponents?

    /// The mark among the addresses.
    var mark: SystemMark? { addresses.lazy.compactMap { SystemMark(Self.address($0.value)) }.first }

    /// Only the addresses of marks are read as such.
    private static func address(_ text: String) -> URL? {
        guard text.hasPrefix(SystemMark.scheme + ":") else { return nil }
        return URLComponents(string: text)?.url
    }
}

extension ContactCard {
    /// The contact as Hearth shows it.
    func record(id: String) -> Contact {
        let nicknames = nickname.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return Contact(
            id: id, name: name, nicknames: nicknames.filter { !$0.isEmpty }, numbers: numbers.map(\.record),
            mails: mails.map(\.record), organization: organization, note: note ?? "", birthday: birthdayText,
            source: mark?.source)
    }

    /// The name; of a contact without one its organization or its first number or address.
    private var name: String {
        let parts = ContactName(prefix: prefix, given: given, middle: middle, family: family, suffix: suffix)
        return [parts.text, nickname, organization, mails.first?.value ?? "", numbers.first?.value ?? ""]
            .first { !$0.isEmpty } ?? ""
    }

    /// The birthday in the Gregorian calendar; `nil` also for a day that does not exist.
    private var birthdayText: String? {
        guard let birthday, let month = birthday.month, let day = birthday.day else { return nil }
        let date = String(format: "%02d-%02d", month, day)
        return Birthday(birthday.year.map { String(format: "%04d-", $0) + date } ?? "--" + date)?.text
    }

    /// The card with the values of a record that differ from those that it shows. What Hearth does not show stays.
    /// - Throws: `unusable-payload`.
    func changed(to record: Contact) throws -> ContactCard {
        var card = self
        let old = self.record(id: record.id)
        if record.name != old.name {
            let parts = ContactName(record.name)
            (card.prefix, card.given, card.middle) = ("", parts.given, "")
            (card.family, card.suffix) = (parts.family, "")
        }
        if record.nicknames != old.nicknames { card.nickname = record.nicknames.joined(separator: ", ") }
        if record.organization != old.organization { card.organization = record.organization }
        if record.note != old.note {
            guard note != nil else {
                throw AssistantError.unusable("note", "this app may not write the notes of contacts")
            }
            card.note = record.note
        }
        if record.birthday != old.birthday { card.birthday = try Self.components(record.birthday) }
        card.numbers = Self.entries(record.numbers, over: numbers, isNumber: true)
        card.mails = Self.entries(record.mails, over: mails, isNumber: false)
        if record.source != old.source || mark == nil && identifier.isEmpty { card.setMark(record) }
        return card
    }

    private static func components(_ text: String?) throws -> DateComponents? {
        guard let text, !text.isEmpty else { return nil }
        guard let birthday = Birthday(text) else {
            throw AssistantError.unusable(
                "birthday", "the birthday is no day", expected: "a day such as 1980-02-29, or --02-29")
        }
        var components = DateComponents(year: birthday.year, month: birthday.month, day: birthday.day)
        components.calendar = Calendar(identifier: .gregorian)
        return components
    }

    /// Entries that did not change keep their labels as the framework has them.
    private static func entries(_ new: [Contact.Entry], over old: [Entry], isNumber: Bool) -> [Entry] {
        var rest = old
        return new.map { entry in
            if let index = rest.firstIndex(where: { $0.record == entry }) { return rest.remove(at: index) }
            return Entry(label: ContactLabel.system(entry.label, isNumber: isNumber), value: entry.value)
        }
    }

    private mutating func setMark(_ record: Contact) {
        guard let address = SystemMark(id: mark?.id ?? record.id, source: record.source).address else { return }
        addresses.removeAll { SystemMark(Self.address($0.value)) != nil }
        addresses.append(Entry(label: "Hearth", value: address.absoluteString))
    }
}

extension ContactCard.Entry {
    fileprivate var record: Contact.Entry { Contact.Entry(label: ContactLabel.plain(label), value: value) }
}

/// The labels of entries: those of vCards in lower case, and the system's.
enum ContactLabel {
    /// The system's own labels stand between these marks; a person's own labels do not.
    private static let marks = ("_$!<", ">!$_")
    private static let known: Set<String> = ["home", "work", "school", "other", "main", "pager", "mobile"]

    /// `home` for `_$!<Home>!$_`, `cell` for `_$!<Mobile>!$_`.
    static func plain(_ label: String?) -> String {
        guard let label else { return "" }
        guard label.hasPrefix(marks.0), label.hasSuffix(marks.1), label.count >= 8 else { return label.lowercased() }
        let name = label.dropFirst(4).dropLast(4).lowercased()
        return name == "mobile" ? "cell" : name
    }

    /// The system's label for a label of a record; `nil` for none.
    static func system(_ label: String, isNumber: Bool) -> String? {
        let name = label.lowercased() == "cell" ? "mobile" : label.lowercased()
        guard !name.isEmpty else { return nil }
        // Only numbers have mobile phones, pagers and main lines.
        guard known.contains(name), isNumber || ["home", "work", "school", "other"].contains(name) else { return label }
        return marks.0 + name.capitalized + marks.1
    }
}
