import Foundation
import HearthBase
import HearthDatabase

/// The journal of actions in the table `action_journal`. Each entry is on the disk before the next step of its action.
package struct SQLiteActionJournal: ActionJournal {
    private let database: Database

    package init(_ database: Database) { self.database = database }

    /// The column `changes`.
    private struct Changes: Codable {
        var changes: [RecordChange]
        var owner: ProcessIdentity?
    }

    private static let columns = "key, conversation, message, state, card, changes, created, changed"

    package func save(_ entry: ActionEntry) async throws {
        let card = try JSON.text(entry.card)
        let changes = try JSON.text(Changes(changes: entry.changes, owner: entry.owner))
        try await database.writeDurably { connection in
            try connection.run(
                """
                INSERT INTO action_journal(key, conversation, message, tag, state, card, changes, created, changed)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                ON CONFLICT(key) DO UPDATE SET state = ?5, card = ?6, changes = ?7, changed = ?9
                """,
                [
                    .text(entry.id), .text(entry.conversation), .text(entry.message), .text(entry.card.tag.rawValue),
                    .text(entry.state.rawValue), .text(card), .text(changes), .date(entry.created),
                    .date(entry.changed),
                ])
        }
    }

    package func entry(_ key: String) async throws -> ActionEntry? {
        try await database.read { connection in
            try connection.first("SELECT \(Self.columns) FROM action_journal WHERE key = ?1", [.text(key)]) {
                Self.entry($0)
            } ?? nil
        }
    }

    package func entries(limit: Int) async throws -> [ActionEntry] {
        try await list("ORDER BY created DESC, rowid DESC LIMIT ?1", [.int(max(0, limit))])
    }

    package func unfinished() async throws -> [ActionEntry] {
        try await list("WHERE state IN ('planned', 'begun', 'undoing') ORDER BY created, rowid", [])
    }

    package func remove(before date: Date) async throws {
        try await database.write { connection in
            try connection.run(
                "DELETE FROM action_journal WHERE changed < ?1 AND state IN ('done', 'failed', 'undone')",
                [.date(date)])
        }
    }

    package func eraseAll() async throws {
        try await database.writeDurably { try $0.run("DELETE FROM action_journal") }
    }

    private func list(_ clause: String, _ values: [SQLValue]) async throws -> [ActionEntry] {
        try await database.read { connection in
            try connection.rows("SELECT \(Self.columns) FROM action_journal \(clause)", values) { Self.entry($0) }
                .compactMap(\.self)
        }
    }

    /// The entry of a row; `nil` for one of a later version, which is left alone.
    private static func entry(_ row: borrowing Row) -> ActionEntry? {
        guard let state = ActionEntry.State(rawValue: row.text(3)),
            // An entry that cannot be read is of a later version.
            let card = try? JSON.value(ActionCard.self, Data(row.text(4).utf8)),
            let changes = try? JSON.value(Changes.self, Data(row.text(5).utf8))
        else { return nil }
        return ActionEntry(
            id: row.text(0), conversation: row.text(1), message: row.text(2), state: state, card: card,
            changes: changes.changes, created: row.date(6), changed: row.date(7), owner: changes.owner)
    }
}
