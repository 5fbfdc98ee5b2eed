import Foundation
import HearthBase

extension VdirContactStore {
    /// The contact with a UID.
    package func contact(_ id: String) throws -> Contact? {
        try folder.refresh()
        for file in folder.unorderedFiles {
            guard var contact = file.record.first(where: { $0.contact.id == id })?.contact else { continue }
            contact.collection = file.collection
            return contact
        }
        return nil
    }

    /// The change that creates a contact.
    /// - Throws: `unusable-payload` without a name.
    package func creation(of contact: Contact, id: String) throws -> RecordChange {
        try folder.refresh()
        var card = ContentComponent(
            "VCARD", [.line(ContentLine("VERSION", value: "4.0")), .line(ContentLine("UID", value: id))])
        try ContactWriter.write(contact, to: &card)
        return try folder.importing(
            id, ContentDocument(items: [.component(card)]).data, store: .contacts, into: target)
    }

    /// The change that gives a contact new values; what its card has besides stays.
    /// - Throws: `no-such-record`, `unusable-payload`.
    package func change(of id: String, to contact: Contact) throws -> RecordChange {
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

    /// The change that removes a contact.
    /// - Throws: `no-such-record`; `unusable-record` for one of several contacts of a file.
    package func removal(of id: String) throws -> RecordChange {
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
