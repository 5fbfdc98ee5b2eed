import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Files that are broken, too large or made to do harm.
struct HostileCalendarTests {
    private static let start = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:u\r\nDTSTART:20270104T100000Z\r\n"
    private static let end = "END:VEVENT\r\nEND:VCALENDAR\r\n"

    private static let broken: [String: Data] = [
        "empty": Data(),
        "text": Data("hello\n".utf8),
        "binary": Data((0..<2000).map { UInt8(truncatingIfNeeded: $0) }),
        "large": Data(repeating: UInt8(ascii: "x"), count: 10 << 20),
        "many lines": Data((start + String(repeating: "X-A:1\r\n", count: 100_000) + end).utf8),
        "nested": Data(String(repeating: "BEGIN:VCALENDAR\r\n", count: 10_000).utf8),
        "cut": Data((start + "SUMMARY:half").utf8),
        "crossed": Data("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nEND:VCALENDAR\r\nEND:VEVENT\r\n".utf8),
        "no uid": Data(
            "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20270104T100000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n".utf8),
        "end alone": Data("END:VCALENDAR\r\n".utf8),
    ]

    @Test func skipsAndCountsWhatItCannotRead() async throws {
        let fixture = try CalendarFixture()
        for (name, data) in Self.broken { try fixture.folder.write("calendar/a/\(name).ics", data) }
        try fixture.write("a/good.ics", event: "UID:good\nDTSTART:20270104T100000Z")
        // A link out of the folder, one to itself, and a folder with the name of a file.
        try fixture.folder.write("outside.ics", Data((Self.start + Self.end).utf8))
        let disk = LocalFileSystem()
        try disk.makeLink(at: fixture.folder.path("calendar/a/link.ics"), to: "../../outside.ics")
        try disk.makeLink(at: fixture.folder.path("calendar/linked"), to: "/etc")
        try disk.makeLink(at: fixture.folder.path("calendar/a/loop.ics"), to: "loop.ics")
        try disk.makeFolders(fixture.folder.path("calendar/a/folder.ics"))
        #expect(try await fixture.starts("2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z") == ["2027-01-04T10:00:00Z"])
        let names = try await fixture.calendar.unreadableFiles().map { $0.prefix { $0 != ":" } }
        #expect(names.sorted() == Self.broken.keys.map { "a/\($0).ics" }.sorted().map { $0[...] })
        #expect(try await fixture.calendar.unreadableFiles().count == Self.broken.count)
        #expect(try await fixture.calendar.collections() == ["a"])
        // A file that becomes readable is read, and a removed one forgotten.
        try fixture.write("a/empty.ics", event: "UID:e\nDTSTART:20270105T100000Z")
        try disk.removeFile(fixture.folder.path("calendar/a/text.ics"))
        #expect(try await fixture.calendar.unreadableFiles().count == Self.broken.count - 2)
        #expect(try await fixture.calendar.record("e") != nil)
    }

    @Test(arguments: [
        "RRULE:FREQ=DAILY;INTERVAL=7;BYDAY=TU", "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "RRULE:FREQ=MONTHLY;BYDAY=MO;BYSETPOS=30", "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "RRULE:FREQ=SECONDLY", "RRULE:FREQ=MINUTELY;COUNT=1000000000", "RRULE:FREQ=HOURLY;COUNT=1000000000",
        "RRULE:FREQ=MONTHLY;INTERVAL=12;BYMONTH=5", "RRULE:FREQ=DAILY;INTERVAL=99999999999999999999",
        "RRULE:FREQ=DAILY;INTERVAL=0", "RRULE:FREQ=DAILY;COUNT=0", "RRULE:FREQ=", "RRULE:",
        "RRULE:FREQ=YEARLY;BYDAY=99MO",
        "RRULE:FREQ=YEARLY;BYDAY=53MO;BYMONTH=6", "RRULE:RSCALE=CHINESE;FREQ=YEARLY;SKIP=FORWARD",
        "RRULE:FREQ=DAILY;BYDAY=" + String(repeating: "MO,", count: 5000), "DURATION:P99999999999W",
        "DTEND:19000101T000000Z",
        "EXDATE:" + String(repeating: "20270104T100000Z,", count: 20_000), "RDATE;VALUE=PERIOD:20270105T100000Z/PT1H",
        "RECURRENCE-ID:nonsense", "EXRULE:FREQ=DAILY",
        "DTSTART;TZID=\(String(repeating: "x", count: 100_000)):20270104T100000",
    ])
    func endsInBoundedTime(line: String) async throws {
        let fixture = try CalendarFixture()
        try fixture.write("a/u.ics", event: "UID:u\nDTSTART:20270104T100000Z\n" + line)
        let clock = ContinuousClock()
        let time = try await clock.measure {
            let found = try await fixture.calendar.occurrences(
                from: CalendarFixture.date("2027-01-01T00:00:00Z"), until: CalendarFixture.date("2030-01-01T00:00:00Z"),
                limit: 50)
            #expect(found.count <= 50)
            _ = try await fixture.calendar.records(matching: "", limit: 5)
            _ = try await fixture.calendar.change(of: "u", to: EventFields(title: "New"))
        }
        #expect(time < .seconds(20))
    }

    @Test(arguments: ["a/b", "../../up", ".hidden", String(repeating: "u", count: 1 << 20), "ü", "con:", "a;b,c\\d"])
    func anyUIDMakesASafeName(id: String) async throws {
        let fixture = try CalendarFixture()
        let change = try await fixture.calendar.creation(
            of: EventFields(title: "A", start: EventTime(CalendarFixture.now)), id: id)
        try await fixture.calendar.apply(change)
        let files = try LocalFileSystem().files(below: fixture.folder.path)
        #expect(files.count == 1)
        let name = try #require(files.first)
        #expect(name.hasPrefix("calendar/personal/record-") && name.hasSuffix(".ics") && name.utf8.count < 100)
        #expect(try await fixture.calendar.record(id) != nil)
    }

    @Test(arguments: ["", "nul\u{0}", "line\r\nbreak", "tab\t"]) func refusesUIDsThatCannotBeWritten(id: String)
        async throws
    {
        let fixture = try CalendarFixture()
        let error = await #expect(throws: AssistantError.self) {
            try await fixture.calendar.creation(
                of: EventFields(title: "A", start: EventTime(CalendarFixture.now)), id: id)
        }
        #expect(error?.code == .unusablePayload)
    }

    @Test func refusesACollectionOutsideTheFolder() async throws {
        let fixture = try CalendarFixture()
        for collection in ["..", "a/b", "", ".", ".hidden", "a\u{0}"] {
            let change = RecordChange(store: .calendar, collection: collection, id: "x", before: nil, after: Data())
            let error = await #expect(throws: AssistantError.self) { try await fixture.calendar.apply(change) }
            #expect(error?.code == .unusableRecord, "\(collection)")
        }
        #expect(try LocalFileSystem().files(below: fixture.folder.path) == [])
    }

    @Test func aFileWithSeveralEventsIsReadAndNotChanged() async throws {
        let fixture = try CalendarFixture()
        try fixture.write(
            "a/two.ics",
            event: "UID:1\nDTSTART:20270104T100000Z\nEND:VEVENT\nBEGIN:VEVENT\nUID:2\nDTSTART:20270105T100000Z")
        #expect(try await fixture.starts("2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z").count == 2)
        let error = await #expect(throws: AssistantError.self) { try await fixture.calendar.removal(of: "1") }
        #expect(error?.code == .unusableRecord)
    }
}
