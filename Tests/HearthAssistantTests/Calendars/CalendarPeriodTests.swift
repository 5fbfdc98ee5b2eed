import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Occurrences whose lengths the calendar gives one by one.
struct CalendarPeriodTests {
    @Test func aPeriodKeepsItsLength() async throws {
        let fixture = try CalendarFixture()
        try fixture.write(
            "a/u.ics",
            event: "UID:u\nDTSTART:20260302T090000Z\nDURATION:PT1H\n"
                + "RDATE;VALUE=PERIOD:20260305T090000Z/PT2H,20260306T090000Z/20260306T120000Z\nRDATE:20260307T090000Z")
        func lengths() async throws -> [Int] {
            try await fixture.calendar.occurrences(
                from: CalendarFixture.date("2026-03-01T00:00:00Z"), until: CalendarFixture.date("2026-04-01T00:00:00Z"),
                limit: 9
            ).map { Int($0.end.date.timeIntervalSince($0.start.date) / 3600) }
        }
        #expect(try await lengths() == [1, 2, 3, 1])
        // One that began before the period of interest reaches into it.
        let found = try await fixture.calendar.occurrences(
            from: CalendarFixture.date("2026-03-06T11:30:00Z"), until: CalendarFixture.date("2026-03-06T13:00:00Z"),
            limit: 9)
        #expect(found.count == 1)
        // Periods move with their series.
        let start = EventTime(try CalendarFixture.date("2026-03-03T10:00:00Z"), timeZone: "UTC")
        try await fixture.calendar.apply(fixture.calendar.change(of: "u", to: EventFields(start: start)))
        #expect(try await lengths() == [1, 2, 3, 1])
        #expect(try fixture.text("calendar/a/u.ics").contains("20260306T100000Z/PT7200S"))
    }
}
