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
    /// Where its texts are from if others wrote them, such as `calendar team`; `nil` for the user's own.
    var source: String? { get set }
    /// Sets the dates that say when the record was made and changed, where it has them.
    mutating func stamp(_ date: Date, isNew: Bool)
}

extension UserRecord {
    public mutating func stamp(_ date: Date, isNew: Bool) {}

    /// A record without a source is the user's own.
    public var source: String? {
        get { nil }
        set {}
    }
}

/// The records of one kind: reads them, and writes one at a time.
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
}

/// A store that computes and applies changes of bytes. Each store of this package is one; ``RecordStore/bytes`` makes one of an
/// app's store.
///
/// A store of files keeps what the values of a record do not name.
package protocol ByteStore<Record>: RecordStore {
    /// The files or records that the store cannot read, and skips, with the reason.
    func unreadableFiles() async throws -> [String]

    /// The number of records and files that the store cannot read, those that imports have kept included.
    func unreadableCount() async throws -> Int

    /// The records that cannot be read, and those that are not shown as another program wrote them.
    func problems() async throws -> [RecordProblem]

    /// The change that gives a record new values, creates it, or removes it for `nil`. Nothing is written.
    /// - Throws: ``AssistantError``: `no-such-record`, `unusable-payload`, `unusable-recurrence`.
    func change(of id: String, to record: Record?) async throws -> RecordChange

    /// The change with a mark on records whose texts are new, that others wrote them. The mark outlives later changes.
    func marked(_ change: RecordChange, from source: String) async throws -> RecordChange

    /// Applies a change. Does nothing if the record has the new content already.
    /// - Throws: ``AssistantError`` with `changed-elsewhere` if another program has changed the record; `FileError`.
    func apply(_ change: RecordChange) async throws

    /// Applies changes of different records in their order, until one fails.
    /// - Returns: the number of changes that are applied, and the error of the next one.
    func apply(all changes: [RecordChange]) async -> (count: Int, error: (any Error)?)

    /// Compares the record with the change.
    func state(of change: RecordChange) async throws -> RecordState

    /// The changes that import a file; a record with a known id is replaced.
    /// - Throws: ``AssistantError`` with `unusable-record` if the file is of another kind.
    func importing(_ data: Data) async throws -> RecordImportPlan

    /// All records as one file, those that cannot be read included, which ``importing(_:)`` reads.
    func exported() async throws -> Data
}

extension ByteStore {
    package func write(_ record: Record?, id: String) async throws { try await apply(change(of: id, to: record)) }

    package func apply(all changes: [RecordChange]) async -> (count: Int, error: (any Error)?) {
        for (index, change) in changes.enumerated() {
            do {
                try await apply(change)
            } catch {
                return (index, error)
            }
        }
        return (changes.count, nil)
    }

    package func unreadableFiles() async throws -> [String] { [] }

    package func unreadableCount() async throws -> Int { try await unreadableFiles().count }

    package func problems() async throws -> [RecordProblem] { [] }

    package func marked(_ change: RecordChange, from source: String) async throws -> RecordChange { change }

    package func importing(_ data: Data) async throws -> RecordImportPlan {
        var changes: [RecordChange] = []
        for record in try RecordJSON.value([Record].self, data) {
            changes.append(try await change(of: record.id, to: record))
        }
        return RecordImportPlan(changes)
    }

    package func exported() async throws -> Data { try RecordJSON.data(try await records(matching: "", limit: .max)) }
}

/// An app's store, with the JSON of a record's values as its bytes.
private struct JSONStore<Base: RecordStore>: ByteStore {
    let base: Base

    func records(matching words: String, limit: Int) async throws -> [Base.Record] {
        try await base.records(matching: words, limit: limit)
    }

    func record(_ id: String) async throws -> Base.Record? { try await base.record(id) }

    func change(of id: String, to record: Base.Record?) async throws -> RecordChange {
        let before = try await self.record(id)
        guard record != nil || before != nil else { throw AssistantError.noRecord(id) }
        var after = record
        after?.id = id
        if let source = before?.source { after?.source = source }
        if after?.displayName.trimmingWhitespace.isEmpty == true {
            throw AssistantError(.unusablePayload, "the title is missing", context: ErrorContext(field: "title"))
        }
        return RecordChange(
            store: Record.kind, id: id, before: try before.map { try RecordJSON.data($0) },
            after: try after.map { try RecordJSON.data($0) })
    }

    func marked(_ change: RecordChange, from source: String) async throws -> RecordChange {
        guard let after = change.after else { return change }
        if let before = change.before, try texts(before) == texts(after) { return change }
        var record = try RecordJSON.value(Record.self, after)
        record.source = source
        var change = change
        change.after = try RecordJSON.data(record)
        return change
    }

    /// The values that people write in words.
    private func texts(_ data: Data) throws -> [JSONValue?] {
        let members = try JSONValue(parsing: data).members ?? [:]
        return [
            "title", "body", "name", "location", "notes", "note", "nicknames", "numbers", "mails", "organization",
        ].map { members[$0] }
    }

    func apply(_ change: RecordChange) async throws {
        switch try await state(of: change) {
        case .after: return
        case .other: throw AssistantError(.changedElsewhere, "the record has changed since it was read")
        case .before:
            let record = try change.after.map { try RecordJSON.value(Record.self, $0) }
            try await base.write(record, id: change.id)
        }
    }

    func state(of change: RecordChange) async throws -> RecordState {
        change.state(of: try await record(change.id).map { try RecordJSON.data($0) })
    }
}

extension RecordStore {
    /// The store as one that computes and applies changes of bytes.
    package var bytes: any ByteStore<Record> { self as? any ByteStore<Record> ?? JSONStore(base: self) }

    /// The change that creates a record. If there is one of this id, the change has happened.
    package func creation(of record: Record) async throws -> RecordChange {
        let present = try await self.record(record.id)
        var change = try await bytes.change(of: record.id, to: present ?? record)
        if present != nil { change.before = nil }
        return change
    }

    /// The change that gives a record other values.
    /// - Throws: `no-such-record`; errors of ``ByteStore/change(of:to:)``.
    package func change(of id: String, _ body: (inout Record) throws -> Void) async throws -> RecordChange {
        guard var record = try await record(id) else { throw AssistantError.noRecord(id) }
        try body(&record)
        return try await bytes.change(of: id, to: record)
    }

    /// The change that removes a record.
    /// - Throws: `no-such-record`.
    package func removal(of id: String) async throws -> RecordChange { try await bytes.change(of: id, to: nil) }
}
