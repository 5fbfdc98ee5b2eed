import Foundation
import HearthBase

@testable import HearthAssistant

extension RecordStore<CalendarEvent> {
    func creation(of fields: EventFields, id: String) async throws -> RecordChange {
        try await creation(of: CalendarEvent(id: id, fields: fields))
    }

    /// The change that gives an event the values that are there.
    func change(of id: String, to fields: EventFields) async throws -> RecordChange {
        try await change(of: id) { $0.fields = $0.fields.changed(to: fields) }
    }
}

extension RecordStore<Reminder> {
    func creation(
        title: String, due: EventTime? = nil, alarmMinutes: Int? = nil, priority: Int = 0, id: String
    ) async throws -> RecordChange {
        try await creation(
            of: Reminder(id: id, title: title, due: due, alarmMinutes: alarmMinutes, priority: priority))
    }
}

extension RecordStore<Note> {
    func creation(title: String, body: String, id: String, at date: Date) async throws -> RecordChange {
        try await creation(of: Note(id: id, title: title, body: body, created: date, changed: date))
    }
}

extension ByteStore {
    /// Imports a file, and counts the changes.
    func add(_ data: Data) async throws -> (added: Int, replaced: Int, kept: Int) {
        let changes = try await importing(data).changes
        for change in changes { try await apply(change) }
        let added = changes.count { $0.before == nil }
        let kept = changes.count { $0.before == $0.after }
        return (added, changes.count - added - kept, kept)
    }
}
