import Foundation
import Testing

@testable import HearthAssistant

/// Times on the wall, compared with Foundation's Gregorian calendar.
struct WallTimeTests {
    @Test func agreesWithFoundationOverManyYears() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for day in stride(from: -100_000, to: 200_000, by: 97) {
            let wall = WallTime(seconds: day * 86_400 + 86_399)
            let date = Date(timeIntervalSince1970: Double(wall.seconds))
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second, .weekday], from: date)
            let fields = wall.fields
            // Foundation's calendar is Julian before 1582; all of these days are later.
            #expect(fields.year == parts.year && fields.month == parts.month && fields.day == parts.day)
            #expect(fields.hour == 23 && fields.minute == 59 && fields.second == 59)
            #expect((wall.weekday + 1) % 7 + 1 == parts.weekday)
            #expect(WallTime(text: wall.text) == wall)
        }
    }

    @Test(arguments: [
        "", "2026", "20261301", "20260229", "20260431", "20260101T", "20260101T2500", "20260101T240000", "2026-1-01",
        "20260101T000000Z", "99999999", "00000101", "２０２６０１０１",
    ])
    func refusesTextThatIsNoTime(text: String) { #expect(WallTime(text: text) == nil) }

    @Test func readsDurations() {
        let cases: [(String, Int, Int)] = [
            ("PT15M", 0, 900), ("-PT15M", 0, -900), ("P1DT2H", 1, 7200), ("P2W", 14, 0), ("+PT1H30M5S", 0, 5405),
        ]
        for (text, days, seconds) in cases {
            #expect(CalendarDuration(value: text) == CalendarDuration(days: days, seconds: seconds))
        }
        for text in ["", "P", "PT", "15M", "P1", "PT1D", "P1H", "PTT1H", "PT99999999999999999999M", "P-1D"] {
            #expect(CalendarDuration(value: text) == nil, "\(text)")
        }
    }
}
