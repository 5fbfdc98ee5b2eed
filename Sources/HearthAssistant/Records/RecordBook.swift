import Foundation
import HearthBase

/// The record that a call added, changed or removed, and the action that undoes the call.
public struct RecordEdit: Sendable, Hashable, Codable {
    public var id: String
    /// The action, for ``Records/undo(_:)``.
    public var action: String
}

/// The outcome of an import. The first four numbers add up to the records of the file; a series with its changed occurrences
/// is one.
public struct RecordImport: Sendable, Hashable, Codable {
    public var added: Int
    /// Records of known ids that have other values now.
    public var changed: Int
    /// Records that are known as they are.
    public var skipped: Int
    /// Records that cannot be read. Their bytes are kept, and exported with the others; ``RecordBook/problems()`` lists them.
    public var unreadable: Int
    /// Components of other kinds, which are not imported.
    public var other: [OtherComponents]
    /// Why records cannot be read, or are not shown as another program wrote them.
    public var problems: [RecordProblem]
    /// The action, for ``Records/undo(_:)``; `nil` if nothing was changed.
    public var action: String?
}

/// The user's records of one kind. Each call that changes one is an action of the journal, which ``Records/undo(_:)`` takes
/// back.
public struct RecordBook<Record: UserRecord>: Sendable {
    private let opened: (any ByteStore<Record>)?
    private let runner: ActionRunner

    init(_ store: (any ByteStore<Record>)?, _ runner: ActionRunner) { (opened, self.runner) = (store, runner) }

    /// - Throws: ``AssistantError`` with `no-such-record` where the assistant has no store of this kind.
    package var store: any ByteStore<Record> {
        get throws {
            if let opened { return opened }
            throw AssistantError(.noSuchRecord, "there is no store of \(Record.kind.rawValue)")
        }
    }

    /// The records that contain the words, without regard to case and accents; all records without words.
    public func find(_ words: String = "", limit: Int = 100) async throws -> [Record] {
        try await store.records(matching: words, limit: limit)
    }

    /// The record with an id; `nil` if there is none.
    public func record(_ id: String) async throws -> Record? { try await store.record(id) }

    /// Adds a record. One without an id gets one.
    /// - Throws: ``AssistantError``: `unusable-payload` without a title or with other values that cannot be, or with the id of
    ///   a known record; `unusable-recurrence`. Errors of the store and the journal.
    @discardableResult
    public func add(_ record: Record) async throws -> RecordEdit {
        var record = record
        if record.id.isEmpty { record.id = ActionCard.newID() }
        guard try await store.record(record.id) == nil else {
            throw AssistantError(.unusablePayload, "a record has this id", context: ErrorContext(field: "id"))
        }
        record.stamp(runner.time.now, isNew: true)
        let change = try await store.change(of: record.id, to: record)
        return try await carryOut("New \(noun)", record.displayName, change.id, action: record.id, change)
    }

    /// Gives a record other values, and keeps what the values do not name.
    /// - Throws: ``AssistantError``: `no-such-record`, `unusable-payload`, `unusable-recurrence`, `changed-elsewhere`. Errors of
    ///   the store and the journal.
    @discardableResult
    public func change(_ id: String, _ body: @Sendable (inout Record) throws -> Void) async throws -> RecordEdit {
        try await change(id, as: "Change \(article) \(noun)", body)
    }

    /// The same under another title of the action.
    package func change(
        _ id: String, as title: String, _ body: @Sendable (inout Record) throws -> Void
    ) async throws -> RecordEdit {
        guard var record = try await store.record(id) else { throw AssistantError.noRecord(id) }
        try body(&record)
        record.stamp(runner.time.now, isNew: false)
        return try await carryOut(title, record.displayName, id, try await store.change(of: id, to: record))
    }

    /// Removes a record.
    /// - Throws: ``AssistantError`` with `no-such-record` or `changed-elsewhere`; errors of the store and the journal.
    @discardableResult
    public func remove(_ id: String) async throws -> RecordEdit {
        let name = try await store.record(id)?.displayName ?? ""
        return try await carryOut("Remove \(article) \(noun)", name, id, try await store.change(of: id, to: nil))
    }

    /// Adds the records of a file: iCalendar, vCards, or JSON. Known records are replaced; the same file again changes nothing.
    /// - Throws: ``AssistantError`` with `unusable-record`, in which case nothing is changed; errors of the store and the journal.
    @discardableResult
    public func `import`(_ data: Data) async throws -> RecordImport {
        try await carryOut(try await store.importing(data))
    }

    /// The records that cannot be read, and those that are not shown as another program wrote them.
    public func problems() async throws -> [RecordProblem] { try await store.problems() }

    /// All records as one file: iCalendar, vCards, or JSON. Those that cannot be read are among them.
    public func export() async throws -> Data { try await store.exported() }

    /// Carries out the changes of an import. The texts of a file may be those of other people.
    package func carryOut(_ plan: RecordImportPlan) async throws -> RecordImport {
        var effective: [RecordChange] = []
        for change in plan.changes where change.before != change.after {
            let marked = try await store.marked(change, from: "import")
            // The mark can be all that a known record has besides.
            if marked.before != marked.after { effective.append(marked) }
        }
        let added = effective.count { $0.before == nil }
        let written = effective + plan.kept.filter { $0.before != $0.after }
        let card = ActionCard(commanded: "Import \(noun)s", tag, record: "\(written.count) \(noun)s")
        try await runner.carryOut(card, written)
        return RecordImport(
            added: added, changed: effective.count - added, skipped: plan.changes.count - effective.count,
            unreadable: plan.unreadable, other: plan.other, problems: plan.problems,
            action: written.isEmpty ? nil : card.id)
    }

    private func carryOut(
        _ title: String, _ name: String, _ id: String, action: String = ActionCard.newID(),
        _ change: RecordChange
    ) async throws -> RecordEdit {
        try await runner.carryOut(ActionCard(commanded: title, tag, id: action, record: name), [change])
        return RecordEdit(id: id, action: action)
    }

    private var noun: String { Record.kind.noun }
    private var article: String { "aeiou".contains(noun.prefix(1)) ? "an" : "a" }
    private var tag: ActionTag { Record.kind.tag }
}

extension StoreKind {
    /// One record in words.
    package var noun: String { self == .calendar ? "event" : String(rawValue.dropLast()) }

    /// The tag of the actions on these records.
    var tag: ActionTag {
        switch self {
        case .calendar: .calendar
        case .reminders: .reminder
        case .notes: .note
        case .habits: .habit
        default: .contactsSearch
        }
    }
}
