import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Occurrences of events that other programs wrote.
struct CalendarReadingTests {
    private struct Case {
        let lines: String
        let period: (String, String)
        let starts: [String]
        var zone = ""
    }

    /// A zone that is in no database: two hours east, three from April to October.
    private static let custom = """
        BEGIN:VTIMEZONE
        TZID:Custom Zone
        BEGIN:STANDARD
        DTSTART:20001001T030000
        RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=1SU
        TZOFFSETFROM:+0300
        TZOFFSETTO:+0200
        END:STANDARD
        BEGIN:DAYLIGHT
        DTSTART:20000402T020000
        RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU
        TZOFFSETFROM:+0200
        TZOFFSETTO:+0300
        END:DAYLIGHT
        END:VTIMEZONE

        """

    private static let cases: [String: Case] = [
        "a time that the spring change skips counts with the offset before it": Case(
            lines: "DTSTART;TZID=Europe/Berlin:20270328T023000",
            period: ("2027-03-28T00:00:00Z", "2027-03-29T00:00:00Z"),
            starts: ["2027-03-28T01:30:00Z"]),
        "a time that occurs twice in autumn is the first": Case(
            lines: "DTSTART;TZID=Europe/Berlin:20271031T023000\nDURATION:PT1H",
            period: ("2027-10-31T00:00:00Z", "2027-11-01T00:00:00Z"), starts: ["2027-10-31T00:30:00Z"]),
        "a series keeps its time of day over a change": Case(
            lines: "DTSTART;TZID=America/New_York:20270312T090000\nRRULE:FREQ=DAILY;COUNT=3",
            period: ("2027-03-01T00:00:00Z", "2027-04-01T00:00:00Z"),
            starts: ["2027-03-12T14:00:00Z", "2027-03-13T14:00:00Z", "2027-03-14T13:00:00Z"]),
        "exceptions, additions and an override that moves": Case(
            lines: """
                DTSTART;TZID=Europe/Berlin:20270104T100000
                RRULE:FREQ=WEEKLY;UNTIL=20270131T230000Z
                EXDATE:20270111T090000Z
                RDATE;TZID=Europe/Berlin:20270113T120000
                END:VEVENT
                BEGIN:VEVENT
                UID:u
                RECURRENCE-ID;TZID=Europe/Berlin:20270118T100000
                DTSTART;TZID=Europe/Berlin:20270119T080000
                """,
            period: ("2027-01-01T00:00:00Z", "2027-03-01T00:00:00Z"),
            starts: ["2027-01-04T09:00:00Z", "2027-01-13T11:00:00Z", "2027-01-19T07:00:00Z", "2027-01-25T09:00:00Z"]),
        "a cancelled occurrence is not listed": Case(
            lines: """
                DTSTART:20270104T100000Z
                RRULE:FREQ=DAILY;COUNT=2
                END:VEVENT
                BEGIN:VEVENT
                UID:u
                RECURRENCE-ID:20270104T100000Z
                DTSTART:20270104T100000Z
                STATUS:CANCELLED
                """,
            period: ("2027-01-01T00:00:00Z", "2027-03-01T00:00:00Z"), starts: ["2027-01-05T10:00:00Z"]),
        "a floating time is the device's": Case(
            lines: "DTSTART:20270704T100000", period: ("2027-07-01T00:00:00Z", "2027-08-01T00:00:00Z"),
            starts: ["2027-07-04T08:00:00Z"]),
        "a zone of the file": Case(
            lines: "DTSTART;TZID=Custom Zone:20270704T100000\nRRULE:FREQ=MONTHLY;INTERVAL=6;COUNT=2",
            period: ("2027-01-01T00:00:00Z", "2028-08-01T00:00:00Z"),
            starts: ["2027-07-04T07:00:00Z", "2028-01-04T08:00:00Z"], zone: custom),
        "a path before a zone's name": Case(
            lines: "DTSTART;TZID=/freeassociation.sourceforge.net/Europe/Berlin:20270104T100000",
            period: ("2027-01-01T00:00:00Z", "2027-03-01T00:00:00Z"), starts: ["2027-01-04T09:00:00Z"]),
        "an unknown zone is the device's": Case(
            lines: "DTSTART;TZID=Nowhere:20270104T100000",
            period: ("2027-01-01T00:00:00Z", "2027-03-01T00:00:00Z"), starts: ["2027-01-04T09:00:00Z"]),
        "a long event is listed on its last day": Case(
            lines: "DTSTART:20270104T100000Z\nDTEND:20270301T100000Z",
            period: ("2027-03-01T09:59:59Z", "2027-03-02T00:00:00Z"), starts: ["2027-01-04T10:00:00Z"]),
        "an event without length": Case(
            lines: "DTSTART:20270104T100000Z", period: ("2027-01-04T10:00:00Z", "2027-01-04T10:00:01Z"),
            starts: ["2027-01-04T10:00:00Z"]),
        "an old daily series": Case(
            lines: "DTSTART;TZID=Europe/Berlin:19700105T070000\nRRULE:FREQ=DAILY;INTERVAL=7",
            period: ("2027-01-01T00:00:00Z", "2027-01-08T00:00:00Z"), starts: ["2027-01-04T06:00:00Z"]),
        "a rule of a kind that is not expanded shows its first occurrence": Case(
            lines: "DTSTART:20270517T100000Z\nRRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
            period: ("2027-01-01T00:00:00Z", "2029-01-08T00:00:00Z"), starts: ["2027-05-17T10:00:00Z"]),
        "the last weekday of a month": Case(
            lines: "DTSTART:20270129T100000Z\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3",
            period: ("2027-01-01T00:00:00Z", "2029-01-08T00:00:00Z"),
            starts: ["2027-01-29T10:00:00Z", "2027-02-26T10:00:00Z", "2027-03-31T10:00:00Z"]),
        "the end of a rule is a day of the series' zone": Case(
            lines: "DTSTART;TZID=Pacific/Auckland:20270104T100000\nRRULE:FREQ=DAILY;UNTIL=20270105",
            period: ("2027-01-01T00:00:00Z", "2027-03-01T00:00:00Z"),
            starts: ["2027-01-03T21:00:00Z", "2027-01-04T21:00:00Z"]),
    ]

    @Test(arguments: cases.keys.sorted()) func listsTheOccurrences(name: String) async throws {
        let example = try #require(Self.cases[name])
        let fixture = try CalendarFixture()
        try fixture.write("a/u.ics", event: "UID:u\nSUMMARY:Event\n" + example.lines, zone: example.zone)
        #expect(try await fixture.starts(example.period.0, example.period.1) == example.starts)
        #expect(try await fixture.calendar.unreadableFiles() == [])
    }

    @Test func tellsInvitationsAndRulesThatAreNotExpanded() async throws {
        let fixture = try CalendarFixture()
        try fixture.write("a/1.ics", event: "UID:1\nDTSTART:20270104T100000Z\nORGANIZER;CN=X:mailto:x@example.org")
        try fixture.write("a/2.ics", event: "UID:2\nDTSTART:20270104T100000Z\nRRULE:FREQ=DAILY;BYHOUR=9,10")
        try fixture.write("a/3.ics", event: "UID:3\nDTSTART:20270104T100000Z\nRRULE:FREQ=DAILY")
        let events = try await [
            fixture.calendar.record("1"), fixture.calendar.record("2"), fixture.calendar.record("3"),
        ]
        #expect(events.map { $0?.isInvitation } == [true, false, false])
        #expect(events.map { $0?.repeatsUnexpanded } == [false, true, false])
        // A change keeps the rule, and an invitation its sequence.
        let change = try await fixture.calendar.change(of: "2", to: EventFields(title: "New"))
        #expect(String(decoding: change.after ?? Data(), as: UTF8.self).contains("RRULE:FREQ=DAILY;BYHOUR=9,10\r\n"))
        let moved = try await fixture.calendar.change(of: "1", to: EventFields(start: EventTime(CalendarFixture.now)))
        #expect(!String(decoding: moved.after ?? Data(), as: UTF8.self).contains("SEQUENCE"))
    }

    @Test func movingASeriesMovesItsExceptions() async throws {
        let fixture = try CalendarFixture()
        try fixture.write(
            "a/u.ics",
            event: """
                UID:u
                DTSTART;TZID=Europe/Berlin:20270104T100000
                DTEND;TZID=Europe/Berlin:20270104T110000
                RRULE:FREQ=DAILY;COUNT=4
                EXDATE;TZID=Europe/Berlin:20270105T100000
                END:VEVENT
                BEGIN:VEVENT
                UID:u
                RECURRENCE-ID:20270106T090000Z
                DTSTART:20270106T200000Z
                """)
        let start = EventTime(try CalendarFixture.date("2027-01-04T12:00:00Z"))
        try await fixture.calendar.apply(fixture.calendar.change(of: "u", to: EventFields(start: start)))
        #expect(
            try await fixture.starts("2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z") == [
                "2027-01-04T12:00:00Z", "2027-01-06T20:00:00Z", "2027-01-07T12:00:00Z",
            ])
        #expect(try fixture.text("calendar/a/u.ics").contains("DTEND;TZID=Europe/Berlin:20270104T140000\r\n"))
        let error = await #expect(throws: AssistantError.self) {
            try await fixture.calendar.change(
                of: "u", to: EventFields(start: EventTime(Date(timeIntervalSince1970: 0), isAllDay: true)))
        }
        #expect(error?.code == .unusablePayload)
        // Without a rule the exceptions go, too.
        try await fixture.calendar.apply(fixture.calendar.change(of: "u", to: EventFields(recurrence: "")))
        #expect(try await fixture.starts("2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z") == ["2027-01-04T12:00:00Z"])
        let text = try fixture.text("calendar/a/u.ics")
        for name in ["RRULE", "EXDATE", "RECURRENCE-ID"] {
            #expect(!text.replacing("RRULE:FREQ=YEARLY", with: "").contains(name), "\(name)")
        }
    }

    @Test func theSecondOfTwoEqualTimesIsWrittenInUTC() async throws {
        let fixture = try CalendarFixture()
        let second = try CalendarFixture.date("2027-10-31T01:30:00Z")
        try await fixture.calendar.apply(
            fixture.calendar.creation(of: EventFields(title: "Late", start: EventTime(second)), id: "l"))
        #expect(try fixture.text("calendar/personal/l.ics").contains("DTSTART:20271031T013000Z\r\n"))
        #expect(try await fixture.starts("2027-10-31T00:00:00Z", "2027-11-01T00:00:00Z") == ["2027-10-31T01:30:00Z"])
    }
}
