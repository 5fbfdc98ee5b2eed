import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// The alarms of files, of Hearth and of other programs.
struct AlarmReadingTests {
    /// The moments, seconds after 2026-11-24T12:00:00Z, at which an item with these lines rings within four days.
    private static func moments(_ kind: String, _ lines: String) async throws -> [Int] {
        let fixture = try CalendarFixture()
        try fixture.write("personal/a.ics", event: "UID:a\nSUMMARY:A\n\(lines)", kind: kind)
        let now = Int(CalendarFixture.now.timeIntervalSince1970)
        let until = now + 4 * 86_400
        let alarms =
            kind == "VTODO"
            ? try await fixture.reminders.alarms(after: now - 1, until: until)
            : try await fixture.calendar.alarms(after: now - 1, until: until)
        return alarms.map { $0.moment - now }
    }

    private static func alarm(_ lines: String) -> String { "BEGIN:VALARM\n\(lines)\nEND:VALARM" }

    @Test(
        arguments: [
            ("DUE:20261124T130000Z", [3600]), ("DUE:20261124T120000Z", [0]), ("DUE:20261124T115959Z", []),
            // Berlin is an hour ahead; whole days ring at nine.
            ("DUE;TZID=Europe/Berlin:20261124T140000", [3600]), ("DUE;VALUE=DATE:20261125", [72_000]),
            ("DUE:20261124T130000Z\nSTATUS:COMPLETED", []), ("DUE:20261124T130000Z\nSTATUS:CANCELLED", []),
            ("STATUS:NEEDS-ACTION", []), ("DTSTART:20261124T130000Z\nDURATION:PT1H", [7200]),
            ("DUE:20261124T130000Z\n" + alarm("ACTION:DISPLAY\nTRIGGER;RELATED=END:-PT10M"), [3000, 3600]),
            ("DUE:20261124T130000Z\n" + alarm("ACTION:AUDIO\nTRIGGER:PT0S"), [3600]),
            ("DUE:20261124T130000Z\n" + alarm("ACTION:EMAIL\nTRIGGER:-PT10M"), [3600]),
            (
                "DUE:20261124T130000Z\n"
                    + alarm("ACTION:DISPLAY\nTRIGGER;VALUE=DATE-TIME:20261125T120000Z"), [3600, 86_400]
            ),
            // A person has answered it on another device.
            (
                "DUE:20261124T130000Z\n"
                    + alarm("ACTION:DISPLAY\nTRIGGER;RELATED=END:PT0S\nACKNOWLEDGED:20261124T130005Z"), []
            ),
            ("DUE:20261124T130000Z\n" + alarm("ACTION:DISPLAY\nTRIGGER:nonsense"), [3600]),
            ("DUE:20261124T130000Z\n" + alarm("ACTION:DISPLAY\nTRIGGER:-P9999W"), [3600]),
        ] as [(String, [Int])])
    func remindersRing(lines: String, moments: [Int]) async throws {
        #expect(try await Self.moments("VTODO", lines) == moments)
    }

    @Test(
        arguments: [
            // Events ring only at their alarms.
            ("DTSTART:20261124T130000Z\nDTEND:20261124T140000Z", "", []),
            ("DTSTART:20261124T130000Z\nDTEND:20261124T140000Z", "TRIGGER:-PT15M", [2700]),
            ("DTSTART:20261124T130000Z\nDTEND:20261124T140000Z", "TRIGGER;RELATED=END:PT5M", [7500]),
            ("DTSTART:20261130T130000Z\nDTEND:20261130T140000Z", "TRIGGER:-P5D", [90_000]),
            ("DTSTART:20261124T130000Z\nDTEND:20261124T140000Z\nSTATUS:CANCELLED", "TRIGGER:-PT15M", []),
            (
                "DTSTART:20261120T130000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY", "TRIGGER:-PT1H",
                [0, 86_400, 172_800, 259_200, 345_600]
            ),
            (
                "DTSTART:20261120T130000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY\nEXDATE:20261125T130000Z", "TRIGGER:-PT1H",
                [0, 172_800, 259_200, 345_600]
            ),
            ("DTSTART;VALUE=DATE:20261125", "TRIGGER:-PT1H", [36_000]),
            ("DTSTART:20270301T130000Z\nDURATION:PT1H", "TRIGGER;VALUE=DATE-TIME:20261124T123000Z", [1800]),
            (
                "DTSTART:20261124T130000Z\nDTEND:20261124T140000Z",
                "TRIGGER:-PT15M\nACKNOWLEDGED:20261124T124501Z", []
            ),
        ] as [(String, String, [Int])])
    func eventsRingAtTheirAlarms(lines: String, trigger: String, moments: [Int]) async throws {
        let alarm = trigger.isEmpty ? "" : "\n" + Self.alarm("ACTION:DISPLAY\n\(trigger)")
        #expect(try await Self.moments("VEVENT", lines + alarm) == moments)
    }

    @Test func aHundredAlarmsOfAnItemAreBounded() async throws {
        let alarms = (1...100).map { Self.alarm("ACTION:DISPLAY\nTRIGGER:-PT\($0)M") }.joined(separator: "\n")
        let found = try await Self.moments("VEVENT", "DTSTART:20261124T150000Z\nDURATION:PT1H\n\(alarms)")
        #expect(found.count == ItemAlarm.limit)
    }

    @Test func theRecordOfAnotherCalendarHasItsSource() async throws {
        let fixture = try CalendarFixture()
        try fixture.write("team/a.ics", event: "UID:a\nSUMMARY:Secret\nDUE:20261124T130000Z", kind: "VTODO")
        let now = Int(CalendarFixture.now.timeIntervalSince1970)
        let alarm = try #require(try await fixture.reminders.alarms(after: now, until: now + 7200).first)
        #expect(alarm.source == "reminders team")
        let ring = Ring(alarm, rings: alarm.moment, isLate: false)
        #expect(ring.title == nil && ring.collection == "team")
        #expect(ring.due == "2026-11-24T13:00:00Z")
    }
}
