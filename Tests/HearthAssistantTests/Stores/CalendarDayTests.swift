import Foundation
import HearthAssistant
import Testing

struct CalendarDayTests {
    @Test(arguments: [
        (2024, 2, 29, true), (2023, 2, 29, false), (1900, 2, 29, false), (2000, 2, 29, true), (2026, 4, 31, false),
        (2026, 13, 1, false), (2026, 0, 1, false), (2026, 1, 0, false), (1899, 12, 31, false), (9999, 12, 31, true),
        (10_000, 1, 1, false), (Int.max, 1, 1, false),
    ])
    func onlyDaysOfTheCalendar(year: Int, month: Int, day: Int, isDay: Bool) {
        #expect((CalendarDay(year: year, month: month, day: day) != nil) == isDay)
    }

    @Test func areWrittenInISOForm() throws {
        #expect(try #require(CalendarDay(year: 2026, month: 1, day: 5)).description == "2026-01-05")
    }

    @Test func areInOrder() throws {
        let days = try [(2026, 12, 1), (2026, 2, 28), (2027, 1, 1)].map {
            try #require(CalendarDay(year: $0.0, month: $0.1, day: $0.2))
        }
        #expect(days.sorted().map(\.description) == ["2026-02-28", "2026-12-01", "2027-01-01"])
    }
}

struct RecordChangeTests {
    @Test func undoIsTheSameRecordBackwards() {
        let change = RecordChange(store: .notes, collection: "a", id: "1", before: nil, after: Data("x".utf8))
        #expect(
            change.inverted == RecordChange(store: .notes, collection: "a", id: "1", before: Data("x".utf8), after: nil)
        )
        #expect(change.inverted.inverted == change)
    }
}
