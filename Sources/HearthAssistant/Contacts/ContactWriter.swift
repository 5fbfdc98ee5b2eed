import HearthBase

/// Writes the values of a contact into a vCard. Lines of values that do not change stay byte for byte.
enum ContactWriter {
    /// The most characters of a value.
    private static let limit = 10_000

    /// - Throws: `unusable-payload` without a name, or for a changed value that is too long.
    static func write(_ contact: Contact, to card: inout ContentComponent) throws {
        let name = contact.name.trimmingWhitespace
        guard !name.isEmpty else {
            throw AssistantError(.unusablePayload, "a contact needs a name", context: ErrorContext(field: "name"))
        }
        var draft = ContactDraft(card)
        let before = draft.before.contact
        if before.name != name {
            try check(name)
            draft.setName(name)
        }
        let nicknames = contact.nicknames.map(\.trimmingWhitespace).filter { !$0.isEmpty }
        if before.nicknames.map(\.trimmingWhitespace).filter({ !$0.isEmpty }) != nicknames {
            try nicknames.forEach(check)
            draft.setNicknames(nicknames)
        }
        let organization = contact.organization.trimmingWhitespace
        if before.organization != organization {
            try check(organization)
            draft.setOrganization(organization)
        }
        let note = contact.note.trimmingWhitespace
        if before.note.trimmingWhitespace != note {
            try check(note)
            draft.setNote(note)
        }
        if before.birthday != contact.birthday {
            let day = contact.birthday.flatMap { Birthday($0.trimmingWhitespace) }
            guard day != nil || contact.birthday?.nonEmpty == nil else {
                throw AssistantError(
                    .unusablePayload, "the birthday is no day",
                    context: ErrorContext(field: "birthday", expected: "a day such as 1980-02-29, or --02-29"))
            }
            draft.setBirthday(day)
        }
        for (kind, entries) in [(ContactDraft.Kind.number, contact.numbers), (.mail, contact.mails)] {
            let known = Set(draft.entries(kind))
            for entry in entries where !known.contains(entry) {
                try check(entry.value)
                try check(entry.label)
            }
            draft.set(entries, of: kind)
        }
        card = draft.card
    }

    private static func check(_ value: String) throws {
        guard value.count <= limit else {
            throw AssistantError(.unusablePayload, "a value has more than \(limit) characters")
        }
    }
}
