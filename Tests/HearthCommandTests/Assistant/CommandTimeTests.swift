import Foundation
import HearthAssistant
import Testing

@testable import HearthCommand

/// The words that the command line reads as a time.
struct CommandTimeTests {
    @Test(arguments: [
        ("today", 0, true), ("tomorrow", 1, true), ("tomorrow 9:05", 1, false), ("today 23:59", 0, false),
        ("2026-11-26", 2, true), ("2026-11-26T08:00", 2, false), ("2026-11-26 08:00", 2, false),
        ("friday", 3, true), ("Fri 9pm", 3, false), ("monday at 9", 6, false),
        ("13:00", 0, false), ("9:00", 1, false), ("12pm", 1, false), ("5 PM", 0, false), ("in 2 hours", 0, false),
        ("in 3 days", 3, true), ("Tomorrow 9", 1, false), ("in 45 min", 0, false),
    ])
    func timesOfTheCommandLine(word: String, days: Int, isAllDay: Bool) throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let now = try Date("2026-11-24T11:00:00Z", strategy: .iso8601)
        let time = try #require(CommandTime(word)?.time(now: now, zone: zone))
        #expect(time.isAllDay == isAllDay)
        let day = time.date.formatted(.iso8601.year().month().day()).suffix(2)
        #expect(Int(day) == 24 + days)
        // The day of today's name is that of the next week.
        #expect(CommandTime("tuesday") != nil && CommandTime("in 1 week") != nil)
        #expect(
            CommandTime("tuesday")?.time(now: now, zone: zone) == CommandTime("in 1 week")?.time(now: now, zone: zone))
    }

    @Test(arguments: [
        "", "soon", "todayish", "tomorrow 25:00", "2026-13-01", "9", "0pm", "13pm", "25:00", "9:60", "in", "in 2",
        "in 0 days", "in -1 days",
        "in 9999999 hours", "next friday", "friday friday", "tomorrow 9 Uhr", "f", "🙂", "in 2 hours\n",
    ])
    func otherWordsAreNoTime(_ word: String) {
        #expect(CommandTime(word) == nil)
    }
}
