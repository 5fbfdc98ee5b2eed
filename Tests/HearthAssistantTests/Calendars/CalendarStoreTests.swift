import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Events that Hearth creates, changes and removes.
struct CalendarStoreTests {
    @Test func createsOneFileThatNamesItsZone() async throws {
        let fixture = try CalendarFixture()
        let fields = EventFields(
            title: "Dinner; with Anna, and Béla", start: EventTime(try CalendarFixture.date("2026-12-01T18:00:00Z")),
            location: "Café\nNo. 5", notes: String(repeating: "long ", count: 40), alarmMinutes: 15)
        let change = try await fixture.calendar.creation(of: fields, id: "abc123")
        #expect(change.before == nil && change.collection == "personal")
        #expect(try await fixture.calendar.state(of: change) == .before)
        try await fixture.calendar.apply(change)
        #expect(try await fixture.calendar.state(of: change) == .after)
        // Again: nothing happens.
        try await fixture.calendar.apply(change)
        let text = try fixture.text("calendar/personal/abc123.ics")
        for line in [
            "UID:abc123", "DTSTART;TZID=Europe/Berlin:20261201T190000", "DTEND;TZID=Europe/Berlin:20261201T200000",
            "SUMMARY:Dinner\\; with Anna\\, and Béla", "LOCATION:Café\\nNo. 5", "TRIGGER:-PT15M",
            "DTSTAMP:20261124T120000Z",
            "TZID:Europe/Berlin", "BEGIN:VALARM", "PRODID:-//Hearth//Hearth Assistant//EN",
        ] { #expect(text.contains(line + "\r\n"), "\(line)") }
        let isFolded = text.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 75 }
        #expect(isFolded)
        #expect(text.utf8.count < 1600)
        let event = try #require(try await fixture.calendar.record("abc123"))
        #expect(event.fields.title == fields.title && event.fields.location == fields.location)
        #expect(event.fields.notes == fields.notes && event.fields.alarmMinutes == 15)
        #expect(event.fields.start?.timeZone == "Europe/Berlin" && event.fields.start?.date == fields.start?.date)
        #expect(event.fields.end?.date == fields.start?.date.addingTimeInterval(3600))
        #expect(!event.isInvitation && !event.repeatsUnexpanded)
        try await fixture.calendar.apply(change.inverted)
        #expect(try await fixture.calendar.record("abc123") == nil)
        let names = try LocalFileSystem().contents(of: fixture.folder.path("calendar/personal"))
        #expect(names == [])
    }

    @Test func aRepeatedCreationIsTheSameRecord() async throws {
        let fixture = try CalendarFixture()
        let fields = EventFields(title: "A", start: EventTime(CalendarFixture.now))
        let first = try await fixture.calendar.creation(of: fields, id: "k")
        try await fixture.calendar.apply(first)
        let second = try await fixture.calendar.creation(of: EventFields(title: "B", start: fields.start), id: "k")
        #expect(second.after == first.after)
        #expect(try await fixture.calendar.state(of: second) == .after)
        try await fixture.calendar.apply(second)
        #expect(try await fixture.calendar.record("k")?.fields.title == "A")
    }

    @Test func changesOnlyTheLinesThatChange() async throws {
        let fixture = try CalendarFixture()
        let lines = """
            X-FIRST;X-P="a;b:c":kept,\\;as it is
            UID:o1
            DTSTAMP:20200101T000000Z
            SUMMARY;LANGUAGE=de:Alt
            DTSTART;TZID=Europe/Berlin;X-Q=1:20261130T100000
            DTEND;TZID=Europe/Berlin:20261130T120000
            DESCRIPTION:folded
             \there and
             there
            ATTACH;ENCODING=BASE64;VALUE=BINARY:QUJD
            BEGIN:X-UNKNOWN
            X-INNER:1
            END:X-UNKNOWN
            """
        let before = try fixture.write("office/any-name.ics", event: lines)
        let change = try await fixture.calendar.change(
            of: "o1",
            to: EventFields(title: "Neu", start: EventTime(try CalendarFixture.date("2026-11-30T10:00:00Z"))))
        #expect(change.before == before && change.collection == "office")
        try await fixture.calendar.apply(change)
        let expected = lines.replacing("SUMMARY;LANGUAGE=de:Alt", with: "SUMMARY;LANGUAGE=de:Neu")
            .replacing("DTSTAMP:20200101T000000Z", with: "DTSTAMP:20261124T120000Z")
            .replacing(":20261130T100000", with: ":20261130T110000")
            .replacing(":20261130T120000", with: ":20261130T130000")
            .replacing("BEGIN:X-UN", with: "LAST-MODIFIED:20261124T120000Z\nSEQUENCE:1\nBEGIN:X-UN")
            .replacing("\n", with: "\r\n")
        let text = try fixture.text("calendar/office/any-name.ics")
        #expect(text.contains("BEGIN:VEVENT\r\n" + expected + "\r\nEND:VEVENT\r\n"), "\(text)")
        #expect(text.contains("BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\n"))
        // The undo restores every byte.
        try await fixture.calendar.apply(change.inverted)
        #expect(Data(try fixture.text("calendar/office/any-name.ics").utf8) == before)
    }

    @Test func noChangeIsNoWrite() async throws {
        let fixture = try CalendarFixture()
        let data = try fixture.write("a/x.ics", event: "UID:x\nSUMMARY:Same\nDTSTART:20261130T100000Z")
        let start = EventTime(try CalendarFixture.date("2026-11-30T10:00:00Z"))
        let change = try await fixture.calendar.change(of: "x", to: EventFields(title: "Same", start: start))
        #expect(change.after == data)
    }

    @Test func writesOnlyOverTheContentThatItRead() async throws {
        let fixture = try CalendarFixture()
        try fixture.write("a/x.ics", event: "UID:x\nSUMMARY:One\nDTSTART:20261130T100000Z")
        let change = try await fixture.calendar.change(of: "x", to: EventFields(title: "Two"))
        let other = try fixture.write("a/x.ics", event: "UID:x\nSUMMARY:Three\nDTSTART:20261130T100000Z")
        #expect(try await fixture.calendar.state(of: change) == .other)
        let error = await #expect(throws: AssistantError.self) { try await fixture.calendar.apply(change) }
        #expect(error?.code == .changedElsewhere)
        #expect(Data(try fixture.text("calendar/a/x.ics").utf8) == other)
    }

    @Test func refusesValuesThatMakeNoEvent() async throws {
        let fixture = try CalendarFixture()
        let start = EventTime(CalendarFixture.now)
        let day = EventTime(Date(timeIntervalSince1970: 0), isAllDay: true)
        let cases: [(EventFields, ErrorCode<AssistantStores>)] = [
            (EventFields(title: " ", start: start), .unusablePayload),
            (EventFields(title: "A"), .unusablePayload),
            (
                EventFields(title: "A", start: start, end: EventTime(start.date.addingTimeInterval(-1))),
                .unusablePayload
            ),
            (EventFields(title: "A", start: start, end: day), .unusablePayload),
            (EventFields(title: "A", start: day, end: day), .unusablePayload),
            (EventFields(title: "A", start: EventTime(start.date, timeZone: "Mars/Base")), .unusablePayload),
            (EventFields(title: "A", start: EventTime(start.date, timeZone: "../../etc/passwd")), .unusablePayload),
            (EventFields(title: "A", start: EventTime(Date(timeIntervalSince1970: 1e15))), .unusablePayload),
            (EventFields(title: "A", start: start, alarmMinutes: .max), .unusablePayload),
            (EventFields(title: "A", start: start, recurrence: "every day"), .unusableRecurrence),
            (EventFields(title: "A", start: start, recurrence: "FREQ=YEARLY;BYWEEKNO=20"), .unusableRecurrence),
            (EventFields(title: "A", start: start, recurrence: "FREQ=WEEKLY;BYDAY=MO"), .unusableRecurrence),
            (EventFields(title: "A", start: start, recurrence: "FREQ=DAILY;UNTIL=20200101"), .unusableRecurrence),
            (
                EventFields(title: "A", start: start, recurrence: "FREQ=DAILY;COUNT=3;UNTIL=20300101"),
                .unusableRecurrence
            ),
            (EventFields(title: "A", start: start, recurrence: "FREQ=DAILY\r\nX-EVIL:1"), .unusableRecurrence),
        ]
        for (fields, code) in cases {
            let error = await #expect(throws: AssistantError.self) {
                try await fixture.calendar.creation(of: fields, id: "x")
            }
            #expect(error?.code == code, "\(fields)")
        }
        for name in ["change", "removal"] {
            let error = await #expect(throws: AssistantError.self) {
                name == "change"
                    ? try await fixture.calendar.change(of: "none", to: EventFields(title: "A"))
                    : try await fixture.calendar.removal(of: "none")
            }
            #expect(error?.code == .noSuchRecord)
        }
    }

    @Test func aWholeDayIsWrittenAsADate() async throws {
        let fixture = try CalendarFixture(zone: "Pacific/Auckland")
        let day = EventTime(try CalendarFixture.date("2026-12-24T00:00:00Z"), isAllDay: true)
        try await fixture.calendar.apply(
            fixture.calendar.creation(of: EventFields(title: "Eve", start: day, recurrence: "FREQ=YEARLY"), id: "e"))
        let text = try fixture.text("calendar/personal/e.ics")
        #expect(text.contains("DTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261225\r\n"))
        #expect(!text.contains("VTIMEZONE"))
        // In Auckland the day begins at 11:00 UTC of the day before.
        for (from, until, count) in [
            ("2026-12-23T10:00:00Z", "2026-12-23T11:00:00Z", 0), ("2026-12-23T11:00:00Z", "2026-12-23T11:00:01Z", 1),
            ("2026-12-24T10:59:59Z", "2026-12-24T12:00:00Z", 1), ("2026-12-24T11:00:00Z", "2026-12-24T12:00:00Z", 0),
            ("2027-12-23T00:00:00Z", "2027-12-30T12:00:00Z", 1),
        ] {
            let found = try await fixture.calendar.occurrences(
                from: CalendarFixture.date(from), until: CalendarFixture.date(until), limit: 9)
            #expect(found.count == count, "\(from)")
            #expect(found.allSatisfy { $0.start.isAllDay && $0.end.isAllDay && $0.end.date == $0.start.date + 86_400 })
        }
    }

    @Test func findsTheNearestByTitleWithoutAccents() async throws {
        let fixture = try CalendarFixture()
        try fixture.write("a/1.ics", event: "UID:past\nSUMMARY:Zahnärztin Müller\nDTSTART:20250101T100000Z")
        try fixture.write("a/2.ics", event: "UID:far\nSUMMARY:zahnarztin muller\nDTSTART:20280101T100000Z")
        try fixture.write(
            "a/3.ics", event: "UID:weekly\nSUMMARY:ZAHNÄRZTIN\nDTSTART:20200106T100000Z\nRRULE:FREQ=WEEKLY")
        try fixture.write("a/4.ics", event: "UID:other\nSUMMARY:Friseur\nDTSTART:20261125T100000Z")
        let found = try await fixture.calendar.records(matching: "Zahnarztin", limit: 5)
        #expect(found.map(\.id) == ["weekly", "far", "past"])
        #expect(
            try await fixture.calendar.records(matching: "müller zahn", limit: 1).map(\.id) == [
                "far"
            ])
    }

    @Test func importsAndExportsEachEventWithItsBytes() async throws {
        let fixture = try CalendarFixture()
        let zone =
            "BEGIN:VTIMEZONE\r\nTZID:Home\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0130\r\nTZOFFSETTO:+0130\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
        let one =
            "BEGIN:VEVENT\r\nUID:1/2 é\r\nDTSTART;TZID=Home:20261130T100000\r\nRRULE:FREQ=DAILY;COUNT=2\r\nX-A:fol\r\n ded\r\nEND:VEVENT\r\n"
        let override =
            "BEGIN:VEVENT\r\nUID:1/2 é\r\nRECURRENCE-ID;TZID=Home:20261201T100000\r\nDTSTART;TZID=Home:20261201T120000\r\nEND:VEVENT\r\n"
        let two = "BEGIN:VEVENT\r\nDTSTART:20261130T100000Z\r\nSUMMARY:no id\r\nEND:VEVENT\r\n"
        let todo = "BEGIN:VTODO\r\nUID:t\r\nSUMMARY:Todo\r\nEND:VTODO\r\n"
        let file =
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:PUBLISH\r\n" + zone + one + two + todo + override
            + "END:VCALENDAR\r\n"
        let changes = try await fixture.calendar.importing(Data(file.utf8)).changes
        #expect(changes.map(\.id).first == "1/2 é" && changes.count == 2)
        for change in changes { try await fixture.calendar.apply(change) }
        let first = String(decoding: try #require(changes.first?.after), as: UTF8.self)
        #expect(first == "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + zone + one + override + "END:VCALENDAR\r\n")
        // 10:00 at +01:30, and the override at 12:00.
        #expect(
            try await fixture.starts("2026-11-30T00:00:00Z", "2026-12-03T00:00:00Z") == [
                "2026-11-30T08:30:00Z", "2026-11-30T10:00:00Z", "2026-12-01T10:30:00Z",
            ])
        // Again: the same records, which change nothing.
        let again = try await fixture.calendar.importing(Data(file.utf8)).changes
        #expect(again.allSatisfy { $0.before == $0.after } && again.map(\.id) == changes.map(\.id))
        let exported = String(decoding: try await fixture.calendar.exported(), as: UTF8.self)
        for part in [zone, one, override] { #expect(exported.contains(part)) }
        let reminders = try await fixture.reminders.importing(Data(file.utf8)).changes
        #expect(reminders.map(\.id) == ["t"])
        let error = await #expect(throws: AssistantError.self) {
            try await fixture.calendar.importing(Data("hello".utf8))
        }
        #expect(error?.code == .unusableRecord)
    }
}
