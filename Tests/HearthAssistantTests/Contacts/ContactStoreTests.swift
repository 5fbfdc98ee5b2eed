import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Contacts in vCards of three versions.
struct ContactStoreTests {
    private static let cards: [String: String] = [
        "v3": """
        BEGIN:VCARD
        VERSION:3.0
        UID:anna
        FN:Anna Müller
        N:Müller;Anna;;;
        NICKNAME:Änni,Mausi
        TEL;TYPE=CELL,VOICE:+49 (0)171 555-0123
        TEL;type=WORK:030 / 555 0199
        EMAIL;TYPE=INTERNET;TYPE=HOME:anna.mueller@example.org
        ORG:Bäckerei Müller;Backstube
        NOTE:Likes\\, bread\\nand
          salt
        END:VCARD
        """,
        "v4": """
        BEGIN:VCARD
        VERSION:4.0
        UID:urn:uuid:4fbe8971-0bc3-424c-9c26-36c3e1eff6b1
        FN;PREF=1:Øyvind Łukasz Straße
        TEL;VALUE=uri;PREF=1;TYPE="voice,home":tel:+47-22-555-014;ext=12
        item1.EMAIL:o@example.net
        item1.X-ABLabel:_$!<Weekend>!$_
        END:VCARD
        """,
        "v2": """
        BEGIN:VCARD
        VERSION:2.1
        N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Garc=C3=ADa;Jos=C3=A9 =
        Luis
        TEL;HOME;PREF:5550177
        EMAIL;INTERNET:jose@example.com
        END:VCARD
        BEGIN:VCARD
        VERSION:2.1
        FN;CHARSET=ISO-8859-1;QUOTED-PRINTABLE:Ren=E9
        TEL;CELL:0049 171 5550155
        END:VCARD
        """,
        "company": "BEGIN:VCARD\nVERSION:3.0\nUID:c\nFN:\nN:;;;;\nORG:Annas Werkstatt\nEND:VCARD",
        "japanese": "BEGIN:VCARD\nVERSION:4.0\nUID:j\nFN:山田 太郎\nEND:VCARD",
    ]

    /// A store, and its folder, which exists as long as the value does.
    private struct Place {
        let folder: TemporaryFolder
        let store: VdirContactStore
    }

    private static func place() throws -> Place {
        let folder = try TemporaryFolder()
        for (name, text) in cards {
            try folder.write("contacts/home/\(name).vcf", Data((text + "\n").replacing("\n", with: "\r\n").utf8))
        }
        return Place(folder: folder, store: VdirContactStore(home: folder.path))
    }

    @Test func readsTheValues() async throws {
        let place = try Self.place()
        let anna = try #require(try await place.store.records(matching: "Anna Müller", limit: 1).first)
        #expect(anna.id == "anna" && anna.collection == "home" && anna.name == "Anna Müller")
        #expect(anna.nicknames == ["Änni", "Mausi"])
        #expect(
            anna.numbers == [
                .init(label: "cell", value: "+49 (0)171 555-0123"), .init(label: "work", value: "030 / 555 0199"),
            ])
        #expect(anna.mails == [.init(label: "home", value: "anna.mueller@example.org")])
        #expect(anna.organization == "Bäckerei Müller, Backstube")
        #expect(anna.note == "Likes, bread\nand salt")
        let oyvind = try #require(try await place.store.records(matching: "oyvind", limit: 1).first)
        #expect(oyvind.numbers == [.init(label: "home", value: "+47-22-555-014")])
        #expect(oyvind.mails == [.init(label: "weekend", value: "o@example.net")])
        let jose = try #require(try await place.store.records(matching: "jose garcia", limit: 1).first)
        #expect(jose.name == "José Luis García" && jose.numbers == [.init(label: "home", value: "5550177")])
        #expect(try await place.store.records(matching: "rene", limit: 9).map(\.name) == ["René"])
        #expect(try await place.store.unreadableFiles().count == 0)
    }

    @Test(arguments: [
        ("anna muller", ["Anna Müller"]), ("MAUSI", ["Anna Müller"]), ("anni", ["Anna Müller"]),
        ("anna", ["Anna Müller", "Annas Werkstatt"]), ("lukasz strasse", ["Øyvind Łukasz Straße"]),
        ("0171 5550123", ["Anna Müller"]), ("+49 171 5550123", ["Anna Müller"]), ("0049 171 555 0123", ["Anna Müller"]),
        ("+491715550155", ["René"]), ("5550155", ["René"]), ("+47 22 555 014", ["Øyvind Łukasz Straße"]),
        ("0305550199", ["Anna Müller"]), ("+49 30 555 0199", ["Anna Müller"]),
        ("jose@example.com", ["José Luis García"]),
        ("anna.mueller@example.org", ["Anna Müller"]), ("太郎", ["山田 太郎"]), ("zacharias", []), ("99", []),
        ("werkstatt", ["Annas Werkstatt"]),
    ])
    func finds(query: String, names: [String]) async throws {
        let place = try Self.place()
        #expect(try await place.store.records(matching: query, limit: 9).map(\.name) == names, "\(query)")
    }

    @Test func emptyWordsMatchAll() async throws {
        let place = try Self.place()
        #expect(try await place.store.records(matching: " ", limit: 99).count == 6)
        #expect(try await place.store.records(matching: "", limit: 2).count == 2)
        #expect(try await place.store.records(matching: "", limit: -1) == [])
    }

    @Test func importsEachCardWithItsBytes() async throws {
        let place = try Self.place()
        let card = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:new/1\r\nFN:New\r\nX-ODD;A=\"b;c\":fol\r\n ded\r\nEND:VCARD\r\n"
        let anonymous = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:No id\r\nEND:VCARD\r\n"
        let changes = try await place.store.importing(Data((card + anonymous).utf8)).changes
        #expect(changes.count == 2 && changes[0].after == Data(card.utf8) && changes[0].collection == "home")
        for change in changes { try await place.store.apply(change) }
        #expect(try await place.store.records(matching: "no id", limit: 9).map(\.id) == [changes[1].id])
        let exported = String(decoding: try await place.store.exported(), as: UTF8.self)
        #expect(exported.contains(card))
        // The same file again replaces nothing.
        for change in try await place.store.importing(Data((card + anonymous).utf8)).changes {
            #expect(change.before == change.after)
        }
        for change in changes { try await place.store.apply(change.inverted) }
        #expect(try LocalFileSystem().files(below: place.folder.path("contacts/home")).count == Self.cards.count)
        let error = await #expect(throws: AssistantError.self) { try await place.store.importing(Data("x".utf8)) }
        #expect(error?.code == .unusableRecord)
    }

    /// A card without a UID gets its digest as one with the first change, so that the change can be undone.
    @Test func changesACardWithoutAUID() async throws {
        let place = try Self.place()
        var rene = try #require(try await place.store.records(matching: "rene", limit: 1).first)
        rene.numbers[0].label = "work"
        let change = try await place.store.change(of: rene.id, to: rene)
        try await place.store.apply(change)
        #expect(try await place.store.record(rene.id) == rene)
        #expect(try await place.store.state(of: change) == .after)
        try await place.store.apply(change.inverted)
        #expect(try await place.store.record(rene.id)?.numbers.map(\.label) == ["cell"])
    }

    @Test func skipsWhatItCannotRead() async throws {
        let place = try Self.place()
        for (name, data) in [
            ("large", Data(repeating: 65, count: 10 << 20)), ("binary", Data([0, 1, 2])),
            ("cut", Data("BEGIN:VCARD\r\nFN:x".utf8)),
            ("soft", Data(("BEGIN:VCARD\r\nFN;QUOTED-PRINTABLE:" + String(repeating: "=\r\n", count: 60_000)).utf8)),
            ("deep", Data(String(repeating: "BEGIN:VCARD\r\n", count: 1000).utf8)),
        ] { try place.folder.write("contacts/home/\(name).vcf", data) }
        try place.folder.write(
            "contacts/home/odd.vcf",
            Data(
                "BEGIN:VCARD\r\nFN:=\r\nTEL\r\nEMAIL;;;=:\r\n:\r\n;\r\nN:;\\;\\\r\nTEL;=;TYPE:12\r\nEND:VCARD\r\n".utf8)
        )
        #expect(try await place.store.records(matching: "", limit: 99).count == 7)
        #expect(try await place.store.unreadableFiles().count == 5)
    }
}
