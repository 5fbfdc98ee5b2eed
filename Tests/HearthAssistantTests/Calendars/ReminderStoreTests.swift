import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Reminders that Hearth creates and completes, and those of other programs.
struct ReminderStoreTests {
    @Test func createsCompletesAndUndoes() async throws {
        let fixture = try CalendarFixture()
        let due = EventTime(try CalendarFixture.date("2026-11-25T08:00:00Z"))
        let change = try await fixture.reminders.creation(
            title: "Call Anna", due: due, alarmMinutes: 10, priority: 1, id: "r1")
        try await fixture.reminders.apply(change)
        let text = try fixture.text("reminders/personal/r1.ics")
        for line in [
            "SUMMARY:Call Anna", "DUE;TZID=Europe/Berlin:20261125T090000", "STATUS:NEEDS-ACTION", "PRIORITY:1",
            "TRIGGER;RELATED=END:-PT10M", "UID:r1", "BEGIN:VTODO",
        ] { #expect(text.contains(line + "\r\n"), "\(line)") }
        let reminder = try #require(try await fixture.reminders.record("r1"))
        #expect(reminder.title == "Call Anna" && reminder.due?.date == due.date && reminder.alarmMinutes == 10)
        #expect(reminder.priority == 1 && reminder.completed == nil && reminder.collection == "personal")
        let completion = try await fixture.reminders.completion(of: "r1", at: CalendarFixture.now)
        try await fixture.reminders.apply(completion)
        #expect(try await fixture.reminders.record("r1")?.completed == CalendarFixture.now)
        let done = try fixture.text("reminders/personal/r1.ics")
        for line in ["STATUS:COMPLETED", "PERCENT-COMPLETE:100", "COMPLETED:20261124T120000Z"] {
            #expect(done.contains(line + "\r\n"), "\(line)")
        }
        #expect(try await fixture.reminders.reminders(completed: false, limit: 9) == [])
        #expect(try await fixture.reminders.reminders(completed: true, limit: 9).map(\.id) == ["r1"])
        // Completing again changes nothing.
        let again = try await fixture.reminders.completion(of: "r1", at: CalendarFixture.now + 60)
        #expect(again.before == again.after)
        try await fixture.reminders.apply(completion.inverted)
        #expect(Data(try fixture.text("reminders/personal/r1.ics").utf8) == change.after)
    }

    @Test func ordersByDueTime() async throws {
        let fixture = try CalendarFixture()
        for (id, lines) in [
            ("none", "SUMMARY:No time"), ("late", "SUMMARY:B\nDUE:20270101T000000Z"),
            ("day", "SUMMARY:Day\nDUE;VALUE=DATE:20261125"),
            ("soon", "SUMMARY:A\nDUE;TZID=Europe/Berlin:20261124T130000"),
            ("start", "SUMMARY:Length\nDTSTART:20261126T000000Z\nDURATION:PT1H"),
            ("old", "SUMMARY:Done first\nCOMPLETED:20260101T000000Z\nSTATUS:COMPLETED"),
            ("new", "SUMMARY:Done last\nCOMPLETED:20260601T000000Z"), ("percent", "SUMMARY:All\nPERCENT-COMPLETE:100"),
            ("cancelled", "SUMMARY:Off\nSTATUS:CANCELLED"),
            ("asked", "SUMMARY:Asked\nORGANIZER:mailto:a@example.org\nDUE:20280101T000000Z"),
        ] { try fixture.write("list/\(id).ics", event: "UID:\(id)\n" + lines, kind: "VTODO") }
        let open = try await fixture.reminders.reminders(completed: false, limit: 99)
        #expect(open.map(\.id) == ["soon", "day", "start", "late", "asked", "none"])
        #expect(open.map(\.isInvitation) == [false, false, false, false, true, false])
        #expect(open[1].due?.isAllDay == true)
        #expect(open[2].due?.date == (try CalendarFixture.date("2026-11-26T01:00:00Z")))
        let all = try await fixture.reminders.reminders(completed: true, limit: 99)
        #expect(all.dropFirst(6).map(\.id) == ["new", "old", "cancelled", "percent"])
        #expect(
            try await fixture.reminders.reminders(matching: "time", completed: false, limit: 9).map(\.id) == ["none"])
        #expect(try await fixture.reminders.reminders(matching: "done", completed: false, limit: 9) == [])
        let done = try await fixture.reminders.reminders(matching: "done", completed: true, limit: 9)
        #expect(done.map(\.id) == ["new", "old"])
    }

    @Test func aRepetitionIsWrittenMovedAndEnded() async throws {
        let fixture = try CalendarFixture()
        let due = EventTime(try CalendarFixture.date("2026-11-30T08:00:00Z"))
        let reminder = Reminder(
            id: "r", title: "Water", due: due, recurrence: "FREQ=WEEKLY;BYDAY=MO;UNTIL=20261214")
        try await fixture.reminders.apply(try await fixture.reminders.creation(of: reminder))
        let text = try fixture.text("reminders/personal/r.ics")
        for line in [
            "DTSTART;TZID=Europe/Berlin:20261130T090000", "DUE;TZID=Europe/Berlin:20261130T090000",
            "RRULE:FREQ=WEEKLY;BYDAY=MO;UNTIL=20261214T225959Z",
        ] { #expect(text.contains(line + "\r\n"), "\(line)") }
        try await fixture.reminders.apply(try await fixture.reminders.completion(of: "r", at: CalendarFixture.now))
        let next = try #require(try await fixture.reminders.record("r"))
        #expect(next.completed == nil && next.due?.date == due.date + 7 * 86_400)
        // A later time of day moves the start as well; the rule stays.
        let later = EventTime(due.date + 7 * 86_400 + 3600)
        try await fixture.reminders.apply(try await fixture.reminders.change(of: "r") { $0.due = later })
        #expect(try fixture.text("reminders/personal/r.ics").contains("DTSTART;TZID=Europe/Berlin:20261207T100000\r\n"))
        #expect(try await fixture.reminders.record("r")?.recurrence == "FREQ=WEEKLY;BYDAY=MO;UNTIL=20261214T225959Z")
        try await fixture.reminders.apply(
            try await fixture.reminders.change(of: "r") { $0.recurrence = "FREQ=DAILY;COUNT=2" })
        #expect(try await fixture.reminders.record("r")?.recurrence == "FREQ=DAILY;COUNT=2")
        await #expect { try await fixture.reminders.change(of: "r") { $0.due = nil } } throws: {
            ($0 as? AssistantError)?.code == .unusablePayload && ($0 as? AssistantError)?.context.field == "due"
        }
        await #expect {
            try await fixture.reminders.change(of: "r") { $0.recurrence = "FREQ=WEEKLY;BYDAY=FR" }
        } throws: {
            ($0 as? AssistantError)?.code == .unusableRecurrence
                && ($0 as? AssistantError)?.context.field == "recurrence"
        }
        try await fixture.reminders.apply(
            try await fixture.reminders.change(of: "r") { ($0.recurrence, $0.due) = (nil, nil) })
        #expect(try await fixture.reminders.record("r")?.recurrence == nil)
        await #expect {
            try await fixture.reminders.creation(of: Reminder(id: "n", title: "Water", recurrence: "FREQ=DAILY"))
        } throws: { ($0 as? AssistantError)?.context.field == "due" }
    }

    /// A rule that Hearth does not create stays byte for byte when other values change.
    @Test func aRuleOfAnotherProgramStays() async throws {
        let fixture = try CalendarFixture()
        let rule = "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1;X-OWN=1"
        try fixture.write(
            "a/s.ics", event: "UID:s\nSUMMARY:Pay\nDUE:20261130T080000Z\nRRULE:\(rule)", kind: "VTODO")
        #expect(try await fixture.reminders.record("s")?.recurrence == rule)
        try await fixture.reminders.apply(try await fixture.reminders.change(of: "s") { $0.title = "Pay rent" })
        #expect(try fixture.text("reminders/a/s.ics").contains("RRULE:\(rule)\r\n"))
    }

    /// The file of another program, with its line endings, gets the new due time and the zone that it names.
    @Test(arguments: ["\r\n", "\n"]) func aNewDueTimeBringsItsZone(ending: String) async throws {
        let fixture = try CalendarFixture()
        try fixture.write("a/z.ics", event: "UID:z\nSUMMARY:Pay\nX-OWN:kept", kind: "VTODO")
        try fixture.folder.write(
            "reminders/a/z.ics", Data(try fixture.text("reminders/a/z.ics").replacing("\r\n", with: ending).utf8))
        let due = EventTime(try CalendarFixture.date("2026-11-25T08:00:00Z"))
        let change = try await fixture.reminders.change(
            of: "z"
        ) { ($0.due, $0.alarmMinutes, $0.priority) = (due, 10, 2) }
        try await fixture.reminders.apply(change)
        let text = try fixture.text("reminders/a/z.ics")
        #expect(text.components(separatedBy: "BEGIN:VTIMEZONE").count == 2)
        for line in [
            "TZID:Europe/Berlin", "DUE;TZID=Europe/Berlin:20261125T090000", "PRIORITY:2", "X-OWN:kept", "SEQUENCE:1",
        ] { #expect(text.contains(ending + line + ending), "\(line)") }
        #expect(text.replacing(ending, with: "").unicodeScalars.allSatisfy { $0 != "\r" && $0 != "\n" })
        #expect(try await fixture.reminders.record("z")?.due?.date == due.date)
        // The same values again change nothing.
        let again = try await fixture.reminders.change(
            of: "z"
        ) { ($0.title, $0.due, $0.alarmMinutes, $0.priority) = ("Pay", due, 10, 2) }
        #expect(again.after == again.before)
    }

    /// A time that names no zone keeps the clock of the time before.
    @Test func aMovedDueTimeKeepsItsClock() async throws {
        let fixture = try CalendarFixture()
        try fixture.write("a/u.ics", event: "UID:u\nSUMMARY:Pay\nDUE;X-OWN=1:20261125T080000Z", kind: "VTODO")
        let due = EventTime(try CalendarFixture.date("2026-11-26T08:00:00Z"))
        let change = try await fixture.reminders.change(
            of: "u"
        ) { $0.due = due }
        try await fixture.reminders.apply(change)
        let text = try fixture.text("reminders/a/u.ics")
        #expect(text.contains("\r\nDUE;X-OWN=1:20261126T080000Z\r\n") && !text.contains("VTIMEZONE"))
    }

    @Test func aRepeatingReminderMovesToItsNextTime() async throws {
        let fixture = try CalendarFixture()
        try fixture.write(
            "a/w.ics",
            event:
                "UID:w\nSUMMARY:Water\nDTSTART;TZID=Europe/Berlin:20270326T080000\nDUE;TZID=Europe/Berlin:20270326T090000\nRRULE:FREQ=WEEKLY;COUNT=3\nEXDATE;TZID=Europe/Berlin:20270402T080000",
            kind: "VTODO")
        try await fixture.reminders.apply(fixture.reminders.completion(of: "w", at: CalendarFixture.now))
        let text = try fixture.text("reminders/a/w.ics")
        #expect(text.contains("DTSTART;TZID=Europe/Berlin:20270409T080000\r\n"))
        #expect(text.contains("DUE;TZID=Europe/Berlin:20270409T090000\r\n"))
        let open = try #require(try await fixture.reminders.record("w"))
        #expect(open.completed == nil)
        #expect(open.due?.date == (try CalendarFixture.date("2027-04-09T07:00:00Z")))
    }

    @Test func refusesValuesThatMakeNoReminder() async throws {
        let fixture = try CalendarFixture()
        let due = EventTime(CalendarFixture.now)
        let cases: [(String, EventTime?, Int?, Int)] = [
            ("", due, nil, 0), ("A", due, nil, 10), ("A", due, nil, -1), ("A", nil, 5, 0), ("A", due, 999_999, 0),
            ("A", EventTime(CalendarFixture.now, timeZone: "Nowhere"), nil, 0),
        ]
        for (title, due, alarm, priority) in cases {
            let error = await #expect(throws: AssistantError.self) {
                try await fixture.reminders.creation(
                    title: title, due: due, alarmMinutes: alarm, priority: priority, id: "x")
            }
            #expect(error?.code == .unusablePayload)
        }
        let error = await #expect(throws: AssistantError.self) {
            try await fixture.reminders.completion(of: "none", at: CalendarFixture.now)
        }
        #expect(error?.code == .noSuchRecord)
    }
}
