import Foundation
import HearthBase

/// A record of the user: an event, a reminder, a contact, a note or a habit.
///
/// Its `Codable` form is the one that commands print, and that the page and the API exchange.
public protocol UserRecord: Codable, Sendable, Hashable, Identifiable where ID == String {
    /// The kind of data.
    static var kind: StoreKind { get }
    /// A record without values.
    static var empty: Self { get }
    /// Identifies the record in its store; empty in a new one, which gets an id when it is added.
    var id: String { get set }
    /// The title or the name.
    var displayName: String { get }
    /// Sets the dates that say when the record was made and changed, where it has them.
    mutating func stamp(_ date: Date, isNew: Bool)
}

extension UserRecord {
    public mutating func stamp(_ date: Date, isNew: Bool) {}
}

/// The records of one kind: reads them, and writes one at a time.
///
/// An app's own store, such as one over EventKit, implements the first three requirements. The others have defaults, in
/// which the bytes of a record are the JSON of its values. A store of files implements them too, so that a change keeps
/// what the values do not name.
///
/// The store decides which thread its library needs; every method may be called from any task.
public protocol RecordStore<Record>: Sendable {
    associatedtype Record: UserRecord

    /// The records that contain the words, without regard to case and accents; all records for empty words. The best are
    /// first, at most `limit`.
    func records(matching words: String, limit: Int) async throws -> [Record]

    /// The record with an id.
    func record(_ id: String) async throws -> Record?

    /// Writes a new or changed record; removes it for `nil`.
    func write(_ record: Record?, id: String) async throws

    /// The files or records that the store cannot read, and skips, with the reason.
    func unreadableFiles() async throws -> [String]

    /// The change that gives a record new values, creates it, or removes it for `nil`. Nothing is written.
    /// - Throws: ``AssistantError``: `no-such-record`, `unusable-payload`, `unusable-recurrence`.
    func change(of id: String, to record: Record?) async throws -> RecordChange

    /// Applies a change. Does nothing if the record has the new content already.
    /// - Throws: ``AssistantError`` with `changed-elsewhere` if another program has changed the record; `FileError`.
    func apply(_ change: RecordChange) async throws

    /// Compares the record with the change.
    func state(of change: RecordChange) async throws -> RecordState

    /// The changes that import a file; a record with a known id is replaced.
    /// - Throws: ``AssistantError`` with `unusable-record` if the file is of another kind.
    func importing(_ data: Data) async throws -> [RecordChange]

    /// All records as one file, which ``importing(_:)`` reads.
    func exported() async throws -> Data
}

extension RecordStore {
    public func unreadableFiles() async throws -> [String] { [] }

    public func change(of id: String, to record: Record?) async throws -> RecordChange {
        let before = try await self.record(id)
        guard record != nil || before != nil else { throw AssistantError.noRecord(id) }
        var after = record
        after?.id = id
        if after?.displayName.trimmingWhitespace.isEmpty == true {
            throw AssistantError(.unusablePayload, "the title is missing", context: ErrorContext(field: "title"))
        }
        return RecordChange(
            store: Record.kind, id: id, before: try before.map { try RecordJSON.data($0) },
            after: try after.map { try RecordJSON.data($0) })
    }

    public func apply(_ change: RecordChange) async throws {
        switch try await state(of: change) {
        case .after: return
        case .other: throw AssistantError(.changedElsewhere, "the record has changed since it was read")
        case .before: try await write(try change.after.map { try RecordJSON.value(Record.self, $0) }, id: change.id)
        }
    }

    public func state(of change: RecordChange) async throws -> RecordState {
        let present = try await record(change.id).map { try RecordJSON.data($0) }
        return present == change.after ? .after : present == change.before ? .before : .other
    }

    public func importing(_ data: Data) async throws -> [RecordChange] {
        var changes: [RecordChange] = []
        for record in try RecordJSON.value([Record].self, data) {
            changes.append(try await change(of: record.id, to: record))
        }
        return changes
    }

    public func exported() async throws -> Data { try RecordJSON.data(try await records(matching: "", limit: .max)) }
}

extension RecordStore {
    /// The store as one of its records alone.
    var erased: any RecordStore<Record> { self }

    /// The change that creates a record. If there is one of this id, the change has happened.
    package func creation(of record: Record) async throws -> RecordChange {
        guard let present = try await self.record(record.id) else {
            return try await change(of: record.id, to: record)
        }
        var change = try await change(of: record.id, to: present)
        change.before = nil
        return change
    }

    /// The change that gives a record other values.
    /// - Throws: `no-such-record`; errors of ``change(of:to:)``.
    package func change(of id: String, _ body: (inout Record) throws -> Void) async throws -> RecordChange {
        guard var record = try await record(id) else { throw AssistantError.noRecord(id) }
        try body(&record)
        return try await change(of: id, to: record)
    }

    /// The change that removes a record.
    /// - Throws: `no-such-record`.
    package func removal(of id: String) async throws -> RecordChange { try await change(of: id, to: nil) }
}

/// A store that computes and applies changes of bytes itself.
package protocol ByteStore: RecordStore {}

extension ByteStore {
    package func write(_ record: Record?, id: String) async throws { try await apply(change(of: id, to: record)) }
}
