import Foundation
import HearthBase
import HearthDatabase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Calendars of other programs: what an import keeps, says and stores.
struct CalendarImportTests {
    private static func calendar(_ parts: String...) -> Data {
        let text = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Other//EN\n" + parts.joined() + "END:VCALENDAR\n"
        return Data(text.replacing("\n", with: "\r\n").utf8)
    }

    private static func event(_ lines: String, kind: String = "VEVENT") -> String {
        "BEGIN:\(kind)\n\(lines)\nEND:\(kind)\n"
    }

    private static func with(_ body: (Records, TemporaryFolder) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let home = try await AssistantHome(path: folder.path, time: CalendarFixture.time)
        try await body(home.records, folder)
        await home.database.close()
    }

    private static func counts(_ outcome: RecordImport) -> [Int] {
        [outcome.added, outcome.changed, outcome.skipped, outcome.unreadable]
    }

    private static let unreadable = [
        "UID:a\nDTSTART:2026-04-01T09:00:00Z\nSUMMARY:Dashes", "UID:b\nSUMMARY:No start",
        "UID:c\nDTSTART:20260231T120000Z",
        "UID:d\nDTSTART:20260401T1200", "DTSTART:\nSUMMARY:Without an id",
    ]

    @Test func whatCannotBeReadIsKept() async throws {
        try await Self.with { (records: Records, folder) async throws in
            let good = Self.event("UID:good\nDTSTART:20260401T120000Z\nSUMMARY:Good")
            let file = Self.calendar(Self.unreadable.map { Self.event($0) }.joined(), good)
            let outcome = try await records.events.import(file)
            #expect(Self.counts(outcome) == [1, 0, 0, 5])
            #expect(
                outcome.problems.map(\.code) == [
                    "unreadable-start", "no-start", "unreadable-start", "unreadable-start", "unreadable-start",
                ])
            #expect(outcome.problems.map(\.line) == [4, 9, 13, 17, 21])
            #expect(outcome.problems.map(\.id).prefix(4) == ["a", "b", "c", "d"])
            // To the byte, in a folder that is no collection.
            let kept = try LocalFileSystem().files(below: folder.path("calendar/.unreadable"))
            #expect(kept.count == 5)
            let exported = String(decoding: try await records.events.export(), as: UTF8.self)
            for lines in Self.unreadable {
                let bytes = Self.event(lines).replacing("\n", with: "\r\n")
                #expect(exported.contains(bytes))
            }
            #expect(try await records.events.find().map(\.displayName) == ["Good"])
            let problems = try await records.events.problems()
            #expect(problems.count == 5 && problems.allSatisfy { $0.file?.hasPrefix("calendar/.unreadable/") == true })
            // The same file, and the exported one, change nothing.
            for data in [file, Data(exported.utf8)] {
                let again = try await records.events.import(data)
                #expect(Self.counts(again) == [0, 0, 1, 5] && again.action == nil)
            }
            #expect(try LocalFileSystem().files(below: folder.path("calendar/.unreadable")).count == 5)
            // Undo takes all of it back.
            try await records.undo(try #require(outcome.action))
            #expect(try await records.events.find().isEmpty)
            #expect(try await records.events.problems().isEmpty)
        }
    }

    @Test func aSeriesIsOneRecord() async throws {
        let series = Self.event("UID:s\nDTSTART:20260401T090000Z\nRRULE:FREQ=DAILY;COUNT=4\nSUMMARY:Series")
        let moved = Self.event("UID:s\nRECURRENCE-ID:20260402T090000Z\nDTSTART:20260402T110000Z\nSUMMARY:Moved")
        let broken = Self.event("UID:s\nRECURRENCE-ID:20260403T090000Z\nDTSTART:tomorrow\nSUMMARY:Broken")
        try await Self.with { (records: Records, _) async throws in
            let outcome = try await records.events.import(Self.calendar(series, moved, broken))
            #expect(Self.counts(outcome) == [1, 0, 0, 0])
            #expect(outcome.problems.map(\.code) == ["unreadable-occurrence"])
            let exported = String(decoding: try await records.events.export(), as: UTF8.self)
            #expect(exported.contains("DTSTART:tomorrow"))
            let again = try await records.events.import(Self.calendar(series, moved, broken))
            #expect(Self.counts(again) == [0, 0, 1, 0] && again.action == nil)
        }
        // Without its series an occurrence is a record of its own; a series that cannot be read is kept as a whole.
        try await Self.with { (records: Records, _) async throws in
            let lost = Self.event("UID:s\nDTSTART:x\nRRULE:FREQ=DAILY")
            #expect(Self.counts(try await records.events.import(Self.calendar(moved))) == [1, 0, 0, 0])
            #expect(Self.counts(try await records.events.import(Self.calendar(lost, moved))) == [0, 0, 0, 1])
        }
    }

    @Test func twoRecordsUnderOneID() async throws {
        let first = Self.event("UID:same\nDTSTART:20260401T090000Z\nSUMMARY:First")
        let second = Self.event("UID:same\nDTSTART:20260402T090000Z\nSUMMARY:Second")
        try await Self.with { (records: Records, _) async throws in
            let file = Self.calendar(first, second, first)
            let outcome = try await records.events.import(file)
            #expect(Self.counts(outcome) == [2, 0, 0, 0] && outcome.problems.map(\.code) == ["same-id"])
            let found = try await records.events.find()
            #expect(Set(found.map(\.displayName)) == ["First", "Second"] && Set(found.map(\.id)).count == 2)
            #expect(found.first { $0.displayName == "First" }?.id == "same")
            let again = try await records.events.import(file)
            #expect(Self.counts(again) == [0, 0, 2, 0] && again.action == nil)
        }
        // Also in a file that another program has put into the folder.
        let fixture = try CalendarFixture()
        try fixture.folder.write("calendar/a/two.ics", Self.calendar(first, second))
        #expect(
            try await fixture.starts("2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z") == [
                "2026-04-01T09:00:00Z", "2026-04-02T09:00:00Z",
            ])
    }

    @Test func otherComponentsAreNamed() async throws {
        let file = Self.calendar(
            Self.event("UID:e\nDTSTART:20260401T090000Z"), Self.event("UID:t\nSUMMARY:Todo", kind: "VTODO"),
            Self.event("UID:j", kind: "VJOURNAL"), Self.event("UID:u", kind: "VTODO"))
        try await Self.with { (records: Records, _) async throws in
            let outcome = try await records.events.import(file)
            #expect(outcome.added == 1)
            #expect(
                outcome.other == [
                    OtherComponents(component: "VJOURNAL", count: 1, store: nil),
                    OtherComponents(component: "VTODO", count: 2, store: .reminders),
                ])
            let both = try await records.importFile(file)
            #expect(both.events?.other.map(\.component) == ["VJOURNAL"] && both.reminders?.other == [])
            #expect(both.reminders?.added == 2)
        }
    }

    @Test(arguments: [
        ("DTSTART;VALUE=DATE:20260401\nDTEND:20260401T100000Z", "mixed-end"),
        ("DTSTART:20260401T090000Z\nDTEND:20260401T080000Z", "end-before-start"),
        ("DTSTART:20260401T090000Z\nDTEND:later", "unreadable-end"),
        ("DTSTART:20260401T090000Z\nDURATION:long", "unreadable-end"),
        ("DTSTART;TZID=Mars/Olympus:20260401T090000", "unknown-zone"),
        ("DTSTART:20260401T090000Z\nRRULE:FREQ=WEEKLY;BYDAY=XX", "not-expanded"),
        ("DTSTART:20260401T090000Z\nRRULE:FREQ=SECONDLY", "not-expanded"),
    ])
    func whatIsShownOtherwiseIsSaid(lines: String, code: String) async throws {
        try await Self.with { (records: Records, _) async throws in
            let outcome = try await records.events.import(Self.calendar(Self.event("UID:u\n" + lines)))
            #expect(Self.counts(outcome) == [1, 0, 0, 0] && outcome.problems.map(\.code) == [code])
            let problems = try await records.events.problems()
            #expect(problems.map(\.code) == [code] && problems.first?.id == "u")
        }
    }

    @Test(arguments: ["DUE:nonsense", "DUE:20260401T1200", "DTSTART:2026", "COMPLETED:yes"])
    func remindersWithTimesThatAreNone(line: String) async throws {
        try await Self.with { (records: Records, _) async throws in
            let file = Self.calendar(Self.event("UID:u\nSUMMARY:Pay\n" + line, kind: "VTODO"))
            #expect(Self.counts(try await records.reminders.import(file)) == [0, 0, 0, 1])
            let problems = try await records.reminders.problems()
            #expect(problems.map(\.title) == ["Pay"] && problems.map(\.id) == ["u"])
        }
    }

    /// A kept file is one among the records: its folder has no others, and a person can correct it.
    @Test func aKeptFileIsRepaired() async throws {
        try await Self.with { (records: Records, folder) async throws in
            _ = try await records.events.import(Self.calendar(Self.event("UID:a\nDTSTART:1 April\nSUMMARY:Fair")))
            let place = try #require(try await records.events.problems().first?.file)
            let text = String(
                decoding: try LocalFileSystem().contents(ofFile: folder.path(place), limit: 1 << 20), as: UTF8.self)
            let repaired = Data(text.replacing("1 April", with: "20260401T090000Z").utf8)
            try folder.write(place, repaired)
            #expect(try await records.events.problems().map(\.code) == ["readable"])
            #expect(try await records.events.import(repaired).added == 1)
            try folder.write("calendar/.unreadable/other.ics", Data("hello".utf8))
            #expect(try await records.events.problems().map(\.code).contains("unreadable-file"))
        }
    }

    /// Each file defines the zones of its times under the names that they use.
    @Test(arguments: [
        ("GMT+0100", "2026-04-01T08:00:00Z"), ("\"W. Europe Standard Time\"", "2026-04-01T07:00:00Z"),
        ("GMT-05:00", "2026-04-01T14:00:00Z"), ("/mozilla.org/20050126_1/Asia/Tokyo", "2026-04-01T00:00:00Z"),
        ("\"(UTC+01:00) Amsterdam, Berlin\"", "2026-04-01T07:00:00Z"), ("europe/berlin", "2026-04-01T07:00:00Z"),
    ])
    func aZoneGetsItsDefinition(name: String, start: String) async throws {
        let fixture = try CalendarFixture(zone: "America/New_York")
        let file = Self.calendar(
            Self.event("UID:z\nDTSTART;TZID=\(name):20260401T090000\nDTEND;TZID=\(name):20260401T100000"))
        let changes = try await fixture.calendar.importing(file).changes
        for change in changes { try await fixture.calendar.apply(change) }
        #expect(try await fixture.starts("2026-03-01T00:00:00Z", "2026-05-01T00:00:00Z") == [start])
        let data = try #require(changes.first?.after)
        let zone = try #require(try ContentParser().parse(data).components.first?.components.first)
        #expect(zone.name == "VTIMEZONE" && zone.isCopiedZone)
        #expect(zone.text("TZID") == ZoneName.plain(name))
        // libical has the same offset for the definition as Hearth for the name.
        let offset = await CalendarThreadRunner().run { DefinedZone(zone.bytes)?.offset(at: 1_775_000_000) }
        let wall = try CalendarFixture.date("2026-04-01T09:00:00Z")
        #expect(offset == Int(wall.timeIntervalSince(try CalendarFixture.date(start))))
        #expect(try await fixture.calendar.importing(file).changes.allSatisfy { $0.before == $0.after })
    }

    /// A definition is stored as it is, and once more under the name of the times if that is spelt otherwise.
    @Test func aDefinitionStays() async throws {
        let zone =
            "BEGIN:VTIMEZONE\nTZID:(UTC+01:00) Amsterdam\\, Berlin\nBEGIN:STANDARD\nDTSTART:16010101T000000\n"
            + "TZOFFSETFROM:+0130\nTZOFFSETTO:+0130\nEND:STANDARD\nEND:VTIMEZONE\n"
        let fixture = try CalendarFixture(zone: "America/New_York")
        let file = Self.calendar(
            Self.event("UID:a\nDTSTART;TZID=\"(UTC+01:00) Amsterdam, Berlin\":20260401T090000"),
            Self.event("UID:b\nDTSTART;TZID=\"(utc+01:00) amsterdam, berlin\":20260402T090000"), zone)
        let changes = try await fixture.calendar.importing(file).changes
        for change in changes { try await fixture.calendar.apply(change) }
        #expect(
            try await fixture.starts("2026-03-01T00:00:00Z", "2026-05-01T00:00:00Z") == [
                "2026-04-01T07:30:00Z", "2026-04-02T07:30:00Z",
            ])
        let names = try changes.map { change in
            try ContentParser().parse(try #require(change.after)).components.flatMap(\.components)
                .filter { $0.name == "VTIMEZONE" }.compactMap { $0.text("TZID") }
        }
        let own = "(UTC+01:00) Amsterdam, Berlin"
        #expect(names == [[own], [own, "(utc+01:00) amsterdam, berlin"]])
        let stored = try changes.map { String(decoding: try #require($0.after), as: UTF8.self) }
        #expect(stored.allSatisfy { $0.contains(zone.replacing("\n", with: "\r\n")) })
    }

    /// Zones of one name that differ do not meet in an export.
    @Test func anExportKeepsZonesApart() async throws {
        func zone(_ offset: String) -> String {
            "BEGIN:VTIMEZONE\nTZID:Custom\nBEGIN:STANDARD\nDTSTART:16010101T000000\nTZOFFSETFROM:\(offset)\n"
                + "TZOFFSETTO:\(offset)\nEND:STANDARD\nEND:VTIMEZONE\n"
        }
        let fixture = try CalendarFixture()
        for (id, offset) in [("a", "+0100"), ("b", "+0500"), ("c", "+0100")] {
            let file = Self.calendar(zone(offset), Self.event("UID:\(id)\nDTSTART;TZID=Custom:20260401T090000"))
            for change in try await fixture.calendar.importing(file).changes {
                try await fixture.calendar.apply(change)
            }
        }
        let other = try CalendarFixture()
        for change in try await other.calendar.importing(try await fixture.calendar.exported()).changes {
            try await other.calendar.apply(change)
        }
        let starts = ["2026-04-01T04:00:00Z", "2026-04-01T08:00:00Z", "2026-04-01T08:00:00Z"]
        #expect(try await other.starts("2026-03-01T00:00:00Z", "2026-05-01T00:00:00Z") == starts)
    }

    @Test func oldCalendarsAreDecoded() async throws {
        try await Self.with { (records: Records, _) async throws in
            let event = Self.event(
                "UID:q\nDTSTART:20260401T090000Z\nSUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Gr=C3=BC=\n=C3=9Fe=\n =21\n"
                    + "LOCATION;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:Caf=E9")
            _ = try await records.events.import(Self.calendar(event))
            let found = try #require(try await records.events.record("q"))
            #expect(found.displayName == "Grüße!" && found.fields.location == "Café")
        }
    }
}
