import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthApple
@testable import HearthAssistant

/// A reminder database in memory that moves completed repeating reminders as the system does.
private final class FakeReminders: ReminderDatabase {
    private struct Values {
        var reminders: [String: SystemReminder] = [:]
        var count = 0
        var failure: SystemStoreError?
    }

    private let values = Locked(Values())
    private let list = SystemList(identifier: "inbox", title: "Inbox")

    var all: [SystemReminder] {
        values.withLock { values in values.reminders.values.sorted { $0.identifier < $1.identifier } }
    }

    func fail(_ failure: SystemStoreError?) { values.withLock { $0.failure = failure } }
    func change(_ reminder: SystemReminder) { values.withLock { $0.reminders[reminder.identifier] = reminder } }
    func reminder(_ identifier: String) async throws -> SystemReminder? { values.withLock { $0.reminders[identifier] } }

    func reminders() async throws -> [SystemReminder] {
        try values.withLock { values in
            if let failure = values.failure { throw failure }
            return Array(values.reminders.values)
        }
    }

    func list(_ identifier: String) async throws -> SystemList? { identifier == list.identifier ? list : nil }
    func standardList() async throws -> SystemList? { list }

    func save(_ reminder: SystemReminder) async throws -> String {
        values.withLock { values in
            var reminder = reminder
            if reminder.identifier.isEmpty {
                values.count += 1
                reminder.identifier = "ek-\(values.count)"
            }
            if reminder.isCompleted, !reminder.rules.isEmpty, let day = reminder.due?.day {
                var done = reminder
                values.count += 1
                done.identifier = "ek-\(values.count)"
                done.rules = []
                values.reminders[done.identifier] = done
                reminder.due?.day = day + 7
                (reminder.isCompleted, reminder.completed) = (false, nil)
            }
            values.reminders[reminder.identifier] = reminder
            return reminder.identifier
        }
    }

    func remove(_ identifier: String) async throws { values.withLock { $0.reminders[identifier] = nil } }
}

@Suite struct SystemRemindersTests {
    private static let berlin = TimeZone(identifier: "Europe/Berlin") ?? .gmt
    private let permission = Permission()
    private let database = FakeReminders()
    private let clock = ManualClock(start: Self.date("2026-11-24T08:00:00Z"))
    private let store: SystemReminders
    private let records: Records

    init() {
        store = SystemReminders(database, access: permission.access(.reminders), zone: { Self.berlin })
        records = Records(AssistantStores(reminders: store), journal: MemoryActionJournal(), time: clock.time)
    }

    static func date(_ text: String) -> Date { Timestamp(text)?.date ?? .distantPast }

    private func due(_ text: String, zone: String? = nil) -> EventTime {
        text.count == 10
            ? EventTime(Self.date(text + "T00:00:00Z"), isAllDay: true) : EventTime(Self.date(text), timeZone: zone)
    }

    @Test(arguments: [
        ("2026-11-25T14:00:00Z", "Europe/Berlin"), ("2026-11-25T14:00:00Z", nil),
        ("2026-07-01T00:30:00Z", "America/New_York"),
        ("2026-03-29T01:30:00Z", "Europe/Berlin"), ("2026-11-25", nil), (nil, nil),
    ])
    func aReminderComesBackAsItWasAdded(_ time: String?, _ zone: String?) async throws {
        let reminder = Reminder(
            title: "Call Anna", due: time.map { due($0, zone: zone) }, alarmMinutes: time == nil ? nil : 15, priority: 1
        )
        let edit = try await records.reminders.add(reminder)
        var expected = reminder
        (expected.id, expected.collection) = (edit.id, "inbox")
        #expect(try await records.reminders.record(edit.id) == expected)
    }

    @Test func aReminderRingsWhenItIsDue() async throws {
        let time = Self.date("2026-11-25T14:00:00Z")
        try await records.reminders.add(Reminder(title: "A", due: EventTime(time), alarmMinutes: 30))
        #expect(database.all.first?.alarms == [.absolute(time), .absolute(time - 1800)])
        // The alarms of a repeating one move with it.
        try await records.reminders.add(
            Reminder(title: "B", due: EventTime(time), recurrence: "FREQ=WEEKLY", alarmMinutes: 30))
        #expect(database.all.last?.alarms == [.relative(0), .relative(-1800)])
        #expect(database.all.last?.record(id: "", in: Self.berlin).alarmMinutes == 30)
    }

    @Test func aRemovedDueTimeTakesTheAlarmsAlong() async throws {
        let edit = try await records.reminders.add(
            Reminder(title: "A", due: due("2026-11-25T14:00:00Z"), recurrence: "FREQ=DAILY", alarmMinutes: 5))
        #expect(await code { try await records.reminders.change(edit.id) { $0.due = nil } } == "unusable-payload")
        try await records.reminders.change(edit.id) { ($0.due, $0.recurrence, $0.alarmMinutes) = (nil, nil, nil) }
        let kept = try #require(database.all.first)
        #expect(kept.due == nil && kept.alarms.isEmpty && kept.rules.isEmpty)
    }

    @Test func aReminderIsCompletedAndOpenedAgain() async throws {
        let edit = try await records.reminders.add(Reminder(title: "A", due: due("2026-11-25T14:00:00Z")))
        let now = clock.time.now
        let done = try await records.reminders.change(edit.id) { $0.completed = now }
        #expect(database.all.map(\.isCompleted) == [true])
        #expect(database.all.first?.completed == now)
        try await records.undo(done.action)
        #expect(database.all.map(\.isCompleted) == [false])
    }

    @Test func aCompletedRepeatingReminderMovesAndComesBack() async throws {
        let time = due("2026-11-20T14:00:00Z", zone: "Europe/Berlin")
        let edit = try await records.reminders.add(
            Reminder(title: "Water the plants", due: time, recurrence: "FREQ=WEEKLY"))
        let now = clock.time.now
        let done = try await records.reminders.change(edit.id) { $0.completed = now }
        let moved = try #require(try await records.reminders.record(edit.id))
        #expect(moved.due?.date == time.date + 7 * 86_400)
        #expect(moved.completed == nil)
        try await records.undo(done.action)
        #expect(try await records.reminders.record(edit.id)?.due == time)
    }

    @Test func aMovedReminderWithOtherWordsWasChangedElsewhere() async throws {
        let time = due("2026-11-20T14:00:00Z", zone: "Europe/Berlin")
        let edit = try await records.reminders.add(Reminder(title: "Water", due: time, recurrence: "FREQ=WEEKLY"))
        let now = clock.time.now
        let done = try await records.reminders.change(edit.id) { $0.completed = now }
        var moved = try #require(database.all.first { !$0.isCompleted })
        moved.title = "Water and feed"
        database.change(moved)
        #expect(await code { try await records.undo(done.action) } == "changed-elsewhere")
    }

    @Test func openOnesAreFirstByTheirTime() async throws {
        for (title, time) in [
            ("late", "2026-12-01T10:00:00Z"), ("whole day", "2026-11-25"), ("early", "2026-11-25T10:00:00Z"),
        ] {
            try await records.reminders.add(Reminder(title: title, due: due(time)))
        }
        try await records.reminders.add(Reminder(title: "some day"))
        for (title, time) in [("done first", "2026-11-01T10:00:00Z"), ("done last", "2026-11-02T10:00:00Z")] {
            try await records.reminders.add(Reminder(title: title, completed: Self.date(time)))
        }
        let found = try await records.reminders.find().map(\.title)
        #expect(found == ["whole day", "early", "late", "some day", "done last", "done first"])
        #expect(try await records.reminders.find("DONE").count == 2)
    }

    @Test func oneCompletedWithoutATimeIsNotOpen() async throws {
        database.change(SystemReminder(identifier: "x", title: "A", isCompleted: true))
        #expect(try await records.reminders.record("x")?.completed != nil)
    }

    @Test(arguments: [("priority", 10), ("priority", -1)])
    func unusableValuesAreRefused(_ field: String, _ priority: Int) async {
        let found = await code { try await records.reminders.add(Reminder(title: "A", priority: priority)) }
        #expect(found == "unusable-payload")
        #expect(
            await code { try await records.reminders.add(Reminder(title: "A", alarmMinutes: 5)) } == "unusable-payload")
        #expect(
            await code { try await records.reminders.add(Reminder(collection: "nowhere", title: "A")) }
                == "unusable-payload")
    }

    @Test func aPermissionWithdrawnInMidUseChangesNothing() async throws {
        let edit = try await records.reminders.add(Reminder(title: "A"))
        permission.state = .restricted
        #expect(await code { try await records.reminders.remove(edit.id) } == "access-restricted")
        #expect(await code { try await records.undo(edit.action) } == "access-restricted")
        permission.state = .full
        database.fail(.notAuthorized)
        #expect(await code { _ = try await records.reminders.find() } == "access-denied")
        database.fail(nil)
        try await records.undo(edit.action)
        #expect(database.all.isEmpty)
    }
}
