import Foundation
import HearthBase
import Testing

@testable import HearthAssistant

/// The side of Hearth in `scripts/stores/run.sh`, which runs these steps between those of other programs.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["HEARTH_STORES_STEP"] != nil))
struct StoreProgramsTests {
    private let home: Path
    private let step: String
    private let calendar: VdirCalendarStore
    private let reminders: VdirReminderStore
    private let contacts: VdirContactStore

    init() throws {
        let environment = ProcessInfo.processInfo.environment
        home = Path(try #require(environment["HEARTH_STORES"]))
        step = environment["HEARTH_STORES_STEP"] ?? ""
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        calendar = VdirCalendarStore(home: home, timeZone: { zone })
        reminders = VdirReminderStore(home: home, timeZone: { zone })
        contacts = VdirContactStore(home: home)
    }

    @Test func runsItsStep() async throws {
        switch step {
        case "create": try await create()
        case "list": try await list()
        case "change": try await change()
        case "remove": try await remove()
        default: Issue.record("no step is named \(step)")
        }
    }

    private func create() async throws {
        let date = CalendarFixture.date
        let events = [
            "plain": EventFields(
                title: "Grüße, dinner; with Anna", start: EventTime(try date("2026-12-02T18:00:00Z")),
                location: "Café Nr. 5", notes: "Line one\nline two", alarmMinutes: 15),
            "days": EventFields(
                title: "Whole days", start: EventTime(try date("2026-12-05T00:00:00Z"), isAllDay: true),
                end: EventTime(try date("2026-12-07T00:00:00Z"), isAllDay: true)),
            "weekly": EventFields(
                title: "New York weekly",
                start: EventTime(try date("2026-12-01T14:00:00Z"), timeZone: "America/New_York"),
                recurrence: "FREQ=WEEKLY;BYDAY=TU;COUNT=3"),
            "last": EventFields(
                title: "Last workday", start: EventTime(try date("2026-12-31T09:00:00Z"), timeZone: "UTC"),
                recurrence: "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;UNTIL=20270301"),
        ]
        for (id, fields) in events { try await calendar.apply(calendar.creation(of: fields, id: "hearth-" + id)) }
        try await reminders.apply(
            reminders.creation(
                title: "Call Béla", due: EventTime(try date("2026-12-03T08:30:00Z")), alarmMinutes: 10, priority: 1,
                id: "hearth-call"))
        try await reminders.apply(
            reminders.creation(title: "Some day", due: nil, alarmMinutes: nil, priority: 0, id: "hearth-some"))
        let cards = try LocalFileSystem().contents(ofFile: home.joined("import.vcf"), limit: 1 << 20)
        for change in try await contacts.importing(cards).changes { try await contacts.apply(change) }
    }

    private func list() async throws {
        var lines: [String] = []
        let (from, until) = (
            try CalendarFixture.date("2026-12-01T00:00:00Z"), try CalendarFixture.date("2027-01-31T00:00:00Z")
        )
        for one in try await calendar.occurrences(from: from, until: until, limit: 1000) {
            let start = one.start.date.formatted(.iso8601)
            lines.append(
                "event \(one.start.isAllDay ? String(start.prefix(10)) : start) \(one.event.fields.title ?? "")")
        }
        for one in try await reminders.reminders(completed: true, limit: 1000) {
            let due = one.due?.date.formatted(.iso8601) ?? "-"
            lines.append("reminder \(due) \(one.completed == nil ? "open" : "done") \(one.priority) \(one.title)")
        }
        for one in try await contacts.records(matching: "", limit: 1000) {
            let numbers = one.numbers.map { "\($0.label)=\($0.value)" }.joined(separator: ",")
            lines.append("contact \(one.name) \(numbers) \(one.mails.map(\.value).joined(separator: ","))")
        }
        let unreadable = try await [
            calendar.unreadableFiles(), reminders.unreadableFiles(), contacts.unreadableFiles(),
        ]
        lines.append("unreadable \(unreadable.joined().count)")
        try LocalFileSystem().replaceContents(
            of: home.joined("listing.txt"), with: Data((lines.joined(separator: "\n") + "\n").utf8))
    }

    private func change() async throws {
        for event in try await calendar.records(matching: "from other", limit: 9) {
            try await calendar.apply(
                calendar.change(of: event.id, to: EventFields(title: (event.fields.title ?? "") + ", changed")))
        }
        for reminder in try await reminders.reminders(matching: "from other", completed: false, limit: 9) {
            try await reminders.apply(reminders.completion(of: reminder.id, at: CalendarFixture.now))
        }
    }

    private func remove() async throws {
        try await calendar.apply(calendar.removal(of: "hearth-days"))
    }
}
