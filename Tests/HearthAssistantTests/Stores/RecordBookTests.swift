import Foundation
import HearthBase
import HearthDatabase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// A store of an app's own, which has only what a store must have.
private actor OwnStore<Record: UserRecord>: RecordStore {
    private(set) var kept: [String: Record] = [:]

    func records(matching words: String, limit: Int) -> [Record] {
        kept.values.filter { words.isEmpty || $0.displayName.contains(words) }.sorted { $0.id < $1.id }
            .prefix(limit).map(\.self)
    }

    func record(_ id: String) -> Record? { kept[id] }
    func write(_ record: Record?, id: String) { kept[id] = record }
}

private struct OwnCalendar: CalendarStore {
    let store = OwnStore<CalendarEvent>()

    func records(matching words: String, limit: Int) async throws -> [CalendarEvent] {
        await store.records(matching: words, limit: limit)
    }

    func record(_ id: String) async throws -> CalendarEvent? { await store.record(id) }
    func write(_ record: CalendarEvent?, id: String) async throws { await store.write(record, id: id) }
    func occurrences(from: Date, until: Date, limit: Int) async throws -> [EventOccurrence] { [] }
}

/// The plain calls on records, for each kind: in the home folder, and in stores of an app.
@Suite(.timeLimit(.minutes(5))) struct RecordBookTests {
    static let now = Date(timeIntervalSince1970: 1_795_521_600)

    /// Calls `body` with records in a folder, and with records in stores of an app.
    private static func both(_ body: (Records) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let time = TimeSource(clock: ContinuousClock(), now: { now })
        let home = try await AssistantHome(path: folder.path("home"), time: time)
        try await body(home.records)
        await home.database.close()
        let stores = AssistantStores(
            calendar: OwnCalendar(), reminders: OwnStore<Reminder>(), contacts: OwnStore<Contact>(),
            notes: OwnStore<Note>(), habits: OwnStore<Habit>())
        try await body(Records(stores, journal: MemoryActionJournal(), time: time))
    }

    /// A record is added, found, changed, removed, and each step is undone.
    private static func live<Record: UserRecord>(
        _ new: Record, _ path: KeyPath<Records, RecordBook<Record>>,
        _ change: @escaping @Sendable (inout Record) -> Void
    ) async throws {
        try await both { records in
            let book = records[keyPath: path]
            let added = try await book.add(new)
            #expect(try await book.find().map(\.displayName) == ["first"])
            #expect(try await book.find("first").map(\.displayName) == ["first"])
            #expect(try await book.find("nothing") == [])
            let before = try #require(try await book.record(added.id))

            let changed = try await book.change(added.id) { change(&$0) }
            #expect(changed.id == added.id)
            #expect(try await book.find().map(\.displayName) == ["second"])
            let after = try #require(try await book.record(added.id))

            let removed = try await book.remove(added.id)
            #expect(try await book.find() == [])
            for call in [{ try await book.remove(added.id) }, { try await book.change(added.id) { change(&$0) } }] {
                let error = await #expect(throws: AssistantError.self) { _ = try await call() }
                #expect(error?.code == .noSuchRecord)
            }
            #expect(try await records.undo(removed.action).state == .undone)
            #expect(try await book.record(added.id) == after)
            try await records.undo(changed.action)
            #expect(try await book.record(added.id) == before)

            let file = try await book.export()
            #expect(try await book.import(file).added == 0)
            try await book.remove(added.id)
            let imported = try await book.import(file)
            #expect(imported.added == 1 && imported.changed == 0)
            #expect(try await book.find().map(\.displayName) == ["first"])
            try await records.undo(try #require(imported.action))
            #expect(try await book.find() == [])

            // Hostile values and files.
            let error = await #expect(throws: AssistantError.self) { try await book.add(.empty) }
            #expect(error?.code == .unusablePayload)
            for file in ["", "{", "[1]", #"[{"id": 5}]"#, String(repeating: "[", count: 10_000)] {
                let error = await #expect(throws: AssistantError.self) { try await book.import(Data(file.utf8)) }
                #expect(error?.code == .unusableRecord, "\(file.prefix(10))")
            }
            #expect(try await book.find() == [])
            let entries = try await records.actions(limit: 99)
            #expect(entries.allSatisfy { $0.state == .done || $0.state == .undone })
        }
    }

    @Test func eventsLive() async throws {
        let fields = EventFields(
            title: "first", start: EventTime(Self.now, timeZone: "Europe/Berlin"),
            end: EventTime(Self.now + 7200, timeZone: "Europe/Berlin"), location: "here", alarmMinutes: 5)
        try await Self.live(CalendarEvent(fields: fields), \.events) { event in
            (event.fields.title, event.fields.location, event.fields.alarmMinutes) = ("second", nil, nil)
        }
    }

    @Test func remindersLive() async throws {
        try await Self.live(Reminder(title: "first", due: EventTime(Self.now), priority: 1), \.reminders) { reminder in
            (reminder.title, reminder.due, reminder.completed) = ("second", nil, Self.now)
        }
    }

    @Test func notesLive() async throws {
        try await Self.live(Note(title: "first", body: "text"), \.notes) { $0.title = "second" }
    }

    @Test func contactsLive() async throws {
        let contact = Contact(name: "first", numbers: [.init(label: "home", value: "1")], organization: "A")
        try await Self.live(contact, \.contacts) { contact in
            (contact.name, contact.numbers, contact.organization) = ("second", [], "")
        }
    }

    @Test func habitsLive() async throws {
        let days = try ["2026-11-23", "2026-11-24"].map { try #require(CalendarDay($0)) }
        try await Self.live(Habit(name: "first", log: [days[0]: 1]), \.habits) { habit in
            (habit.name, habit.frequency) = ("second", .weekly)
            habit.log[days[1]] = 2.5
        }
    }

    @Test func anIdIsUsedOnce() async throws {
        try await Self.both { records in
            let edit = try await records.notes.add(Note(id: "k", title: "a"))
            #expect(edit.id == "k")
            let error = await #expect(throws: AssistantError.self) {
                try await records.notes.add(Note(id: "k", title: "b"))
            }
            #expect(error?.code == .unusablePayload)
            #expect(try await records.notes.record("k")?.title == "a")
            #expect(try await records.notes.record("k")?.created == Self.now)
        }
    }

    @Test func anotherProgramsChangeIsNotUndone() async throws {
        try await Self.both { records in
            let edit = try await records.reminders.add(Reminder(title: "a"))
            try await records.reminders.change(edit.id) { $0.title = "b" }
            let error = await #expect(throws: AssistantError.self) { try await records.undo(edit.action) }
            #expect(error?.code == .changedElsewhere)
        }
    }

    @Test func aKindWithoutAStoreIsSaid() async throws {
        let records = Records(AssistantStores(), journal: MemoryActionJournal(), time: .system)
        for call in [{ _ = try await records.notes.find() }, { _ = try await records.events.remove("x") }] {
            let error = await #expect(throws: AssistantError.self) { try await call() }
            #expect(error?.code == .noSuchRecord)
        }
    }

    /// The JSON of each kind is read as the same record.
    @Test(arguments: [
        ("2026-11-25", "2026-11-25"), ("1604-02-29", "1604-02-29"), ("2026-11-25T09:00:00Z", "2026-11-25T09:00:00Z"),
        ("2026-11-25T10:00+01:00", "2026-11-25T09:00:00Z"), ("1604-02-29T01:02:03Z", "1604-02-29T01:02:03Z"),
    ])
    func timesKeepTheirForm(text: String, written: String) throws {
        let json = #"{"id": "a", "title": "t", "start": "\#(text)", "timeZone": "Europe/Berlin"}"#
        let event = try RecordJSON.value(CalendarEvent.self, Data(json.utf8))
        #expect(event.fields.start?.text == written)
        #expect(event.fields.start?.isAllDay == (text.count == 10))
        #expect(try RecordJSON.value(CalendarEvent.self, RecordJSON.data(event)) == event)
        let reminder = Reminder(id: "r", title: "t", due: event.fields.start, completed: Self.now)
        #expect(try RecordJSON.value(Reminder.self, RecordJSON.data(reminder)) == reminder)
    }
}
