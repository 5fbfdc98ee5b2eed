import Foundation
import HearthAssistant
import HearthBase
import Testing

@testable import HearthApple

@Suite struct SystemRuleTests {
    private static let berlin = TimeZone(identifier: "Europe/Berlin") ?? .gmt
    /// A Tuesday.
    private static let start = EventTime(
        Timestamp("2026-11-24T14:00:00Z")?.date ?? .distantPast, timeZone: "Europe/Berlin")
    private static let day = EventTime(Timestamp("2026-11-24T00:00:00Z")?.date ?? .distantPast, isAllDay: true)

    private static func text(_ rule: String, isAllDay: Bool = false) throws -> String {
        try SystemRule(rule, start: isAllDay ? day : start, zone: berlin).text(wholeDaysIn: isAllDay ? berlin : nil)
    }

    @Test(arguments: [
        "FREQ=DAILY", "FREQ=DAILY;INTERVAL=3;COUNT=4", "FREQ=WEEKLY;BYDAY=MO,TH,SU",
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;UNTIL=20270301T140000Z", "FREQ=MONTHLY;BYMONTHDAY=1,-1",
        "FREQ=MONTHLY;BYDAY=2TU,-1FR", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "FREQ=YEARLY",
        "FREQ=YEARLY;BYMONTH=5;BYDAY=2SU", "FREQ=YEARLY;BYYEARDAY=100",
    ])
    func rulesComeBackAsTheyWere(_ rule: String) throws { #expect(try Self.text(rule) == rule) }

    @Test(arguments: [
        ("FREQ=WEEKLY;WKST=SU;BYDAY=TU", "FREQ=WEEKLY;BYDAY=TU"),
        ("FREQ=DAILY;BYDAY=MO,TU", "FREQ=WEEKLY;BYDAY=MO,TU"),
        ("FREQ=YEARLY;BYMONTH=11;BYMONTHDAY=24", "FREQ=YEARLY"),
        ("freq=weekly;until=20261231", "FREQ=WEEKLY;UNTIL=20261231T225959Z"),
        ("FREQ=WEEKLY;UNTIL=20261231T120000", "FREQ=WEEKLY;UNTIL=20261231T110000Z"),
    ])
    func rulesAreWrittenAsTheSystemHasThem(_ rule: String, _ expected: String) throws {
        #expect(try Self.text(rule) == expected)
    }

    @Test func theEndOfWholeDaysIsADay() throws {
        #expect(try Self.text("FREQ=DAILY;UNTIL=20261226", isAllDay: true) == "FREQ=DAILY;UNTIL=20261226")
        let rule = try SystemRule("FREQ=DAILY;UNTIL=20261226", start: Self.day, zone: Self.berlin)
        #expect(rule.end == .until(Timestamp("2026-12-25T23:00:00Z")?.date ?? .distantPast))
    }

    @Test(arguments: [
        "FREQ=HOURLY", "FREQ=DAILY;BYHOUR=9", "FREQ=DAILY;INTERVAL=2;BYDAY=MO", "FREQ=MONTHLY;BYMONTH=5",
        "FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=3", "FREQ=WEEKLY;BYDAY=2TU", "FREQ=WEEKLY;BYWEEKNO=3", "weekly", "",
        "FREQ=DAILY;COUNT=3;UNTIL=20261226",
    ])
    func rulesThatTheSystemDoesNotHaveAreRefused(_ rule: String) {
        #expect(throws: AssistantError.self) { try Self.text(rule) }
    }

    @Test func dateOfMidnightInAGapIsTheEndOfTheGap() {
        // Clocks in Beirut went from 0:00 to 1:00 on 31 March 2024.
        let zone = TimeZone(identifier: "Asia/Beirut") ?? .gmt
        let number = CivilDate.days(year: 2024, month: 3, day: 31) ?? 0
        let begin = WholeDay.begin(number, in: zone)
        #expect(begin == Timestamp("2024-03-30T22:00:00Z")?.date)
        #expect(WholeDay.number(of: begin, in: zone) == number)
        #expect(WholeDay.number(of: begin.addingTimeInterval(-1), in: zone) == number - 1)
    }
}
