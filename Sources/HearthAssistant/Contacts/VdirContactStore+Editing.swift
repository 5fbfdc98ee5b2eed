import Foundation
import HearthBase

extension VdirContactStore {
    /// The contact with a UID.
    package func record(_ id: String) throws -> Contact? {
        try folder.refresh()
        guard let (collection, record) = folder.find(id) else { return nil }
        var contact = record.contact
        contact.collection = collection
        return contact
    }

    /// The change of a contact; what its card has besides the values stays.
    /// - Throws: `no-such-record`, `unusable-payload`; `unusable-record` for removing one of several contacts of a file.
    package func change(of id: String, to contact: Contact?) async throws -> RecordChange {
        guard let contact else { return try folder.removal(of: id, in: .contacts) }
        try folder.refresh()
        guard let file = folder.file(withID: id) else { return try newCard(of: contact, id: id) }
        let before = try folder.contents(of: file)
        var items = try ContentParser().parse(before)
        let places = items.indices.filter { items[$0].asComponent?.name == "VCARD" }
        let ids = VCard.ids(of: places.compactMap { items[$0].asComponent })
        for (index, known) in zip(places, ids) where known == id {
            guard var card = items[index].asComponent else { continue }
            VCard.identify(&card, as: id)
            try ContactWriter.write(contact, to: &card)
            items[index] = .component(card)
            return RecordChange(
                store: .contacts, collection: file.collection, id: id, before: before, after: items.data)
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
        return try folder.importing(id, Data(card.bytes), store: .contacts)
    }
}
