import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Cards of other programs: what an import repairs for the programs that share the folder, and what it keeps.
struct ContactImportTests {
    private static func card(_ lines: String, version: String = "3.0") -> String {
        "BEGIN:VCARD\nVERSION:\(version)\n\(lines)\nEND:VCARD\n".replacing("\n", with: "\r\n")
    }

    private static func stored(_ text: String) async throws -> (
        plan: RecordImportPlan, cards: [String], found: [Contact]
    ) {
        let folder = try TemporaryFolder()
        let store = VdirContactStore(home: folder.path)
        let plan = try await store.importing(Data(text.utf8))
        for change in plan.changes + plan.kept { try await store.apply(change) }
        let again = try await store.importing(Data(text.utf8))
        #expect((again.changes + again.kept).allSatisfy { $0.before == $0.after })
        let cards = plan.changes.compactMap { $0.after.map { String(decoding: $0, as: UTF8.self) } }
        return (plan, cards, try await store.records(matching: "", limit: 99))
    }

    @Test(arguments: [
        ("FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=D0=92=D0=B8=D0=BA=D1=82=D0=BE=\n =D1=80", "Виктор"),
        ("FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=D0=92=D0=B8=D0=BA=D1=82=D0=BE=\n=D1=80", "Виктор"),
        ("FN;ENCODING=QUOTED-PRINTABLE;CHARSET=WINDOWS-1252:J=F6rg =80", "Jörg €"),
        ("FN;QUOTED-PRINTABLE:Anna=20Berg", "Anna Berg"), ("N;CHARSET=UTF-8:Berg;Anna;;;", "Anna Berg"),
    ])
    func encodingsBecomePlain(line: String, name: String) async throws {
        let (plan, cards, found) = try await Self.stored(Self.card(line, version: "2.1"))
        #expect(found.map(\.name) == [name] && plan.problems.isEmpty)
        let card = try #require(cards.first)
        #expect(!card.contains("QUOTED-PRINTABLE") && !card.contains("CHARSET") && card.contains("\r\nFN:\(name)\r\n"))
    }

    @Test func cardsUnderOneIDStay() async throws {
        let text = Self.card("UID:same\nFN:One\nTEL:1") + Self.card("UID:same\nFN:Two\nTEL:2")
        let (plan, _, found) = try await Self.stored(text + Self.card("UID:same\nFN:One\nTEL:1"))
        #expect(plan.changes.count == 2 && plan.problems.map(\.code) == ["same-id"])
        #expect(Set(found.map(\.name)) == ["One", "Two"] && Set(found.map(\.id)).count == 2)
        // In one file of another program both are there, and each can be changed.
        let folder = try TemporaryFolder()
        try folder.write("contacts/a/two.vcf", Data(text.utf8))
        let store = VdirContactStore(home: folder.path)
        var second = try #require(try await store.records(matching: "two", limit: 1).first)
        second.note = "met in May"
        let change = try await store.change(of: second.id, to: second)
        try await store.apply(change)
        #expect(try await store.record(second.id)?.note == "met in May")
        #expect(try await store.record("same")?.note == "")
        try await store.apply(change.inverted)
        #expect(try await store.record(second.id)?.note == "")
    }

    @Test func linesThatAreNoProperties() async throws {
        let (plan, cards, found) = try await Self.stored(Self.card("FN:Bad Line\nthis line has no colon\nTEL:81"))
        #expect(plan.problems.map(\.code) == ["unreadable-line"] && plan.problems.map(\.line) == [4])
        #expect(found.first?.numbers.map(\.value) == ["81"])
        #expect(cards.first?.contains("X-HEARTH-LINE:this line has no colon\r\n") == true)
    }

    @Test(arguments: [
        "PHOTO;ENCODING=BASE64;JPEG:AAAA\nBBBB\n\nTEL:84", "PHOTO;ENCODING=b;TYPE=JPEG:AAAABBB\nTEL:84",
        "PHOTO;JPEG;BASE64:\n AAAA\n BB\n\nTEL:84",
    ])
    func picturesGetTheirForm(lines: String) async throws {
        let (plan, cards, found) = try await Self.stored(Self.card("FN:Photo\n" + lines, version: "2.1"))
        #expect(plan.problems.isEmpty && found.first?.numbers.map(\.value) == ["84"])
        let stored = Data(try #require(cards.first).utf8)
        let card = try #require(try ContentParser().parse(stored).components.first)
        let digits = try #require(card.first("PHOTO")?.value)
        #expect(Data(base64Encoded: digits) != nil, "\(digits)")
    }

    @Test func cardsWithoutANameAreKept() async throws {
        let card = Self.card("UID:empty\nFN:\nN:;;;;\nNOTE:nothing else")
        let (plan, _, found) = try await Self.stored(card + Self.card("ORG:Pizza Place\nTEL:030 555"))
        #expect(
            plan.unreadable == 1 && plan.problems.map(\.code) == ["empty-contact"]
                && plan.problems.map(\.id) == ["empty"])
        #expect(found.map(\.name) == ["Pizza Place"])
        let folder = try TemporaryFolder()
        let store = VdirContactStore(home: folder.path)
        for change in try await store.importing(Data(card.utf8)).kept { try await store.apply(change) }
        #expect(try await store.exported() == Data(card.utf8))
        #expect(try await store.problems().map(\.code) == ["empty-contact"])
        #expect(try await store.unreadableCount() == 1)
    }

    @Test(
        arguments: [
            ("BDAY:1980-02-29", "1980-02-29"), ("BDAY:19800229", "1980-02-29"), ("BDAY:--02-29", "--02-29"),
            ("BDAY:--0229", "--02-29"), ("BDAY:1980-02-29T00:00:00Z", "1980-02-29"),
            ("BDAY;VALUE=date:1980-02-29", "1980-02-29"),
            ("BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-29", "--02-29"), ("BDAY;VALUE=text:circa 1800", nil),
            ("BDAY:1981-02-29", nil),
            ("BDAY:1980", nil), ("BDAY:", nil), ("BDAY:-1980-2-29", nil), ("BDAY:9999999999999999999999", nil),
            ("BDAY:1980-13-01", nil), ("BDAY:19-80-0229", nil),
        ] as [(String, String?)])
    func birthdays(line: String, day: String?) async throws {
        #expect(try VCard.contacts(Data(Self.card("FN:Anna\n" + line).utf8)).first?.contact.birthday == day)
    }

    @Test(arguments: [("3.0", "BDAY:1980-02-29\r\n"), ("4.0", "BDAY:19800229\r\n")])
    func birthdaysAreWritten(version: String, line: String) async throws {
        let folder = try TemporaryFolder()
        try folder.write("contacts/a/a.vcf", Data(Self.card("UID:a\nFN:Anna", version: version).utf8))
        let store = VdirContactStore(home: folder.path)
        var contact = try #require(try await store.record("a"))
        contact.birthday = "1980-02-29"
        try await store.apply(store.change(of: "a", to: contact))
        #expect(try await store.record("a")?.birthday == "1980-02-29")
        #expect(String(decoding: try await store.exported(), as: UTF8.self).contains(line))
        contact.birthday = nil
        try await store.apply(store.change(of: "a", to: contact))
        #expect(!String(decoding: try await store.exported(), as: UTF8.self).contains("BDAY"))
        contact.birthday = "soon"
        let wrong = contact
        let error = await #expect(throws: AssistantError.self) { _ = try await store.change(of: "a", to: wrong) }
        #expect(error?.code == .unusablePayload && error?.context.field == "birthday")
    }
}
