import Foundation
import HearthBase
import HearthDatabase
import HearthTestSupport
import Testing

@testable import HearthAssistant

@Suite struct NoteStoreTests {
    private static let date = Date(timeIntervalSince1970: 1_800_000_000.1234567)

    private static func store() async throws -> SQLiteNoteStore {
        SQLiteNoteStore(try await AssistantDatabase.open(home: nil))
    }

    private static func create(_ store: SQLiteNoteStore, _ title: String, _ body: String, id: String) async throws {
        try await store.apply(store.creation(title: title, body: body, id: id, at: date))
    }

    @Test func aChangeHappensOnceAndCanBeUndone() async throws {
        let store = try await Self.store()
        let creation = try await store.creation(title: "Shopping", body: "Milk", id: "k", at: Self.date)
        #expect(try await store.state(of: creation) == .before)
        #expect(try await store.record("k") == nil)
        try await store.apply(creation)
        try await store.apply(creation)
        #expect(try await store.state(of: creation) == .after)
        #expect(try await store.records(matching: "", limit: 9).map(\.body) == ["Milk"])

        let appending = try await store.appending("Bread", to: "k", at: Self.date.addingTimeInterval(60))
        try await store.apply(appending)
        try await store.apply(appending)
        #expect(try await store.record("k")?.body == "Milk\n\nBread")
        #expect(try await store.state(of: creation) == .other)
        let error = await #expect(throws: AssistantError.self) { try await store.apply(creation.inverted) }
        #expect(error?.code == .changedElsewhere)

        try await store.apply(appending.inverted)
        #expect(try await store.record("k")?.body == "Milk")
        try await store.apply(creation.inverted)
        #expect(try await store.record("k") == nil)
        #expect(try await store.records(matching: "milk", limit: 9).isEmpty)
    }

    @Test func aRemovalBringsTheSameNoteBack() async throws {
        let store = try await Self.store()
        try await Self.create(store, "Plan", "Größe\u{0} \"quoted\"\r\n\u{2028}end", id: "a/b")
        let note = try await store.record("a/b")
        let removal = try await store.removal(of: "a/b")
        try await store.apply(removal)
        #expect(try await store.record("a/b") == nil)
        try await store.apply(removal.inverted)
        #expect(try await store.record("a/b") == note)
        #expect(try await store.records(matching: "grosse", limit: 9).map(\.id) == ["a/b"])
    }

    @Test(arguments: [("", ""), ("  ", "\n \t")])
    func anEmptyNoteIsRefused(_ title: String, _ body: String) async throws {
        let store = try await Self.store()
        let error = await #expect(throws: AssistantError.self) {
            try await store.creation(title: title, body: body, id: "k", at: Self.date)
        }
        #expect(error?.code == .unusablePayload)
    }

    @Test func aTextGivesTheTitle() async throws {
        let store = try await Self.store()
        try await Self.create(store, " ", "\n## First  line\nsecond", id: "k")
        #expect(try await store.record("k")?.title == "First line")
    }

    @Test func missingNotesAreNamed() async throws {
        let store = try await Self.store()
        for change in [
            { try await store.removal(of: "x") }, { try await store.appending("t", to: "x", at: Self.date) },
        ] {
            let error = await #expect(throws: AssistantError.self) { try await change() }
            #expect(error?.code == .noSuchRecord)
        }
    }

    @Test(arguments: [
        Data(), Data("{}".utf8), Data("[]".utf8), Data([0xFF, 0]),
        Data(#"{"id":"other","title":"","body":"","created":1,"changed":1}"#.utf8),
    ])
    func brokenChangesAreRefused(_ after: Data) async throws {
        let store = try await Self.store()
        let error = await #expect(throws: AssistantError.self) {
            try await store.apply(RecordChange(store: .notes, id: "k", before: nil, after: after))
        }
        #expect(error?.code == .unusableRecord)
    }

    @Test(arguments: [
        ("milk", ["title", "body"]), ("MIL", ["title", "body"]), ("mi", []), ("ilk", []), ("milk bread", ["body"]),
        ("京都", ["han"]), ("東", ["han"]), ("東都", []), ("creme brulee", ["accents"]), ("\" OR title:* NEAR(", []),
        ("\u{0}", []), ("milk\u{0}bread", ["body"]),
    ])
    func searchesFindWords(_ words: String, _ ids: [String]) async throws {
        let store = try await Self.store()
        try await Self.create(store, "Other", "Bread and milk and eggs and flour and much besides", id: "body")
        try await Self.create(store, "Milk", "from the farm", id: "title")
        try await Self.create(store, "Trip", "東京都に住む", id: "han")
        try await Self.create(store, "Crème", "brûlée", id: "accents")
        #expect(try await store.records(matching: words, limit: 9).map(\.id) == ids)
    }

    @Test func addingKeepsTheLaterNote() async throws {
        let store = try await Self.store()
        try await Self.create(store, "Plan", "mine", id: "k")
        var theirs = Note(
            id: "k", title: "Plan", body: "theirs", created: Self.date, changed: Self.date.addingTimeInterval(-5))
        var counts = try await store.add(RecordJSON.data([theirs]))
        #expect(counts == (0, 0, 1))
        theirs.changed = Self.date.addingTimeInterval(5)
        counts = try await store.add(
            RecordJSON.data([
                theirs, Note(id: "n", title: "New", body: "", created: Self.date, changed: Self.date),
            ]))
        #expect(counts == (1, 1, 0))
        #expect(try await store.record("k")?.body == "theirs")
        counts = try await store.add(RecordJSON.data([theirs]))
        #expect(counts == (0, 0, 1))
    }
}
