import Foundation
import HearthBase
import HearthDatabase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Files of iCalendar and vCards: counts, encodings, and files that no honest program writes.
@Suite(.timeLimit(.minutes(5))) struct RecordFileTests {
    private static func with(_ body: (Records) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let home = try await AssistantHome(path: folder.path("home"), time: .system)
        try await body(home.records)
        await home.database.close()
    }

    private static func calendar(_ components: String) -> String {
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n\(components)END:VCALENDAR\r\n"
    }
    private static func event(_ id: String, _ title: String) -> String {
        "BEGIN:VEVENT\r\nUID:\(id)\r\nDTSTART:20261125T090000Z\r\nSUMMARY:\(title)\r\nEND:VEVENT\r\n"
    }
    private static func todo(_ id: String, _ title: String) -> String {
        "BEGIN:VTODO\r\nUID:\(id)\r\nDUE:20261125T090000Z\r\nSUMMARY:\(title)\r\nEND:VTODO\r\n"
    }
    private static func card(_ id: String, _ name: String) -> String {
        "BEGIN:VCARD\r\nVERSION:4.0\r\nUID:\(id)\r\nFN:\(name)\r\nEND:VCARD\r\n"
    }

    @Test func aSecondImportDoublesNothing() async throws {
        try await Self.with { (records: Records) async throws in
            let file = Data(
                Self.calendar(Self.event("a", "Fair") + Self.event("b", "Walk") + Self.todo("c", "Pay")).utf8)
            let first = try await records.importFile(file)
            #expect(first.events.map { [$0.added, $0.changed, $0.skipped] } == [2, 0, 0])
            #expect(first.reminders.map { [$0.added, $0.changed, $0.skipped] } == [1, 0, 0])
            #expect(first.contacts == nil)
            let second = try await records.importFile(file)
            #expect(second.events.map { [$0.added, $0.changed, $0.skipped] } == [0, 0, 2])
            #expect(second.events?.action == nil && second.reminders?.skipped == 1)
            // An exported file comes back as it is.
            let exported = try await records.events.export()
            #expect(try await records.importFile(exported).events?.skipped == 2)
            let changed = Data(Self.calendar(Self.event("a", "Fair in May")).utf8)
            #expect(try await records.importFile(changed).events.map { [$0.added, $0.changed] } == [0, 1])
            #expect(try await records.events.find().count == 2)
            let action = try #require(first.reminders?.action)
            _ = try await records.undo(action)
            #expect(try await records.reminders.find().isEmpty)
        }
    }

    /// Reminders that cannot be written.
    private struct FullReminders: ByteStore {
        let base: any ByteStore<Reminder>

        func records(matching words: String, limit: Int) async throws -> [Reminder] {
            try await base.records(matching: words, limit: limit)
        }
        func record(_ id: String) async throws -> Reminder? { try await base.record(id) }
        func unreadableFiles() async throws -> [String] { try await base.unreadableFiles() }
        func change(of id: String, to record: Reminder?) async throws -> RecordChange {
            try await base.change(of: id, to: record)
        }
        func marked(_ change: RecordChange, from source: String) async throws -> RecordChange {
            try await base.marked(change, from: source)
        }
        func apply(_ change: RecordChange) async throws { throw AssistantError.noRecord(change.id) }
        func state(of change: RecordChange) async throws -> RecordState { try await base.state(of: change) }
        func importing(_ data: Data) async throws -> RecordImportPlan { try await base.importing(data) }
        func exported() async throws -> Data { try await base.exported() }
    }

    @Test func aFileIsNotHalfImported() async throws {
        try await Self.with { (home: Records) async throws in
            let reminders = FullReminders(base: try #require(home.stores.reminders?.bytes))
            let stores = AssistantStores(calendar: home.stores.calendar, reminders: reminders)
            let records = Records(stores, journal: MemoryActionJournal(), time: .system)
            let file = Data(Self.calendar(Self.event("a", "Fair") + Self.todo("c", "Pay")).utf8)
            await #expect(throws: (any Error).self) { try await records.importFile(file) }
            #expect(try await records.events.find().isEmpty)
            let actions = try await records.actions(limit: 9)
            #expect(actions.map(\.state) == [.failed, .undone])
        }
    }

    @Test func cardsAreImportedOnce() async throws {
        try await Self.with { (records: Records) async throws in
            let file = Data((1...20).map { Self.card("c\($0)", "Name \($0)") }.joined().utf8)
            #expect(try await records.importFile(file).contacts?.added == 20)
            let again = try await records.importFile(try await records.contacts.export())
            #expect(again.contacts.map { [$0.added, $0.changed, $0.skipped] } == [0, 0, 20])
            #expect(try await records.contacts.find(limit: 100).count == 20)
        }
    }

    @Test func otherEncodingsAreRead() async throws {
        let text = Self.calendar(Self.event("a", "Café für Größe"))
        let latin = Data(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        let units = Array(text.utf16)
        let little = Data([0xFF, 0xFE]) + Data(units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
        let big = Data([0xFE, 0xFF]) + Data(units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
        for data in [Data(text.utf8), Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8), latin, little, big] {
            try await Self.with { (records: Records) async throws in
                #expect(try await records.importFile(data).events?.added == 1)
                #expect(try await records.events.find().map(\.displayName) == ["Café für Größe"])
            }
        }
    }

    /// Byte order marks at any beginning, CR alone, and files in the folder as well as imported ones.
    @Test func lineEndsAndMarksAreRead() async throws {
        let mark = "\u{FEFF}"
        let (one, two) = (Self.calendar(Self.event("a", "Größe")), Self.calendar(Self.event("b", "Größe")))
        let units = Array(one.utf16)
        let files: [(Data, Int)] = [
            (Data((mark + one + mark + two).utf8), 2), (Data(one.replacing("\r\n", with: "\r").utf8), 1),
            (Data(one.replacing("\r\n", with: "\n").utf8), 1), (Data(one.replacing("\r\n", with: "\r\r\n").utf8), 1),
            (Data(units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }), 1),
            (Data(units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }), 1),
        ]
        for (data, count) in files {
            try await Self.with { (records: Records) async throws in
                let outcome = try await records.importFile(data).events
                #expect(outcome?.added == count)
                #expect(Set(try await records.events.find().map(\.displayName)) == ["Größe"])
                #expect(try await records.importFile(data).events?.skipped == count)
            }
            let fixture = try CalendarFixture()
            try fixture.folder.write("calendar/a/file.ics", data)
            #expect(try await fixture.starts("2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z").count == count)
            // A change writes it in UTF-8.
            guard count == 1 else { continue }
            try await fixture.calendar.apply(fixture.calendar.change(of: "a", to: EventFields(location: "Café")))
            #expect(try await fixture.calendar.record("a")?.fields.location == "Café")
            #expect(try fixture.text("calendar/a/file.ics").hasPrefix("BEGIN:VCALENDAR"))
        }
    }

    @Test func hostileFilesChangeNothing() async throws {
        let whole = Self.calendar(Self.event("a", "Fair"))
        let many = Self.calendar((0...Records.fileLimit).map { Self.event("e\($0)", "E") }.joined())
        let files: [(Data, ErrorCode<AssistantStores>)] = [
            (Data(), .unusableRecord), (Data("hello".utf8), .unusableRecord), (Data([0, 1, 2, 3]), .unusableRecord),
            (Data(whole.utf8.prefix(whole.utf8.count / 2)), .unusableRecord),
            (Data(whole.utf8.prefix(whole.utf8.count - 16)), .unusableRecord),
            (Data(Self.calendar("").utf8), .unusableRecord),
            (Data((whole + "\u{0}").utf8), .unusableRecord),
            (Data(Self.calendar(String(repeating: "BEGIN:VEVENT\r\n", count: 50)).utf8), .unusableRecord),
            (Data([0xFF, 0xFE, 0x00]), .unusableRecord), (Data(many.utf8), .tooManyRecords),
        ]
        for (data, code) in files {
            try await Self.with { (records: Records) async throws in
                await #expect { _ = try await records.importFile(data) } throws: { error in
                    (error as? AssistantError)?.code == code
                }
                #expect(try await records.events.find().isEmpty)
            }
        }
    }

    /// The count of the refusal is that of the file.
    @Test func theCountOfAHugeFileIsNamed() async throws {
        let cards = (1...12_345).map { Self.card("c\($0)", "N") }.joined()
        try await Self.with { (records: Records) async throws in
            await #expect { _ = try await records.importFile(Data(cards.utf8)) } throws: { error in
                (error as? AssistantError)?.context.found == "12345"
            }
        }
    }
}
