import Foundation
import HearthBase

/// The bytes of a note as a record: JSON with sorted keys and dates in milliseconds, the same for equal notes.
enum NoteRecord {
    static func data(_ note: Note) -> Data {
        var members: JSONMembers = [
            "body": .string(note.body), "changed": .integer(Timestamp(note.changed).milliseconds),
            "created": .integer(Timestamp(note.created).milliseconds), "id": .string(note.id),
            "title": .string(note.title),
        ]
        if let source = note.source { members["source"] = .string(source) }
        return JSONValue.object(members).data
    }

    /// Reads a record.
    /// - Throws: `unusable-record`.
    static func note(_ data: Data, id: String) throws -> Note {
        struct Fields: Decodable {
            var id: String
            var title: String
            var body: String
            var created: Int64
            var changed: Int64
            var source: String?
        }
        let fields = try RecordJSON.value(Fields.self, data, or: "the change holds no note")
        guard fields.id == id else { throw AssistantError(.unusableRecord, "the note has another id") }
        return Note(
            id: fields.id, title: fields.title, body: fields.body,
            created: Timestamp(milliseconds: fields.created).date,
            changed: Timestamp(milliseconds: fields.changed).date, source: fields.source)
    }
}

extension Note {
    /// The note with dates in whole milliseconds, as it is kept.
    var rounded: Note {
        var note = self
        note.created = Timestamp(created).date
        note.changed = Timestamp(changed).date
        return note
    }
}
