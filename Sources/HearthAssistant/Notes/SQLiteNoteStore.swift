import Foundation
import HearthBase
import HearthDatabase

/// Notes in the assistant's database.
package struct SQLiteNoteStore: ByteStore {
    private static let columns = "id, title, body, created, changed, source"
    private let database: Database

    /// Keeps notes in a database that ``AssistantDatabase`` opened.
    package init(_ database: Database) { self.database = database }

    package func record(_ id: String) async throws -> Note? { try await database.read { try Self.note(id, $0) } }

    package func records(matching words: String, limit: Int) async throws -> [Note] {
        if words.isEmpty {
            return try await database.read { connection in
                try connection.rows(
                    "SELECT \(Self.columns) FROM note ORDER BY changed DESC, number DESC LIMIT ?1",
                    [.int(max(0, limit))]
                ) { Self.note($0) }
            }
        }
        let query = SearchQuery(words)
        guard !query.isEmpty, limit > 0 else { return [] }
        let columns = Self.columns.split(separator: ", ").map { "note.\($0)" }.joined(separator: ", ")
        return try await database.read { connection in
            // A word of the title counts four times one of the body.
            try connection.rows(
                """
                SELECT \(columns) FROM note_words JOIN note ON note.number = note_words.rowid
                WHERE note_words MATCH ?1 ORDER BY bm25(note_words, 4, 1, 1), note.changed DESC LIMIT ?2
                """, [.text(query.expression(columns: "title body")), .int(limit)]
            ) { Self.note($0) }
        }
    }

    package func change(of id: String, to note: Note?) async throws -> RecordChange {
        let present = try await record(id)
        guard var note else {
            guard let present else {
                throw AssistantError(
                    .noSuchRecord, "no note has this id",
                    context: .init(field: "id", remedy: "List the notes to see their ids."))
            }
            return RecordChange(store: .notes, id: id, before: NoteRecord.data(present), after: nil)
        }
        note.id = id
        // The mark stays, also when the user changes the text.
        if let source = present?.source { note.source = source }
        note.title = note.title.trimmingWhitespace
        if note.title.isEmpty { note.title = Note.title(of: note.body) }
        guard !note.title.isEmpty else {
            throw AssistantError(
                .unusablePayload, "the note has neither a title nor a text",
                context: .init(field: "title", remedy: "Give it a title or a text."))
        }
        return RecordChange(
            store: .notes, id: id, before: present.map { NoteRecord.data($0) }, after: NoteRecord.data(note))
    }

    /// The changes that import notes in their JSON form.
    package func importing(_ data: Data) async throws -> RecordImportPlan {
        RecordImportPlan(try await importing(try RecordJSON.value([Note].self, data)))
    }

    /// The changes that add notes. One with a known id is replaced if it has changed later than the kept one.
    package func importing(_ notes: [Note]) async throws -> [RecordChange] {
        var changes: [RecordChange] = []
        for note in notes {
            let known = try await record(note.id)
            let isOlder = known.map { $0.changed >= note.rounded.changed } ?? false
            changes.append(try await change(of: note.id, to: isOlder ? known : note))
        }
        return changes
    }

    package func marked(_ change: RecordChange, from source: String) async throws -> RecordChange {
        guard let after = change.after else { return change }
        var note = try NoteRecord.note(after, id: change.id)
        let before = try change.before.map { try NoteRecord.note($0, id: change.id) }
        guard before?.title != note.title || before?.body != note.body else { return change }
        note.source = source
        var change = change
        change.after = NoteRecord.data(note)
        return change
    }

    package func apply(_ change: RecordChange) async throws {
        let note = try change.after.map { try NoteRecord.note($0, id: change.id) }
        try await database.write { connection in
            switch try Self.state(of: change, connection) {
            case .after: return
            case .other:
                throw AssistantError(.changedElsewhere, "the note has changed since it was read")
            case .before:
                if let note { try Self.save(note, connection) } else { try Self.remove(change.id, connection) }
            }
        }
    }

    package func state(of change: RecordChange) async throws -> RecordState {
        try await database.read { try Self.state(of: change, $0) }
    }
}

extension SQLiteNoteStore {
    private static func note(_ row: borrowing Row) -> Note {
        Note(
            id: row.text(0), title: row.text(1), body: row.text(2),
            created: Timestamp(milliseconds: Int64(row.int(3))).date,
            changed: Timestamp(milliseconds: Int64(row.int(4))).date, source: row.optionalText(5))
    }

    private static func note(_ id: String, _ connection: Connection) throws -> Note? {
        try connection.first("SELECT \(columns) FROM note WHERE id = ?1", [.text(id)]) { note($0) }
    }

    private static func state(of change: RecordChange, _ connection: Connection) throws -> RecordState {
        change.state(of: try note(change.id, connection).map { NoteRecord.data($0) })
    }

    private static func save(_ note: Note, _ connection: Connection) throws {
        let number = try connection.first(
            """
            INSERT INTO note(id, title, body, created, changed, source) VALUES(?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT(id) DO UPDATE SET title = ?2, body = ?3, created = ?4, changed = ?5, source = ?6
            RETURNING number
            """,
            [
                .text(note.id), .text(note.title), .text(note.body), .int(Timestamp(note.created).milliseconds),
                .int(Timestamp(note.changed).milliseconds), SQLValue.text(note.source),
            ]
        ) { $0.int(0) }
        guard let number else { return }
        let (title, titlePairs) = FullText.columns(of: note.title)
        let (body, bodyPairs) = FullText.columns(of: note.body)
        try connection.run("DELETE FROM note_words WHERE rowid = ?1", [.int(number)])
        try connection.run(
            "INSERT INTO note_words(rowid, title, body, pairs) VALUES(?1, ?2, ?3, ?4)",
            [.int(number), .text(title), .text(body), .text(titlePairs + " " + bodyPairs)])
    }

    private static func remove(_ id: String, _ connection: Connection) throws {
        let number = try connection.first("DELETE FROM note WHERE id = ?1 RETURNING number", [.text(id)]) { $0.int(0) }
        guard let number else { return }
        try connection.run("DELETE FROM note_words WHERE rowid = ?1", [.int(number)])
    }
}
