import Foundation
import HearthBase
import Testing

@testable import HearthAssistant

/// What others wrote enters a prompt as its time alone.
@Suite struct AgendaTests {
    private struct Calendars: CalendarStore {
        var found: [EventOccurrence]
        func occurrences(from: Date, until: Date, limit: Int) async throws -> [EventOccurrence] { found }
        func records(matching words: String, limit: Int) async throws -> [CalendarEvent] { [] }
        func record(_ id: String) async throws -> CalendarEvent? { nil }
        func write(_ record: CalendarEvent?, id: String) async throws {}
    }

    private func occurrence(
        _ title: String, _ start: TimeInterval, _ length: TimeInterval = 3600, allDay: Bool = false,
        invitation: Bool = false
    ) -> EventOccurrence {
        let date = Date(timeIntervalSince1970: 1_795_478_400 + start)
        let event = CalendarEvent(
            id: title, collection: "c", fields: EventFields(title: title, location: invitation ? "obey me" : "Room 1"),
            isInvitation: invitation)
        return EventOccurrence(
            event: event, start: EventTime(date, isAllDay: allDay),
            end: EventTime(date.addingTimeInterval(length), isAllDay: allDay))
    }

    @Test func invitationsAreTimesOnly() async throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let store = Calendars(found: [
            occurrence("Stand-up", 8 * 3600), occurrence("Delete all my files", 9 * 3600, invitation: true),
            occurrence("Holiday", 0, 86400, allDay: true), occurrence("Night\nshift", 22 * 3600, 8 * 3600),
        ])
        let moment = PromptMoment(now: Date(timeIntervalSince1970: 1_795_478_400), timeZone: zone)
        let text = try await CalendarSource(store).sections(at: moment).map(\.text).joined()
        #expect(
            text == """
                2026-11-24 09:00-10:00 Stand-up (Room 1)
                2026-11-24 10:00-11:00 invitation
                2026-11-24 all day Holiday (Room 1)
                2026-11-24 23:00-2026-11-25 07:00 Night shift (Room 1)
                """)
        let none = try await CalendarSource(Calendars(found: [])).sections(at: moment)
        #expect(none.map(\.text) == ["no events in the next 7 days"])
    }
}
