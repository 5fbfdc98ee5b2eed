import Foundation
import HearthBase
import HearthDatabase
import HearthInference
import Testing

@testable import HearthAssistant

/// Pages of the list, places in it, and the search by conversation, for each store.
@Suite struct ConversationListTests {
    typealias Kind = ConversationStoreTests.Kind

    private static func date(_ second: Int) -> Date { Date(timeIntervalSinceReferenceDate: 8e8 + Double(second)) }

    private static func message(_ id: String, _ content: String, at second: Int, parent: String? = nil)
        -> AssistantMessage
    {
        AssistantMessage(id: id, role: .user, content: content, date: date(second), parent: parent)
    }

    private static func filled(_ kind: Kind, _ count: Int) async throws -> any ConversationStore {
        let store = try await kind.make()
        for index in 0..<count { try await store.save(message("m", "question \(index)", at: index), in: "c\(index)") }
        return store
    }

    private static func pages(
        _ store: any ConversationStore, _ query: ConversationQuery = ConversationQuery(limit: 3),
        between: () async throws -> Void = {}
    ) async throws -> [String] {
        var query = query
        var ids: [String] = []
        repeat {
            let page = try await store.page(query)
            ids += page.conversations.map(\.id)
            query.before = page.next
            try await between()
        } while query.before != nil
        return ids
    }

    @Test(arguments: Kind.allCases) func pagesReachEveryConversation(_ kind: Kind) async throws {
        let store = try await Self.filled(kind, 10)
        #expect(try await Self.pages(store) == (0..<10).reversed().map { "c\($0)" })
        #expect(try await Self.pages(store, ConversationQuery(limit: 10)).count == 10)
        #expect(try await store.page(ConversationQuery(limit: 0)) == ConversationPage(conversations: []))
    }

    @Test(arguments: Kind.allCases) func newConversationsDoNotMoveThePages(_ kind: Kind) async throws {
        let store = try await Self.filled(kind, 10)
        var added = 100
        let ids = try await Self.pages(store) {
            added += 1
            try await store.save(Self.message("m", "new", at: added), in: "new\(added)")
        }
        #expect(ids == (0..<10).reversed().map { "c\($0)" })
    }

    @Test(arguments: Kind.allCases) func pinsArchiveAndFoldersChangeTheList(_ kind: Kind) async throws {
        let store = try await Self.filled(kind, 6)
        try await store.arrange("c1", ConversationPlace(pinned: true))
        try await store.arrange("c2", ConversationPlace(pinned: true, folder: "Work"))
        try await store.arrange("c3", ConversationPlace(archived: true, folder: "Work"))
        try await store.arrange("c4", ConversationPlace(folder: "Work"))
        try await store.arrange("missing", ConversationPlace(pinned: true))
        #expect(try await Self.pages(store) == ["c2", "c1", "c5", "c4", "c0"])
        #expect(try await Self.pages(store, ConversationQuery(archived: true, limit: 3)) == ["c3"])
        #expect(try await Self.pages(store, ConversationQuery(archived: nil, limit: 4)).count == 6)
        #expect(try await Self.pages(store, ConversationQuery(folder: "Work", limit: 1)) == ["c2", "c4"])
        #expect(try await Self.pages(store, ConversationQuery(pinned: false, limit: 2)) == ["c5", "c4", "c0"])
        let folders = try await store.folders()
        #expect(folders.folders.map { "\($0.name) \($0.count)" } == ["Work 2"])
        #expect(folders.archivedCount == 1)
        let kept = try #require(try await store.conversation("c2"))
        #expect(kept.pinned && !kept.archived && kept.folder == "Work")
        // A new message and a new title leave the place alone.
        try await store.save(Self.message("n", "more", at: 50), in: "c2")
        var renamed = try #require(try await store.conversation("c2"))
        renamed.title = "Other"
        try await store.save(renamed)
        #expect(try await store.conversation("c2")?.place == ConversationPlace(pinned: true, folder: "Work"))
        try await store.eraseAll()
        #expect(try await store.folders() == ConversationFolders(folders: [], archivedCount: 0))
    }

    @Test(arguments: Kind.allCases) func aSearchHasOneRowForEachConversation(_ kind: Kind) async throws {
        let store = try await kind.make()
        // Question and answer both have the word, as they mostly do.
        for index in 0..<45 {
            try await store.save(Self.message("q", "about lisbon \(index)", at: index * 10), in: "c\(index)")
            try await store.save(Self.message("a", "Lisbon is nice", at: index * 10 + 1, parent: "q"), in: "c\(index)")
        }
        try await store.arrange("c3", ConversationPlace(archived: true))
        var search = ConversationSearch("lisbon", limit: 20)
        var found: [ConversationFind] = []
        repeat {
            let page = try await store.find(search)
            #expect(page.finds.count <= 20)
            found += page.finds
            search.before = page.next
        } while search.before != nil
        #expect(found.map(\.conversation.id) == (0..<45).reversed().map { "c\($0)" })
        #expect(found.allSatisfy { $0.count == 2 && $0.messageID == "a" && $0.excerpt == "Lisbon is nice" })
        #expect(found.filter(\.conversation.archived).map(\.conversation.id) == ["c3"])
        let bounded = try await store.find(
            ConversationSearch("lisbon", from: Self.date(100), until: Self.date(121), limit: 50))
        #expect(bounded.finds.map(\.conversation.id) == ["c12", "c11", "c10"])
        #expect(bounded.finds.map(\.count) == [1, 2, 2])
        #expect(try await store.find(ConversationSearch("!!!")).finds.isEmpty)
        #expect(try await store.find(ConversationSearch("lisbon", limit: 0)).finds.isEmpty)
    }

    @Test(arguments: Kind.allCases) func aSearchFindsTitles(_ kind: Kind) async throws {
        let store = try await Self.filled(kind, 3)
        var summary = try #require(try await store.conversation("c1"))
        summary.title = "Ferien in Österreich"
        try await store.save(summary)
        let find = try #require(try await store.find(ConversationSearch("osterreich")).finds.first)
        #expect(find.conversation.id == "c1")
        #expect(find.messageID == nil && find.count == 0)
        // The old title is no longer found where no message has its words.
        summary.title = "Else"
        try await store.save(summary)
        #expect(try await store.find(ConversationSearch("osterreich")).finds.isEmpty)
        try await store.removeConversation("c1")
        #expect(try await store.find(ConversationSearch("else")).finds.isEmpty)
    }

    @Test func hostileCursorsAreRefused() async throws {
        let store = try await Self.filled(.sqlite, 3)
        for text in [
            "", "x", "1.2", "1.2.3.4", "..", "1.2.zzzzzzzzzzzzzzzzzz", String(repeating: "1", count: 9999), "-",
        ] {
            let list = await #expect(throws: AssistantError.self) {
                try await store.page(ConversationQuery(limit: 1, before: text))
            }
            #expect(list?.code == .unusableCursor, "\(text.prefix(20))")
            let search = await #expect(throws: AssistantError.self) {
                try await store.find(ConversationSearch("question", before: text))
            }
            #expect(search?.code == .unusableCursor)
        }
        // Any numbers are a place.
        for text in ["0.0.0", "-1.-1.-1", "1.1y2p0ij32e8e7.1y2p0ij32e8e7", "1.-1y2p0ij32e8e8.0"] {
            _ = try await store.page(ConversationQuery(limit: 1, before: text))
            _ = try await store.find(ConversationSearch("question", before: text))
        }
    }

    @Test(
        arguments: [
            (" Work \n stuff ", "Work stuff"), ("", nil), (" \n", nil),
            (String(repeating: "x", count: 60), String(repeating: "x", count: 60)),
        ] as [(String, String?)])
    func folderNamesAreOneLine(_ text: String, _ name: String?) throws {
        #expect(try ConversationPlace.folder(text) == name)
    }

    @Test(arguments: [
        String(repeating: "x", count: 61), "a\u{0}b", "a\u{7}", "e" + String(repeating: "\u{301}", count: 5000),
    ])
    func otherFolderNamesAreRefused(_ text: String) {
        let error = #expect(throws: AssistantError.self) { try ConversationPlace.folder(text) }
        #expect(error?.code == .unusableFolder)
        #expect(error?.context.field == "folder")
    }

    @Test func numbersOfDatesKeepTheirOrder() {
        let dates = [-1e300, -5, -0.5, 0, 1e-9, 5, 8e8, 1e300].map(Date.init(timeIntervalSinceReferenceDate:))
        let numbers = dates.map(ConversationCursor.number(of:))
        #expect(numbers == numbers.sorted())
        #expect(numbers.map(ConversationCursor.date) == dates)
    }
}
