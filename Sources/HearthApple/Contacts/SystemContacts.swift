import Foundation
import HearthAssistant
import HearthBase

/// The person's contacts on an Apple device, through the Contacts framework.
///
/// The first use asks the person for access. With limited access, the app sees the contacts that the person has chosen and
/// those that it adds. A contact that Hearth adds has an address labelled `Hearth`, by which it is found again. Values that
/// Hearth does not show stay as they are in a change; an undone removal does not bring them back.
public actor SystemContacts: SystemStore {
    package nonisolated let access: SystemAccess
    private let database: any ContactDatabase

    init(_ database: any ContactDatabase, access: SystemAccess) { (self.database, self.access) = (database, access) }

    /// The permission now.
    public nonisolated var accessState: AccessState { access.state }

    /// Asks the person for access, if they were not asked yet.
    /// - Throws: the error of the framework.
    public nonisolated func requestAccess() async throws -> AccessState { try await access.request() }

    /// The contacts whose name, nickname, organization, number or mail address fits, the best first.
    public func records(matching words: String, limit: Int) async throws -> [Contact] {
        let query = ContactQuery(words)
        let all = try await access.reading { try await database.contacts() }
        let found = Self.named(all).compactMap { id, card -> (rank: Int, contact: Contact)? in
            let contact = card.record(id: id)
            return ContactRecord(contact).rank(query).map { ($0, contact) }
        }
        return found.sorted { ($0.rank, $0.contact.name, $0.contact.id) < ($1.rank, $1.contact.name, $1.contact.id) }
            .prefix(max(0, limit)).map(\.contact)
    }

    public func record(_ id: String) async throws -> Contact? {
        try await access.reading { try await found(id, near: []) }
    }

    public func write(_ record: Contact?, id: String) async throws { try await apply(change(of: id, to: record)) }

    package func found(_ id: String, near moments: [Date]) async throws -> Contact? {
        try await card(id)?.record(id: id)
    }

    private func card(_ id: String) async throws -> ContactCard? {
        if let card = try await database.contact(id) { return card }
        return Self.named(try await database.contacts()).first { $0.id == id }?.card
    }

    /// The contacts with their ids: of their marks, or the framework's. A copy has the mark of the first, and the
    /// framework's id.
    private static func named(_ cards: [ContactCard]) -> [(id: String, card: ContactCard)] {
        var known: Set<String> = []
        return cards.sorted { $0.identifier < $1.identifier }.map { card in
            guard let mark = card.mark, known.insert(mark.id).inserted else { return (card.identifier, card) }
            return (mark.id, card)
        }
    }

    package func kept(_ record: Contact, over present: Contact?) async throws -> Contact {
        var kept = try await changed(record).record(id: record.id)
        kept.collection = present?.collection ?? ""
        return kept
    }

    private func changed(_ record: Contact) async throws -> ContactCard {
        if let card = try await card(record.id) { return try card.changed(to: record) }
        var card = ContactCard()
        card.note = database.hasNotes ? "" : nil
        return try card.changed(to: record)
    }

    package func put(_ record: Contact?, id: String, near moments: [Date]) async throws {
        guard let record else {
            guard let card = try await card(id) else { return }
            return try await database.remove(card.identifier)
        }
        try await database.save(try await changed(record))
    }

    package nonisolated func texts(of record: Contact) -> [String] {
        let entries = (record.numbers + record.mails).flatMap { [$0.label, $0.value] }
        return [record.name, record.organization, record.note] + record.nicknames + entries
    }
}
