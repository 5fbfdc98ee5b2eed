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
actor MemoryRecords: RecordStore {
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
        try records.sorted { $0.key < $1.key }.map { try JSONDecoder().decode(type, from: $0.value) }
    }
}

/// A store of values as JSON.
protocol MemoryStore: RecordStore {
    var records: MemoryRecords { get }
}

extension MemoryStore {
    func apply(_ change: RecordChange) async throws { try await records.apply(change) }
    func state(of change: RecordChange) async throws -> RecordState { try await records.state(of: change) }

    func change<Value: Codable & Sendable>(_ kind: StoreKind, _ id: String, to value: Value?) async throws
        -> RecordChange
    {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return RecordChange(
            store: kind, id: id, before: await records.records[id], after: try value.map { try encoder.encode($0) })
    }

    func all<Value: Decodable & Sendable>(_ type: Value.Type) async throws -> [Value] { try await records.values(type) }
}

private let unknown = AssistantError(.noSuchRecord, "no such record")

struct StoredEvent: Codable, Sendable {
    var id: String
    var fields: EventFields
    var isInvitation = false

    var event: CalendarEvent {
        CalendarEvent(id: id, collection: "", fields: fields, isInvitation: isInvitation)
    }
}

struct MemoryCalendar: CalendarStore, MemoryStore {
    var records = MemoryRecords()

    func occurrences(from: Date, until: Date, limit: Int) async throws -> [EventOccurrence] {
        try await all(StoredEvent.self).compactMap { stored in
            guard let start = stored.fields.start else { return nil }
            let end = stored.fields.end ?? EventTime(start.date + 3600, timeZone: start.timeZone)
            guard start.date < until, end.date > from else { return nil }
            return EventOccurrence(event: stored.event, start: start, end: end)
        }.sorted { $0.start.date < $1.start.date }.prefix(limit).map(\.self)
    }

    func event(_ id: String) async throws -> CalendarEvent? {
        try await all(StoredEvent.self).first { $0.id == id }?.event
    }

    func events(titled words: String, near date: Date, limit: Int) async throws -> [CalendarEvent] {
        try await all(StoredEvent.self).map(\.event).filter {
            SearchText.folded($0.fields.title ?? "").contains(SearchText.folded(words))
        }.prefix(limit).map(\.self)
    }

    func creation(of fields: EventFields, id: String) async throws -> RecordChange {
        if let start = fields.start, let end = fields.end, end.date <= start.date {
            throw AssistantError(.unusablePayload, "the end is not after the start")
        }
        return try await change(.calendar, id, to: StoredEvent(id: id, fields: fields))
    }

    func change(of id: String, to fields: EventFields) async throws -> RecordChange {
        guard var stored = try await all(StoredEvent.self).first(where: { $0.id == id }) else { throw unknown }
        stored.fields.title = fields.title ?? stored.fields.title
        stored.fields.start = fields.start ?? stored.fields.start
        stored.fields.end = fields.end ?? stored.fields.end
        stored.fields.location = fields.location ?? stored.fields.location
        return try await change(.calendar, id, to: stored)
    }

    func removal(of id: String) async throws -> RecordChange {
        guard try await event(id) != nil else { throw unknown }
        return try await change(.calendar, id, to: StoredEvent?.none)
    }
}

struct StoredReminder: Codable, Sendable {
    var id: String
    var title: String
    var due: EventTime?
    var alarmMinutes: Int?
    var priority: Int
    var completed: Date?

    var reminder: Reminder {
        Reminder(
            id: id, collection: "", title: title, due: due, alarmMinutes: alarmMinutes, priority: priority,
            completed: completed)
    }
}

struct MemoryReminders: ReminderStore, MemoryStore {
    var records = MemoryRecords()

    func reminders(completed: Bool, limit: Int) async throws -> [Reminder] {
        try await all(StoredReminder.self).map(\.reminder).filter { completed || $0.completed == nil }
            .prefix(limit).map(\.self)
    }

    func reminder(_ id: String) async throws -> Reminder? {
        try await reminders(completed: true, limit: .max).first { $0.id == id }
    }

    func reminders(titled words: String, completed: Bool, limit: Int) async throws -> [Reminder] {
        try await reminders(completed: completed, limit: .max).filter {
            SearchText.folded($0.title).contains(SearchText.folded(words))
        }.prefix(limit).map(\.self)
    }

    func creation(
        title: String, due: EventTime?, alarmMinutes: Int?, priority: Int, id: String
    ) async throws -> RecordChange {
        try await change(
            .reminders, id,
            to: StoredReminder(id: id, title: title, due: due, alarmMinutes: alarmMinutes, priority: priority))
    }

    func completion(of id: String, at date: Date) async throws -> RecordChange {
        guard var stored = try await all(StoredReminder.self).first(where: { $0.id == id }) else { throw unknown }
        stored.completed = date
        return try await change(.reminders, id, to: stored)
    }

    func removal(of id: String) async throws -> RecordChange {
        try await change(.reminders, id, to: StoredReminder?.none)
    }
}

struct MemoryNotes: NoteStore, MemoryStore {
    var records = MemoryRecords()

    func notes(limit: Int) async throws -> [Note] { try await all(Note.self).prefix(limit).map(\.self) }

    func note(_ id: String) async throws -> Note? { try await all(Note.self).first { $0.id == id } }

    func notes(matching words: String, limit: Int) async throws -> [Note] {
        try await all(Note.self).filter {
            SearchText.folded($0.title + " " + $0.body).contains(SearchText.folded(words))
        }.prefix(limit).map(\.self)
    }

    func creation(title: String, body: String, id: String, at date: Date) async throws -> RecordChange {
        try await change(.notes, id, to: Note(id: id, title: title, body: body, created: date, changed: date))
    }

    func appending(_ text: String, to id: String, at date: Date) async throws -> RecordChange {
        guard var note = try await note(id) else { throw unknown }
        note.body += "\n\n" + text
        note.changed = date
        return try await change(.notes, id, to: note)
    }

    func removal(of id: String) async throws -> RecordChange { try await change(.notes, id, to: Note?.none) }
}

struct MemoryHabits: HabitStore, MemoryStore {
    var records = MemoryRecords()

    func habits() async throws -> [Habit] { try await all(Habit.self) }

    func habit(named name: String) async throws -> Habit? {
        try await habits().first { SearchText.folded($0.name) == SearchText.folded(name) }
    }

    func definition(name: String, frequency: HabitFrequency, id: String, at date: Date) async throws -> RecordChange {
        var habit = try await habit(named: name) ?? Habit(id: id, name: name, frequency: frequency, created: date)
        habit.frequency = frequency
        return try await change(.habits, habit.id, to: habit)
    }

    func logging(_ name: String, on day: CalendarDay, amount: Double) async throws -> RecordChange {
        guard var habit = try await habit(named: name) else { throw unknown }
        habit.log[day, default: 0] += amount
        return try await change(.habits, habit.id, to: habit)
    }

    func removal(of id: String) async throws -> RecordChange { try await change(.habits, id, to: Habit?.none) }
}

struct MemoryContacts: ContactStore {
    var contacts: [Contact] = []

    func contacts(matching words: String, limit: Int) async throws -> [Contact] {
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
