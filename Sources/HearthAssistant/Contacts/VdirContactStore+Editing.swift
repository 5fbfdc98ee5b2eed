import Foundation
import HearthBase

extension VdirContactStore {
    /// The contact with a UID.
    package func record(_ id: String) throws -> Contact? {
        try folder.refresh()
        for file in folder.unorderedFiles {
            guard var contact = file.record.first(where: { $0.contact.id == id })?.contact else { continue }
            contact.collection = file.collection
            return contact
        }
        return nil
    }

    /// The change of a contact; what its card has besides the values stays.
    /// - Throws: `no-such-record`, `unusable-payload`; `unusable-record` for removing one of several contacts of a file.
    package func change(of id: String, to contact: Contact?) async throws -> RecordChange {
        guard let contact else { return try removedCard(id) }
        guard try record(id) != nil else { return try newCard(of: contact, id: id) }
        let (collection, before) = try known(id)
        var document = try ContentParser(hasSoftBreaks: true).parse(before)
        for index in document.items.indices {
            guard case .component(var card) = document.items[index], card.name == "VCARD", VCard.id(of: card) == id
            else { continue }
            _ = VCard.identify(&card)
            try ContactWriter.write(contact, to: &card)
            document.items[index] = .component(card)
            return RecordChange(
                store: .contacts, collection: collection, id: id, before: before, after: document.data)
        }
        throw AssistantError.noRecord(id)
    }

    private func newCard(of contact: Contact, id: String) throws -> RecordChange {
        var card = ContentComponent(
            "VCARD", [.line(ContentLine("VERSION", value: "4.0")), .line(ContentLine("UID", value: id))])
        try ContactWriter.write(contact, to: &card)
        // Other programs sort by the last word.
        let words = contact.name.split(separator: " ").map(String.init)
        if let last = words.last, words.count > 1 {
            let given = words.dropLast().joined(separator: " ")
            card.set("N", ContentLine("N", value: "\(ContentText.escaped(last));\(ContentText.escaped(given));;;"))
        }
        return try folder.importing(
            id, ContentDocument(items: [.component(card)]).data, store: .contacts, into: target)
    }

    private func removedCard(_ id: String) throws -> RecordChange {
        let (collection, before) = try known(id)
        let cards = try ContentParser(hasSoftBreaks: true).parse(before).components.filter { $0.name == "VCARD" }
        guard cards.count == 1 else {
            throw AssistantError(.unusableRecord, "the file of the contact has others, too")
        }
        return RecordChange(store: .contacts, collection: collection, id: id, before: before, after: nil)
    }

    private func known(_ id: String) throws -> (collection: String, data: Data) {
        try folder.refresh()
        for file in folder.unorderedFiles where file.record.contains(where: { $0.contact.id == id }) {
            return (file.collection, try folder.contents(of: file))
        }
        throw AssistantError.noRecord(id)
    }
}
