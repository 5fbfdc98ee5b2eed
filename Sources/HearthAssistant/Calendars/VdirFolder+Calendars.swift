import Foundation
import HearthBase

/// What the stores of events and reminders do with a folder in the same way.
extension VdirFolder where Record == [CalendarRecord] {
    func find(_ id: String) -> (collection: String, record: CalendarRecord)? {
        guard let file = file(withID: id), let record = file.record.first(where: { $0.id == id }) else { return nil }
        return (file.collection, record)
    }

    /// A record that exists, with the bytes of its file.
    /// - Throws: `no-such-record`; `unusable-record` for one of several records of a file.
    mutating func known(_ id: String) throws -> (collection: String, record: CalendarRecord, before: Data) {
        try refresh()
        let before = try onlyRecord(id)
        guard let (collection, record) = find(id) else { throw AssistantError.noRecord(id) }
        return (collection, record, before)
    }

    /// The collection of a new record.
    func target(_ collection: String, preferring preferred: String?) -> String {
        target(preferring: collections.contains(collection) ? collection : preferred)
    }

    mutating func removal(of id: String, in store: StoreKind) throws -> RecordChange {
        let (collection, _, before) = try known(id)
        return RecordChange(store: store, collection: collection, id: id, before: before, after: nil)
    }

    /// The changes that import the components of a kind, such as `VEVENT`, of an iCalendar file.
    mutating func importing(
        _ data: Data, of component: String, in store: StoreKind, preferring collection: String?
    ) throws -> [RecordChange] {
        try refresh()
        let target = target(preferring: collection)
        return try CalendarImport.records(data, of: component).map { id, after in
            try importing(id, after, store: store, into: target)
        }
    }

    /// All records as one iCalendar file.
    mutating func exported() throws -> Data {
        try refresh()
        return try CalendarImport.joined(files.map { try contents(of: $0) })
    }
}
