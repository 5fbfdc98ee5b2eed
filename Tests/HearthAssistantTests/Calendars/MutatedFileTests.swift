import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Files with random faults: each is read or skipped, and what is read is written as it was.
struct MutatedFileTests {
    private static let calendar = """
        BEGIN:VCALENDAR
        VERSION:2.0
        BEGIN:VTIMEZONE
        TZID:Home
        BEGIN:STANDARD
        DTSTART:20001001T030000
        RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=1SU
        TZOFFSETFROM:+0300
        TZOFFSETTO:+0200
        END:STANDARD
        END:VTIMEZONE
        BEGIN:VEVENT
        UID:u
        DTSTART;TZID=Home:20270704T100000
        DURATION:PT1H
        RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;COUNT=9
        EXDATE;TZID=Home:20270711T100000
        SUMMARY;LANGUAGE="de":fol
          ded\\, text
        END:VEVENT
        END:VCALENDAR

        """.replacing("\n", with: "\r\n")

    private static let card = """
        BEGIN:VCARD
        VERSION:2.1
        N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:Ren=E9;=
        Jos
        item1.TEL;TYPE="cell,home":+49 171 555
        END:VCARD

        """.replacing("\n", with: "\r\n")

    private static func mutated(_ text: String, _ random: inout SeededGenerator) -> Data {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 1...255, using: &random)
            case 1: bytes.insert(Array(";:=,\\\"\r\n 9Z-".utf8).randomElement(using: &random) ?? 0, at: place)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...20, using: &random)))
            case 3: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 60)], at: place)
            default: bytes[place] = bytes.randomElement(using: &random) ?? 0
            }
        }
        return Data(bytes)
    }

    @Test func calendarsAreReadOrSkipped() async throws {
        var random = SeededGenerator(seed: 23)
        let fixture = try CalendarFixture()
        var read = 0
        for _ in 0..<(TestExtent.isFull ? 300 : 80) {
            let data = Self.mutated(Self.calendar, &random)
            // Some of them are no iCalendar at all; the store says so below.
            if let document = try? ContentParser().parse(data) { #expect(document.data == ImportedText.utf8(data)) }
            try fixture.folder.write("calendar/a/u.ics", data)
            let found = try await fixture.starts("2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z")
            #expect(found.count <= 400)
            let unreadable = try await fixture.calendar.unreadableFiles().count
            guard unreadable == 0,
                let event = try await fixture.calendar.records(matching: "", limit: 1).first
            else { continue }
            read += 1
            // What is changed and restored has its bytes again.
            let change = try await fixture.calendar.change(of: event.id, to: EventFields(title: "New; title"))
            try await fixture.calendar.apply(change)
            #expect(try await fixture.calendar.record(event.id)?.fields.title == "New; title")
            try await fixture.calendar.apply(change.inverted)
            #expect(
                try LocalFileSystem().contents(ofFile: fixture.folder.path("calendar/a/u.ics"), limit: 1 << 20) == data)
        }
        #expect(read > (TestExtent.isFull ? 50 : 10))
    }

    @Test func cardsAreReadOrSkipped() async throws {
        var random = SeededGenerator(seed: 24)
        var read = 0
        for _ in 0..<600 {
            let data = Self.mutated(Self.card, &random)
            do {
                #expect(try VCard.contacts(data).allSatisfy { !$0.id.isEmpty })
                read += 1
            } catch let failure as ContentParser.Failure {
                #expect(!failure.reason.isEmpty)
            }
        }
        #expect(read > 50)
    }
}
