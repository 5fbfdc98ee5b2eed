import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Series of `scripts/stores/series.py`, whose occurrences python-dateutil has computed.
struct SeriesTests {
    struct Series: Decodable, Sendable {
        let lines: [String]
        let overrides: [[String]]
        let from: Int
        let until: Int
        let starts: [Int]
    }

    /// The folder `scripts` of the sources, which these are a link to in some builds.
    static let scripts = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("scripts")

    @Test func agreesWithDateutil() async throws {
        let named = ProcessInfo.processInfo.environment["HEARTH_SERIES"].map { URL(fileURLWithPath: $0) }
        let file = named ?? Self.scripts.appendingPathComponent("stores/series.json")
        let all = try JSONDecoder().decode([Series].self, from: Data(contentsOf: file))
        #expect(all.count >= 40)
        let fixture = try CalendarFixture(zone: "UTC")
        var equal = 0
        for (index, series) in all.enumerated() {
            let name = "a\(index)"
            let parts = ([series.lines] + series.overrides).map { ["UID:u\(index)"] + $0 }
            try fixture.write(
                "\(name)/u.ics",
                event: parts.map { $0.joined(separator: "\n") }.joined(separator: "\nEND:VEVENT\nBEGIN:VEVENT\n"))
            let found = try await fixture.calendar.occurrences(
                from: Date(timeIntervalSince1970: Double(series.from)),
                until: Date(timeIntervalSince1970: Double(series.until)), limit: .max)
            let starts = found.map { Int($0.start.date.timeIntervalSince1970) }
            #expect(starts == series.starts, "\(index): \(parts)")
            #expect(found.allSatisfy { !$0.event.repeatsUnexpanded })
            if starts == series.starts { equal += 1 }
            try LocalFileSystem().removeTree(fixture.folder.path("calendar/\(name)"))
        }
        if named != nil { print("\(equal) of \(all.count) series equal to python-dateutil") }
    }

    /// Rules that Hearth creates, and rules that it keeps without expanding them.
    @Test func knowsTheKindsOfRulesThatAreExpandedRightly() {
        let start = WallTime(year: 2026, month: 11, day: 24, hour: 9)
        for text in [
            "FREQ=DAILY", "FREQ=DAILY;INTERVAL=3;BYDAY=MO,TU", "FREQ=DAILY;BYMONTHDAY=1,15", "FREQ=HOURLY;INTERVAL=5",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU", "FREQ=MONTHLY;BYDAY=2TU,-1FR",
            "FREQ=MONTHLY;BYMONTHDAY=-1,15",
            "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1", "FREQ=YEARLY",
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "FREQ=YEARLY;BYDAY=20MO", "FREQ=YEARLY;BYYEARDAY=1,-1",
            "FREQ=YEARLY;BYMONTH=11;BYDAY=MO,TU;BYSETPOS=1",
        ] { #expect(RecurrenceRule(text)?.isExpandable(from: start) == true, "\(text)") }
        for text in [
            "FREQ=YEARLY;BYWEEKNO=1", "FREQ=DAILY;BYHOUR=9,17", "FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=1", "FREQ=MINUTELY",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;WKST=SA", "FREQ=DAILY;BYMONTHDAY=-1", "FREQ=YEARLY;BYMONTHDAY=6",
            "FREQ=WEEKLY;BYDAY=TH,TH", "FREQ=MONTHLY;BYDAY=1MO;BYMONTHDAY=20",
            "FREQ=MONTHLY;BYMONTHDAY=1,-1;BYSETPOS=1",
            "RSCALE=HEBREW;FREQ=YEARLY;BYMONTH=5L", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=HOURLY;BYDAY=MO",
            "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=30", "FREQ=MONTHLY;INTERVAL=12;BYMONTH=5",
            "FREQ=YEARLY;BYMONTH=1;BYYEARDAY=5",
        ] { #expect(RecurrenceRule(text)?.isExpandable(from: start) == false, "\(text)") }
        for text in [
            "", "FREQ", "FREQ=", "FREQ=FORTNIGHTLY", "FREQ=DAILY;FREQ=DAILY", "FREQ=DAILY;INTERVAL=-1",
            "FREQ=DAILY;BYDAY=XX",
            "FREQ=DAILY;BYDAY=0MO", "FREQ=DAILY;BYMONTH=13", "FREQ=DAILY;BYMONTH=", "INTERVAL=2",
            "FREQ=DAILY;UNTIL=soon",
            "FREQ=DAILY;COUNT=1;UNTIL=20300101", "FREQ=DAILY;BYMONTH=-1",
        ] { #expect(RecurrenceRule(text) == nil, "\(text)") }
    }

    /// The rules of a file of libical's own tests, named by the environment: each is expanded rightly or not at all.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["HEARTH_RECURRENCE_RULES"] != nil))
    func expandsOtherPeoplesRulesRightlyOrNotAtAll() async throws {
        let path = try #require(ProcessInfo.processInfo.environment["HEARTH_RECURRENCE_RULES"])
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var (right, kept, rule, start, after): (Int, Int, String, CalendarTime?, CalendarTime?) = (0, 0, "", nil, nil)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map({
            $0.trimmingCharacters(in: .whitespaces)
        }) {
            let value = String(line.drop { $0 != ":" }.dropFirst())
            switch line.prefix(while: { $0 != ":" }) {
            case "RRULE": (rule, after) = (value, nil)
            case "DTSTART": start = CalendarTime(value: value, zone: nil)
            case "START-AT": after = CalendarTime(value: value, zone: nil)
            case "INSTANCES":
                let begin = try #require(start)
                let wanted = value.split(separator: ",").compactMap { CalendarTime(value: $0, zone: nil)?.wall }
                let window = (after ?? begin).wall...WallTime(year: 2200, month: 1, day: 1)
                guard let parsed = RecurrenceRule(rule), parsed.isExpandable(from: begin.wall) else {
                    kept += 1
                    continue
                }
                let until = parsed.until?.wall
                let first = begin.wall
                let found = await CalendarThreadRunner().run {
                    Recurrence.times(of: parsed, start: first, in: window, until: until)
                }
                #expect(found == wanted.filter { window.contains($0) }, "\(rule)")
                right += 1
            default: break
            }
        }
        #expect(right >= 60)
        print("\(right) rules expanded rightly, \(kept) kept without expanding them")
    }

    /// A week of 5,000 files.
    @Test func listsAWeekOfManyFilesQuickly() async throws {
        let fixture = try CalendarFixture()
        let zone = String(
            decoding: try #require(
                await fixture.calendar.creation(
                    of: EventFields(title: "T", start: EventTime(CalendarFixture.now)), id: "t"
                ).after), as: UTF8.self)
        let count = ProcessInfo.processInfo.environment["HEARTH_SERIES"] == nil ? 500 : 5_000
        var expected = 0
        let week = WallTime(year: 2026, month: 11, day: 23)
        for index in 0..<count {
            let day = WallTime(year: 2025, month: 1, day: 1) + (index % 900) * WallTime.daySeconds + 9 * 3600
            let isInWeek = day >= week && day < week + 7 * WallTime.daySeconds
            if isInWeek || index.isMultiple(of: 20) && day < week { expected += 1 }
            let rule = index.isMultiple(of: 20) ? "RRULE:FREQ=WEEKLY\r\n" : ""
            let text = zone.replacing("UID:t\r\n", with: "UID:u\(index)\r\n\(rule)")
                .replacing("20261124T1", with: day.dateText + "T1")
            let path = fixture.folder.path("calendar/a/\(index).ics")
            if index == 0 { try LocalFileSystem().makeFolders(path.parent) }
            try Data(text.utf8).write(to: path.url)
            // Old enough to be read once.
            try FileManager.default.setAttributes(
                [.modificationDate: CalendarFixture.now - 60], ofItemAtPath: path.string)
        }
        let from = try CalendarFixture.date("2026-11-23T00:00:00Z")
        func list() async throws -> (Duration, Int) {
            let clock = ContinuousClock()
            let begin = clock.now
            let found = try await fixture.calendar.occurrences(from: from, until: from + 7 * 86_400, limit: 10_000)
            return (clock.now - begin, found.count)
        }
        let first = try await list()
        let second = try await list()
        #expect(first.1 == expected && second.1 == expected && expected > 0)
        #expect(first.0 < .seconds(20) && second.0 < .seconds(5))
        if count == 5_000 { print("5000 files: first \(first.0), then \(second.0), \(first.1) occurrences") }
    }
}
