import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthApple
@testable import HearthAssistant

/// A contact database in memory.
private final class FakeContacts: ContactDatabase {
    private struct Values {
        var cards: [String: ContactCard] = [:]
        var count = 0
    }

    private let values = Locked(Values())
    let hasNotes: Bool

    init(hasNotes: Bool = false) { self.hasNotes = hasNotes }

    var all: [ContactCard] {
        values.withLock { values in values.cards.values.sorted { $0.identifier < $1.identifier } }
    }

    func change(_ card: ContactCard) { values.withLock { $0.cards[card.identifier] = card } }
    func contact(_ identifier: String) async throws -> ContactCard? { values.withLock { $0.cards[identifier] } }
    func contacts() async throws -> [ContactCard] { values.withLock { Array($0.cards.values) } }

    func save(_ card: ContactCard) async throws {
        values.withLock { values in
            var card = card
            if card.identifier.isEmpty {
                values.count += 1
                card.identifier = "cn-\(values.count)"
            }
            values.cards[card.identifier] = card
        }
    }

    func remove(_ identifier: String) async throws { values.withLock { $0.cards[identifier] = nil } }
}

@Suite struct SystemContactsTests {
    private let permission = Permission()
    private let database = FakeContacts()
    private let records: Records

    init() {
        let store = SystemContacts(database, access: permission.access(.contacts))
        records = Records(
            AssistantStores(contacts: store), journal: MemoryActionJournal(), time: ManualClock().time)
    }

    @Test func aContactComesBackAsItWasAdded() async throws {
        let contact = Contact(
            name: "Anna Maria Weiß", nicknames: ["Anni", "A. M."],
            numbers: [.init(label: "cell", value: "+49 30 1234"), .init(label: "", value: "112")],
            mails: [.init(label: "work", value: "anna@example.org"), .init(label: "Club", value: "a@example.net")],
            organization: "Example", birthday: "1980-02-29")
        let edit = try await records.contacts.add(contact)
        var expected = contact
        expected.id = edit.id
        expected.mails[1].label = "club"
        #expect(try await records.contacts.record(edit.id) == expected)
        let card = try #require(database.all.first)
        #expect(card.given == "Anna Maria" && card.family == "Weiß")
        #expect(card.numbers.map(\.label) == ["_$!<Mobile>!$_", nil])
        #expect(card.mails.map(\.label) == ["_$!<Work>!$_", "club"])
    }

    @Test(arguments: ["1886-05-01", "0476-09-04", "--02-29", "2024-02-29", "1980-12-31"])
    func everyBirthdayComesBack(_ birthday: String) async throws {
        let edit = try await records.contacts.add(Contact(name: "A", birthday: birthday))
        #expect(try await records.contacts.record(edit.id)?.birthday == birthday)
        #expect(database.all.first?.birthday?.year == (birthday.hasPrefix("-") ? nil : Int(birthday.prefix(4))))
    }

    @Test(arguments: ["1981-02-29", "1886-13-01", "yesterday"])
    func daysThatDoNotExistAreRefused(_ birthday: String) async {
        #expect(
            await code { try await records.contacts.add(Contact(name: "A", birthday: birthday)) } == "unusable-payload")
        #expect(database.all.isEmpty)
    }

    @Test func aBirthdayThatNoCalendarHasIsNotShown() {
        var card = ContactCard()
        card.birthday = DateComponents(year: 1981, month: 2, day: 29)
        #expect(card.record(id: "x").birthday == nil)
    }

    @Test func aChangeKeepsWhatHearthDoesNotShow() async throws {
        var card = ContactCard()
        (card.identifier, card.prefix, card.given) = ("cn", "Dr.", "Anna")
        (card.middle, card.family, card.suffix) = ("M.", "Weiß", "jun.")
        card.numbers = [.init(label: "iPhone", value: "1"), .init(label: "_$!<HomeFAX>!$_", value: "2")]
        card.addresses = [.init(label: nil, value: "https://example.org")]
        database.change(card)
        #expect(try await records.contacts.record("cn")?.name == "Dr. Anna M. Weiß jun.")
        let edit = try await records.contacts.change("cn") {
            $0.organization = "Example"
            $0.numbers.append(.init(label: "home", value: "3"))
        }
        let changed = try #require(database.all.first)
        #expect(changed.numbers.map(\.label) == ["iPhone", "_$!<HomeFAX>!$_", "_$!<Home>!$_"])
        #expect(changed.family == "Weiß" && changed.middle == "M." && changed.addresses == card.addresses)
        try await records.undo(edit.action)
        #expect(database.all == [card])
    }

    @Test(arguments: [
        ("Anna Maria Weiß", "Anna Maria", "Weiß"), ("Cher", "Cher", ""), ("王小明", "王小明", ""), ("김 철수", "김 철수", ""),
        ("  Anna   Weiß ", "Anna", "Weiß"), ("Anna 王", "Anna", "王"),
    ])
    func namesAreCutAtTheirLastWord(_ name: String, _ given: String, _ family: String) {
        let parts = ContactName(name)
        #expect(parts.given == given && parts.family == family)
        #expect(parts.text == name.split(separator: " ").joined(separator: " "))
    }

    @Test func familyNamesAreFirstInEastAsia() {
        #expect(ContactName(given: "小明", family: "王").text == "王小明")
        #expect(ContactName(given: "Anna", family: "王").text == "Anna 王")
    }

    @Test func aContactIsFoundByNameNumberAndMail() async throws {
        try await records.contacts.add(
            Contact(name: "Anna Weiß", numbers: [.init(label: "cell", value: "+49 (0)30 123456")]))
        try await records.contacts.add(Contact(name: "Bert", mails: [.init(label: "", value: "weiss@example.org")]))
        #expect(try await records.contacts.find("weiss").map(\.name) == ["Anna Weiß", "Bert"])
        #expect(try await records.contacts.find("030 123456").map(\.name) == ["Anna Weiß"])
        #expect(try await records.contacts.find("", limit: 1).count == 1)
    }

    @Test func aContactWithoutANameHasThatOfItsOrganization() async throws {
        var card = ContactCard()
        (card.identifier, card.organization) = ("cn", "Example")
        database.change(card)
        #expect(try await records.contacts.record("cn")?.name == "Example")
        try await records.contacts.change("cn") { $0.numbers = [.init(label: "", value: "1")] }
        #expect(database.all.first?.given == "")
    }

    @Test func notesNeedTheirEntitlement() async throws {
        let edit = try await records.contacts.add(Contact(name: "A"))
        #expect(
            await code { try await records.contacts.change(edit.id) { $0.note = "tall" } } == "unusable-payload")
        let other = FakeContacts(hasNotes: true)
        let store = SystemContacts(other, access: permission.access(.contacts))
        try await store.write(Contact(name: "B", note: "tall"), id: "b")
        #expect(try await store.record("b")?.note == "tall")
    }

    @Test func aRemovedContactComesBack() async throws {
        let edit = try await records.contacts.add(Contact(name: "A B", birthday: "1886-05-01"))
        let removal = try await records.contacts.remove(edit.id)
        #expect(database.all.isEmpty)
        try await records.undo(removal.action)
        #expect(try await records.contacts.record(edit.id)?.birthday == "1886-05-01")
    }

    @Test func limitedAccessReadsAndAdds() async throws {
        permission.state = .limited
        let edit = try await records.contacts.add(Contact(name: "A"))
        #expect(try await records.contacts.record(edit.id) != nil)
        permission.state = .denied
        #expect(await code { _ = try await records.contacts.find("A") } == "access-denied")
    }

    @Test func aMarkIsKeptBesideTheAddresses() async throws {
        let store = SystemContacts(database, access: permission.access(.contacts))
        try await store.write(Contact(name: "A"), id: "a")
        var card = try #require(database.all.first)
        card.addresses.append(.init(label: nil, value: "not an address: %%"))
        database.change(card)
        let change = try await store.change(of: "a") {
            $0.note = ""; $0.name = "A of the page"
        }
        try await store.apply(try await store.marked(change, from: "web page & more"))
        #expect(try await store.record("a")?.source == "web page & more")
        #expect(database.all.first?.addresses.count == 2)
    }
}
