import Foundation
import HearthBase
import Testing

@testable import HearthAssistant

/// An edit of a contact changes the lines of the edited values and no other.
struct ContactEditingTests {
    private static let version3 = """
        BEGIN:VCARD
        VERSION:3.0
        UID:a
        N:Müller;Anna;;;
        FN:Anna Müller
        NICKNAME:Änni,Mausi
        TEL;TYPE=CELL,VOICE;X-OWN=1:+49 (0)171 555-0123
        tel;type=WORK:030 / 555 0199
        item1.TEL:5550155
        item1.X-ABLabel:_$!<Weekend>!$_
        EMAIL;TYPE=INTERNET;TYPE=HOME:anna@example.org
        ORG:Bäckerei Müller;Backstube
        NOTE:Likes\\, bread\\nand
          salt
        X-ODD;A="b;c":fol
         ded
        END:VCARD
        """
    private static let version4 = """
        BEGIN:VCARD
        VERSION:4.0
        UID:b
        N:Straße;Øyvind;;;
        TEL;VALUE=uri;PREF=1;TYPE="voice,home":tel:+47-22-555-014;ext=12
        EMAIL:mailto:o@example.net
        END:VCARD
        """
    private static let version2 = """
        BEGIN:VCARD
        VERSION:2.1
        UID:c
        N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Garc=C3=ADa;Jos=C3=A9 =
        Luis
        TEL;HOME;PREF:5550177
        NOTE;CHARSET=ISO-8859-1;QUOTED-PRINTABLE:Ren=E9
        END:VCARD
        """
    private static let odd = """
        BEGIN:VCARD
        FN:=
        TEL
        EMAIL;;;=:
        :
        ;
        N:;\\;\\
        TEL;=;TYPE:12
        TEL;TYPE=:13
        item1.TEL;TYPE=work,cell:14
        item1.EMAIL:x@example.org
        item1.X-ABLabel:Both
        NOTE:one
        NOTE;LANGUAGE=de:zwei
        END:VCARD
        """

    /// An edit, and the lines that it removes and adds.
    struct Edit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let card: String
        var removed: [String] = []
        var added: [String] = []
        let change: @Sendable (inout Contact) -> Void
    }

    private static let edits: [Edit] = [
        Edit(testDescription: "nothing", card: version3) { _ in },
        Edit(testDescription: "nothing in version 4", card: version4) { _ in },
        Edit(testDescription: "nothing in version 2.1", card: version2) { _ in },
        Edit(testDescription: "nothing in an odd card", card: odd) { _ in },
        Edit(
            testDescription: "a note", card: version3, removed: ["NOTE:Likes\\, bread\\nand", "  salt"],
            added: ["NOTE:New\\; note"]
        ) { $0.note = "New; note" },
        Edit(
            testDescription: "a name", card: version3, removed: ["N:Müller;Anna;;;", "FN:Anna Müller"],
            added: ["N:Anna Berg;;;;", "FN:Anna Berg"]
        ) { $0.name = "Anna Berg" },
        Edit(
            testDescription: "nicknames", card: version3, removed: ["NICKNAME:Änni,Mausi"],
            added: ["NICKNAME:Änni,A\\,B"]
        ) { $0.nicknames = ["Änni", "A,B"] },
        Edit(testDescription: "no organization", card: version3, removed: ["ORG:Bäckerei Müller;Backstube"]) {
            $0.organization = ""
        },
        Edit(
            testDescription: "a label", card: version3,
            removed: ["TEL;TYPE=CELL,VOICE;X-OWN=1:+49 (0)171 555-0123"],
            added: ["TEL;TYPE=home,VOICE;X-OWN=1:+49 (0)171 555-0123"]
        ) { $0.numbers[0].label = "Home" },
        Edit(
            testDescription: "no label", card: version3, removed: ["tel;type=WORK:030 / 555 0199"],
            added: ["TEL:030 / 555 0199"]
        ) { $0.numbers[1].label = "" },
        Edit(
            testDescription: "a label that is no type", card: version3, removed: ["tel;type=WORK:030 / 555 0199"],
            added: ["item2.TEL;TYPE=WORK:030 / 555 0199", "item2.X-ABLabel:büro\\; west"]
        ) { $0.numbers[1].label = "Büro; West" },
        Edit(
            testDescription: "the label of a group", card: version3, removed: ["item1.X-ABLabel:_$!<Weekend>!$_"],
            added: ["item1.X-ABLabel:office"]
        ) { $0.numbers[2].label = "office" },
        Edit(
            testDescription: "a number", card: version3, removed: ["tel;type=WORK:030 / 555 0199"],
            added: ["TEL;TYPE=WORK:030 1"]
        ) { $0.numbers[1].value = "030 1" },
        Edit(
            testDescription: "a removed number with the label of a group", card: version3,
            removed: ["item1.TEL:5550155", "item1.X-ABLabel:_$!<Weekend>!$_"]
        ) { $0.numbers.removeLast() },
        Edit(testDescription: "a new number before the others", card: version3, added: ["TEL;TYPE=fax:1"]) {
            $0.numbers.insert(.init(label: "fax", value: "1"), at: 0)
        },
        Edit(testDescription: "a new mail address", card: version3, added: ["EMAIL;TYPE=work:a@b"]) {
            $0.mails.append(.init(label: "work", value: "a@b"))
        },
        Edit(
            testDescription: "the note of a card without FN", card: version4, added: ["NOTE:x"]
        ) { $0.note = "x" },
        Edit(
            testDescription: "the label of a URI", card: version4,
            removed: ["TEL;VALUE=uri;PREF=1;TYPE=\"voice,home\":tel:+47-22-555-014;ext=12"],
            added: ["TEL;VALUE=uri;PREF=1;TYPE=voice,work:tel:+47-22-555-014;ext=12"]
        ) { $0.numbers[0].label = "work" },
        Edit(
            testDescription: "another number in place of a URI", card: version4,
            removed: ["TEL;VALUE=uri;PREF=1;TYPE=\"voice,home\":tel:+47-22-555-014;ext=12"],
            added: ["TEL;PREF=1;TYPE=\"voice,home\":+47 1"]
        ) { $0.numbers[0].value = "+47 1" },
        Edit(
            testDescription: "a bare type of version 2.1", card: version2, removed: ["TEL;HOME;PREF:5550177"],
            added: ["TEL;work;PREF:5550177"]
        ) { $0.numbers[0].label = "work" },
        Edit(
            testDescription: "a text of version 2.1", card: version2,
            removed: ["NOTE;CHARSET=ISO-8859-1;QUOTED-PRINTABLE:Ren=E9"],
            added: ["NOTE;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Ren=C3=A9=0D=0A1=3D1"]
        ) { $0.note = "René\n1=1" },
        Edit(
            testDescription: "a label that others share", card: odd, removed: ["item1.TEL;TYPE=work,cell:14"],
            added: ["TEL;TYPE=fax,cell:14"]
        ) { $0.numbers[2].label = "fax" },
        Edit(
            testDescription: "two notes", card: odd, removed: ["NOTE:one", "NOTE;LANGUAGE=de:zwei"],
            added: ["NOTE:three"]
        ) { $0.note = "three" },
    ]

    private static func component(_ text: String) throws -> ContentComponent {
        let data = Data((text + "\n").replacing("\n", with: "\r\n").utf8)
        return try #require(try ContentParser().parse(data).components.first)
    }

    private static func lines(_ card: ContentComponent) -> [String] {
        String(decoding: card.bytes, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    @Test(arguments: edits) func changesTheLinesOfOneValue(_ edit: Edit) throws {
        var card = try Self.component(edit.card)
        let before = Self.lines(card)
        var contact = VCard.decoded(card).contact
        edit.change(&contact)
        try ContactWriter.write(contact, to: &card)
        let difference = Self.lines(card).difference(from: before)
        #expect(difference.removals.map(\.text).sorted() == edit.removed.sorted())
        #expect(difference.insertions.map(\.text).sorted() == edit.added.sorted())
        #expect(Self.normalised(VCard.decoded(card).contact) == Self.normalised(contact))
    }

    @Test func entriesInAnotherOrderExchangeTheirLines() throws {
        var card = try Self.component(Self.version3)
        var contact = VCard.decoded(card).contact
        contact.numbers.swapAt(0, 1)
        try ContactWriter.write(contact, to: &card)
        let lines = Self.lines(card)
        #expect(lines.sorted() == Self.lines(try Self.component(Self.version3)).sorted())
        #expect(lines[6] == "tel;type=WORK:030 / 555 0199")
        #expect(VCard.decoded(card).contact.numbers == contact.numbers)
    }

    /// Whatever is edited, the card then says so, and the lines of other values are as before.
    @Test func saysWhatWasWritten() throws {
        var random = SeededRandom(seed: 23)
        let labels = ["", "home", "work", "cell", "voice", "pref", "büro", "second home", "base64", "a;b,c\\d"]
        let values = ["1", "+49 30 1", "a@b.c", "x;y,z", "5550177", "ö=1", String(repeating: "long ", count: 30) + "x"]
        func entries(_ old: [Contact.Entry]) -> [Contact.Entry] {
            var entries = old.shuffled(using: &random)
            if Bool.random(using: &random) { entries.removeLast(min(1, entries.count)) }
            for index in entries.indices where Bool.random(using: &random) {
                entries[index].label = labels.randomElement(using: &random) ?? ""
            }
            for index in entries.indices where Int.random(in: 0..<4, using: &random) == 0 {
                entries[index].value = values.randomElement(using: &random) ?? ""
            }
            for _ in 0..<Int.random(in: 0..<3, using: &random) {
                let (label, value) = (labels.randomElement(using: &random), values.randomElement(using: &random))
                let place = Int.random(in: 0...entries.count, using: &random)
                entries.insert(.init(label: label ?? "", value: value ?? ""), at: place)
            }
            return entries
        }
        for source in [Self.version2, Self.version3, Self.version4, Self.odd] {
            for _ in 0..<20 {
                var card = try Self.component(source)
                for _ in 0..<3 {
                    let others = card.lines.filter { !["TEL", "EMAIL", "X-ABLABEL", "NOTE"].contains($0.name) }
                    var contact = VCard.decoded(card).contact
                    contact.numbers = entries(contact.numbers)
                    contact.mails = entries(contact.mails)
                    contact.note = values.randomElement(using: &random) ?? ""
                    try ContactWriter.write(contact, to: &card)
                    #expect(Self.normalised(VCard.decoded(card).contact) == Self.normalised(contact))
                    #expect(card.lines.filter { !["TEL", "EMAIL", "X-ABLABEL", "NOTE"].contains($0.name) } == others)
                    let again = try ContentParser().parse(Data(card.bytes)).components.first
                    #expect(again == card)
                }
            }
        }
    }

    @Test func refusesAChangedValueThatIsTooLong() throws {
        let long = String(repeating: "x", count: 10_001)
        var card = try Self.component(Self.version3.replacing("NOTE:Likes", with: "NOTE:\(long)"))
        var contact = VCard.decoded(card).contact
        contact.nicknames = []
        try ContactWriter.write(contact, to: &card)
        contact.numbers[0].value = long
        let error = #expect(throws: AssistantError.self) { try ContactWriter.write(contact, to: &card) }
        #expect(error?.code == .unusablePayload)
    }

    /// The contact as a card keeps it. A card without a UID gets one from its store.
    private static func normalised(_ contact: Contact) -> Contact {
        var contact = contact
        contact.id = ""
        func entries(_ entries: [Contact.Entry]) -> [Contact.Entry] {
            entries.map { .init(label: $0.label.lowercased(), value: $0.value) }
        }
        (contact.numbers, contact.mails) = (entries(contact.numbers), entries(contact.mails))
        return contact
    }
}

extension CollectionDifference<String>.Change {
    fileprivate var text: String {
        switch self {
        case .insert(_, let text, _), .remove(_, let text, _): text
        }
    }
}
