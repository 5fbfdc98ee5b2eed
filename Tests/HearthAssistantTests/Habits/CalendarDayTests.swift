import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

@Suite struct CalendarDayTests {
    private static func date(_ text: String) throws -> Date { try #require(Timestamp(text)).date }

    @Test(arguments: [
        ("2026-11-24T22:59:59Z", "Europe/Berlin", "2026-11-24"),
        ("2026-11-24T23:00:00Z", "Europe/Berlin", "2026-11-25"),
        // Summer time begins and ends: the days have 23 and 25 hours.
        ("2026-03-28T22:59:59Z", "Europe/Berlin", "2026-03-28"),
        ("2026-03-28T23:00:00Z", "Europe/Berlin", "2026-03-29"),
        ("2026-03-29T21:59:59Z", "Europe/Berlin", "2026-03-29"),
        ("2026-03-29T22:00:00Z", "Europe/Berlin", "2026-03-30"),
        ("2026-10-24T22:00:00Z", "Europe/Berlin", "2026-10-25"),
        ("2026-10-25T22:59:59Z", "Europe/Berlin", "2026-10-25"),
        ("2026-10-25T23:00:00Z", "Europe/Berlin", "2026-10-26"),
        // Samoa went over the date line: there was no 30 December 2011.
        ("2011-12-30T09:59:59Z", "Pacific/Apia", "2011-12-29"), ("2011-12-30T10:00:00Z", "Pacific/Apia", "2011-12-31"),
        ("2026-01-01T09:59:59Z", "Pacific/Kiritimati", "2026-01-01"),
        ("2026-01-01T10:00:00Z", "Pacific/Kiritimati", "2026-01-02"),
        ("2026-01-01T10:59:59Z", "Pacific/Pago_Pago", "2025-12-31"),
        ("2026-01-01T11:00:00Z", "Pacific/Pago_Pago", "2026-01-01"),
        // Summer time begins at midnight, which does not exist.
        ("2026-09-06T03:59:59Z", "America/Santiago", "2026-09-05"),
        ("2026-09-06T04:00:00Z", "America/Santiago", "2026-09-06"),
        ("2026-06-01T18:14:59Z", "Asia/Kathmandu", "2026-06-01"),
        ("2026-06-01T18:15:00Z", "Asia/Kathmandu", "2026-06-02"),
        ("1969-12-31T23:59:59.999Z", "UTC", "1969-12-31"), ("1970-01-01T00:00:00Z", "UTC", "1970-01-01"),
    ])
    func aMomentHasTheDayOfItsZone(_ moment: String, _ zone: String, _ day: String) throws {
        let zone = try #require(TimeZone(identifier: zone))
        #expect(try CalendarDay(of: Self.date(moment), in: zone).description == day)
    }

    @Test func momentsOutsideTheYearsAreTheFirstAndLastDay() throws {
        let zone = try #require(TimeZone(identifier: "UTC"))
        #expect(CalendarDay(of: Date(timeIntervalSince1970: -1e18), in: zone).description == "1900-01-01")
        #expect(CalendarDay(of: Date(timeIntervalSince1970: 1e18), in: zone).description == "9999-12-31")
    }

    @Test(.enabled(if: TestExtent.isFull)) func daysAreNumbered() {
        // 31 January 1900, and 500 years on: every kind of year.
        var day = CalendarDay(number: -25_537)
        let end = day.advanced(by: 500 * 366)
        while day < end {
            let next = day.advanced(by: 1)
            guard next > day, next.number == day.number + 1, CalendarDay(next.description) == next else { break }
            day = next
        }
        #expect(day == end)
        // 8100 years with 1964 leap days.
        let (first, last) = (CalendarDay(number: .min), CalendarDay(number: .max))
        #expect([first, last].map(\.description) == ["1900-01-01", "9999-12-31"])
        #expect(last.number - first.number + 1 == 8100 * 365 + 1964)
    }

    @Test(arguments: [
        "", "2026-1-1", "2026-13-01", "2026-00-10", "2026-02-29", "1899-12-31", "2026-11-24x", "+026-11-24",
        "２０２６-11-24",
    ])
    func otherTextsAreNoDay(_ text: String) { #expect(CalendarDay(text) == nil) }

    @Test func daysAreKeysOfJSON() throws {
        let log: [CalendarDay: Double] = [CalendarDay(number: 0): 1]
        let data = try JSONEncoder().encode(log)
        #expect(String(decoding: data, as: UTF8.self) == #"{"1970-01-01":1}"#)
        #expect(try JSONDecoder().decode([CalendarDay: Double].self, from: data) == log)
    }

    @Test(arguments: [
        ("2026-11-22", "2026-11-23", false), ("2026-11-23", "2026-11-29", true), ("2024-12-30", "2025-01-05", true),
        ("2025-01-05", "2025-01-06", false), ("1969-12-29", "1970-01-04", true),
    ])
    func weeksBeginOnMonday(_ first: String, _ second: String, _ isSame: Bool) throws {
        #expect(try (#require(CalendarDay(first)).week == #require(CalendarDay(second)).week) == isSame)
    }

    @Test(arguments: [
        (HabitFrequency.daily, [], 0, 0, false), (.daily, [0], 1, 1, true), (.daily, [-1], 1, 1, false),
        (.daily, [-2], 0, 1, false), (.daily, [-1, -2, -3, 0], 4, 4, true), (.daily, [-9, -8, -7, -1, 0], 2, 3, true),
        (.daily, [1, 2], 0, 0, false), (.daily, [-400, -1], 1, 1, false),
        // The 24th is a Tuesday.
        (.weekly, [0], 1, 1, true), (.weekly, [-1], 1, 1, true), (.weekly, [-2], 1, 1, false),
        (.weekly, [-8], 1, 1, false),
        (.weekly, [-9], 0, 1, false), (.weekly, [-1, -2, -3], 2, 2, true),
        (.weekly, [0, -7, -14, -30, -37, -44, -51], 3, 4, true),
    ])
    func streaksCountDaysAndWeeks(
        _ frequency: HabitFrequency, _ days: [Int], _ current: Int, _ longest: Int, _ isDone: Bool
    ) throws {
        let today = try #require(CalendarDay("2026-11-24"))
        let log = Dictionary(uniqueKeysWithValues: days.map { (today.advanced(by: $0), 1.0) })
        let habit = Habit(id: "h", name: "h", frequency: frequency, created: .distantPast, log: log)
        let streak = HabitStreak(of: habit, on: today)
        #expect(streak.current == current && streak.longest == longest)
        #expect(streak.days == days.count { $0 <= 0 })
        #expect(streak.isDone == isDone)
    }
}
