import Foundation
import HearthBase

/// What the stores of events and reminders do with a folder in the same way.
extension VdirFolder<CalendarRecord> {
    /// A record that exists, with the bytes of its file.
    /// - Throws: `no-such-record`; `unusable-record` for one of several records of a file.
    mutating func known(_ id: String) throws -> (collection: String, record: CalendarRecord, before: Data) {
        try refresh()
        let (collection, before) = try onlyRecord(id)
        guard let record = find(id)?.record else { throw AssistantError.noRecord(id) }
        return (collection, record, before)
    }

    /// The changes that import the components of a kind, such as `VEVENT`, of an iCalendar file.
    mutating func importing(_ data: Data, of component: String, in store: StoreKind) throws -> [RecordChange] {
        try refresh()
        return try CalendarImport.records(data, of: component).map { id, after in
            var change = try importing(id, after, store: store)
            // A file that another program joined has lines of its own around the same record.
            if let before = change.before, CalendarImport.haveSameComponents(before, after) { change.after = before }
            return change
        }
    }

    /// All records as one iCalendar file.
    mutating func exported() throws -> Data {
        try refresh()
        return try CalendarImport.joined(files.map { try contents(of: $0) })
    }
}
