import HearthBase

/// Writes the values of a contact into a vCard, and leaves its other lines as they are.
enum ContactWriter {
    /// The most characters of a value.
    private static let limit = 10_000

    /// - Throws: `unusable-payload` without a name.
    static func write(_ contact: Contact, to card: inout ContentComponent) throws {
        let name = contact.name.trimmingWhitespace
        guard !name.isEmpty else {
            throw AssistantError(.unusablePayload, "a contact needs a name", context: ErrorContext(field: "name"))
        }
        let texts = [name, contact.organization, contact.note] + contact.nicknames
        guard (texts + (contact.numbers + contact.mails).map(\.value)).allSatisfy({ $0.count <= limit }) else {
            throw AssistantError(.unusablePayload, "a value has more than \(limit) characters")
        }
        if card.text("FN") != name {
            card.setText("FN", name)
            // The parts belong to the name before.
            card.set("N", ContentLine("N", value: ContentText.escaped(name) + ";;;;", ending: card.ending))
        }
        let nicknames = contact.nicknames.map(\.trimmingWhitespace).filter { !$0.isEmpty }
        replace(
            "NICKNAME", nicknames.isEmpty ? [] : [nicknames.map { ContentText.escaped($0) }.joined(separator: ",")],
            &card)
        let organization = contact.organization.trimmingWhitespace
        if VCardParts.organization(of: card) != organization {
            replace("ORG", organization.isEmpty ? [] : [ContentText.escaped(organization)], &card)
        }
        let note = contact.note.trimmingWhitespace
        replace("NOTE", note.isEmpty ? [] : [ContentText.escaped(note)], &card)
        replace("TEL", contact.numbers, &card)
        replace("EMAIL", contact.mails, &card)
    }

    private static func replace(_ name: String, _ values: [String], _ card: inout ContentComponent) {
        card.set(name, nil)
        for value in values {
            card.items.append(.line(ContentLine(name, value: value, ending: card.ending)))
        }
    }

    /// Replaces numbers or addresses; those that stay keep their lines with all parameters.
    private static func replace(_ name: String, _ entries: [Contact.Entry], _ card: inout ContentComponent) {
        let before = card.all(name)
        card.set(name, nil)
        for entry in entries {
            let value = entry.value.trimmingWhitespace
            guard !value.isEmpty else { continue }
            if let line = before.first(where: { ContentText.unescaped($0.value).trimmingWhitespace == value }) {
                card.items.append(.line(line))
                continue
            }
            let label = entry.label.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            let parameters = label.isEmpty ? [] : [ContentLine.Parameter("TYPE", [label])]
            card.items.append(
                .line(ContentLine(name, parameters, value: ContentText.escaped(value), ending: card.ending)))
        }
    }
}

/// Parts of a vCard as people see them.
private enum VCardParts {
    static func organization(of card: ContentComponent) -> String {
        let value = card.first("ORG")?.value ?? ""
        return ContentText.parts(value, separator: ";").map(\.trimmingWhitespace).filter { !$0.isEmpty }
            .joined(separator: ", ")
    }
}

extension String {
    fileprivate var trimmingWhitespace: String {
        var text = Substring(self)
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
