import Foundation
import HearthAssistant
import HearthBase

/// A store over a framework of the system. Its bytes are the JSON of the values as the system keeps them.
package protocol SystemStore: ByteStore {
    var access: SystemAccess { get }

    /// The record with an id. The permission is checked by the caller.
    /// - Parameter moments: times at which the record may be, if the store looks for records by time.
    func found(_ id: String, near moments: [Date]) async throws -> Record?

    /// The values that the system will keep of a new or changed record.
    /// - Throws: `unusable-payload`, `unusable-recurrence`.
    func kept(_ record: Record, over present: Record?) async throws -> Record

    /// Saves a record, or removes it for `nil`.
    func put(_ record: Record?, id: String, near moments: [Date]) async throws

    /// The values as they are compared: what the system may change without the person is left out.
    func compared(_ record: Record, with other: Record) -> Record

    /// The times at which a record may be found.
    func moments(of record: Record) -> [Date]

    /// The texts of a record that people write.
    func texts(of record: Record) -> [String]
}

extension SystemStore {
    package func compared(_ record: Record, with other: Record) -> Record { record }

    package func moments(of record: Record) -> [Date] { [] }

    package func change(of id: String, to record: Record?) async throws -> RecordChange {
        if record == nil, try await access.isWriteOnly() { throw AccessState.writeOnly.refusal(of: Record.kind) }
        let before = try await self.record(id)
        guard record != nil || before != nil else { throw AssistantError.noRecord(id) }
        var after: Record?
        if var record {
            record.id = id
            // A mark stays: the text that others wrote does not become the user's own.
            if let source = before?.source { record.source = source }
            guard !record.displayName.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty else {
                throw AssistantError(
                    .unusablePayload, "the title is missing",
                    context: ErrorContext(field: Record.kind == .contacts ? "name" : "title"))
            }
            after = try await kept(record, over: before)
        }
        return RecordChange(
            store: Record.kind, id: id, before: try before.map { try RecordJSON.data($0) },
            after: try after.map { try RecordJSON.data($0) })
    }

    package func marked(_ change: RecordChange, from source: String) async throws -> RecordChange {
        guard var record = try values(change.after) else { return change }
        let before = try values(change.before)
        guard before.map(texts(of:)) != texts(of: record) else { return change }
        record.source = source
        var change = change
        change.after = try RecordJSON.data(try await kept(record, over: before))
        return change
    }

    package func apply(_ change: RecordChange) async throws {
        let after = try values(change.after)
        let moments = try moments(of: change)
        if change.before == nil, let after, try await access.isWriteOnly() {
            // What was added cannot be read, so nothing tells whether it is there already.
            return try await access.adding { try await put(after, id: change.id, near: moments) }
        }
        switch try await state(of: change) {
        case .after: return
        case .other:
            throw AssistantError(
                .changedElsewhere, "another program has changed the record since it was read",
                context: ErrorContext(remedy: "Look at it and try again."))
        case .before: try await access.reading { try await put(after, id: change.id, near: moments) }
        }
    }

    package func state(of change: RecordChange) async throws -> RecordState {
        let moments = try moments(of: change)
        let present = try await access.reading { try await found(change.id, near: moments) }
        if try matches(present, change.after, from: change.before) { return .after }
        return try matches(present, change.before, from: change.after) ? .before : .other
    }

    /// Whether the record has the values of one side of a change.
    func matches(_ present: Record?, _ data: Data?, from other: Data?) throws -> Bool {
        guard let present, let wanted = try values(data) else { return present == nil && data == nil }
        return try RecordJSON.data(compared(present, with: wanted)) == RecordJSON.data(compared(wanted, with: present))
    }

    func values(_ data: Data?) throws -> Record? { try data.map { try RecordJSON.value(Record.self, $0) } }

    private func moments(of change: RecordChange) throws -> [Date] {
        try [change.before, change.after].compactMap { try values($0) }.flatMap(moments(of:))
    }
}

extension AssistantError {
    /// The error for a value that a framework of the system cannot keep.
    static func unusable(_ field: String, _ message: String, expected: String? = nil) -> AssistantError {
        AssistantError(.unusablePayload, message, context: ErrorContext(field: field, expected: expected))
    }
}
