import Foundation
import HearthBase

@testable import HearthAssistant

/// Ends the "process" at a chosen step: every later call of a store or journal fails.
final class KillSwitch: Sendable {
    struct Killed: Error {}

    private let state = Locked<(step: Int, at: Int?, isDead: Bool)>((0, nil, false))

    var steps: Int { state.withLock { $0.step } }

    func arm(at step: Int?) { state.withLock { $0 = (0, step, false) } }

    func step() throws {
        let isDead = state.withLock { state in
            state.step += 1
            if state.step == state.at { state.isDead = true }
            return state.isDead
        }
        if isDead { throw Killed() }
    }
}

/// Records in memory with the semantics of ``RecordChange``.
actor MemoryRecords {
    private(set) var records: [String: Data] = [:]
    private(set) var applied = 0
    private let kill: KillSwitch

    init(kill: KillSwitch = KillSwitch()) { self.kill = kill }

    func apply(_ change: RecordChange) throws {
        try kill.step()
        let present = records[change.id]
        if present != change.after {
            guard present == change.before else {
                throw AssistantError(.changedElsewhere, "the record is changed")
            }
            records[change.id] = change.after
            applied += 1
        }
        try kill.step()
    }

    func state(of change: RecordChange) throws -> RecordState {
        try kill.step()
        let present = records[change.id]
        return present == change.after ? .after : present == change.before ? .before : .other
    }

    /// Changes a record as another program does.
    func overwrite(_ id: String, _ data: Data?) { records[id] = data }

    func values<Value: Decodable & Sendable>(_ type: Value.Type) throws -> [Value] {
        try records.sorted { $0.key < $1.key }.map { try RecordJSON.value(type, $0.value) }
    }
}

/// A store of values as JSON.
protocol MemoryStore: ByteStore {
    var records: MemoryRecords { get }
}

extension MemoryStore {
    func apply(_ change: RecordChange) async throws { try await records.apply(change) }
    func state(of change: RecordChange) async throws -> RecordState { try await records.state(of: change) }

    func record(_ id: String) async throws -> Record? { try await records.values(Record.self).first { $0.id == id } }

    func records(matching words: String, limit: Int) async throws -> [Record] {
        try await records.values(Record.self).filter {
            words.isEmpty
                || SearchText.folded($0.displayName + " " + (($0 as? Note)?.body ?? "")).contains(
                    SearchText.folded(words))
        }.prefix(limit).map(\.self)
    }

    func change(of id: String, to record: Record?) async throws -> RecordChange {
        let before = await records.records[id]
        guard record != nil || before != nil else { throw AssistantError.noRecord(id) }
        if let event = record as? CalendarEvent, let start = event.fields.start, let end = event.fields.end,
            end.date <= start.date
        {
            throw AssistantError(.unusablePayload, "the end is not after the start")
        }
        return RecordChange(
            store: Record.kind, id: id, before: before, after: try record.map { try RecordJSON.data($0) })
    }
}

struct MemoryCalendar: CalendarStore, MemoryStore {
    var records = MemoryRecords()

    func occurrences(from: Date, until: Date, limit: Int) async throws -> [EventOccurrence] {
        try await records.values(CalendarEvent.self).compactMap { event in
            guard let start = event.fields.start else { return nil }
            let end = event.fields.end ?? EventTime(start.date + 3600, timeZone: start.timeZone)
            guard start.date < until, end.date > from else { return nil }
            return EventOccurrence(event: event, start: start, end: end)
        }.sorted { $0.start.date < $1.start.date }.prefix(limit).map(\.self)
    }
}

struct MemoryReminders: MemoryStore {
    typealias Record = Reminder
    var records = MemoryRecords()
}

struct MemoryNotes: MemoryStore {
    typealias Record = Note
    var records = MemoryRecords()
}

struct MemoryHabits: MemoryStore {
    typealias Record = Habit
    var records = MemoryRecords()
}

struct MemoryContacts: ContactStore {
    var contacts: [Contact] = []

    func record(_ id: String) -> Contact? { contacts.first { $0.id == id } }
    func write(_ record: Contact?, id: String) {}

    func records(matching words: String, limit: Int) -> [Contact] {
        contacts.filter { SearchText.folded($0.name).contains(SearchText.folded(words)) }.prefix(limit).map(\.self)
    }
}

/// A journal that a kill can stop before and after each write.
actor MortalJournal: ActionJournal {
    private let journal = MemoryActionJournal()
    private let kill: KillSwitch

    init(kill: KillSwitch) { self.kill = kill }

    func save(_ entry: ActionEntry) async throws {
        try kill.step()
        await journal.save(entry)
        try kill.step()
    }

    func entry(_ key: String) async throws -> ActionEntry? {
        try kill.step()
        return await journal.entry(key)
    }

    func entries(limit: Int) async throws -> [ActionEntry] { await journal.entries(limit: limit) }
    func unfinished() async throws -> [ActionEntry] { await journal.unfinished() }
    func remove(before date: Date) async throws { await journal.remove(before: date) }
    func eraseAll() async throws { await journal.eraseAll() }
}
