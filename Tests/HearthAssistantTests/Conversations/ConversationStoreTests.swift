import Foundation
import HearthBase
import HearthDatabase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// What holds for each store of conversations.
@Suite struct ConversationStoreTests {
    enum Kind: CaseIterable, Sendable {
        case sqlite, memory

        func make() async throws -> any ConversationStore {
            switch self {
            case .sqlite: SQLiteConversationStore(try await AssistantDatabase.open(home: nil))
            case .memory: MemoryConversationStore()
            }
        }
    }

    private static func date(_ second: Int) -> Date { Date(timeIntervalSinceReferenceDate: 8e8 + Double(second) + 0.1) }

    private static func message(
        _ id: String, _ role: ChatRole = .user, _ content: String = "text", at second: Int = 0, parent: String? = nil
    ) -> AssistantMessage {
        AssistantMessage(id: id, role: role, content: content, date: date(second), parent: parent)
    }

    private static func full() throws -> AssistantMessage {
        let card = ActionCard(
            id: "key", tag: .note, title: "New note",
            fields: [.init(name: "title", label: "Title", value: "x", source: "page")],
            items: [.init(id: "1", title: "t", detail: "d", url: "https://example.org")], state: .done, payload: "{}",
            note: "n", canUndo: true)
        var message = AssistantMessage(
            id: "full", role: .assistant, content: "a\u{0}b\r\n日本 \u{2028}", thinkingContent: "hm",
            images: [
                try ChatImage(TestPictures.jpeg), try ChatImage(TestPictures.png), try ChatImage(TestPictures.jpeg),
            ],
            cards: [card], notices: ["one", "two"], date: date(9), rawContent: "raw",
            parent: "first")
        message.results = [MessageResult(source: "contacts", text: "Anna")]
        return message
    }

    @Test(arguments: Kind.allCases) func messagesComeBackAsTheyWere(_ kind: Kind) async throws {
        let store = try await kind.make()
        let messages = [Self.message("first"), try Self.full(), Self.message("empty", .assistant, "", at: 10)]
        for message in messages { try await store.save(message, in: "c") }
        #expect(try await store.messages(of: "c") == messages)
        #expect(try await store.messages(of: "other") == [])
    }

    @Test(arguments: Kind.allCases) func aStreamedMessageIsReplaced(_ kind: Kind) async throws {
        let store = try await kind.make()
        try await store.save(Self.message("q"), in: "c")
        var answer = Self.message("a", .assistant, "", at: 1, parent: "q")
        answer.isThinking = true
        for piece in ["one ", "two ", "three"] {
            answer.content += piece
            try await store.save(answer, in: "c")
            #expect(try await store.search("two", limit: 9).map(\.messageID) == (piece == "one " ? [] : ["a"]))
        }
        answer.isThinking = false
        #expect(try await store.messages(of: "c").last == answer)
        #expect(try await store.conversation("c")?.messageCount == 2)
        // A replaced text is no longer found.
        answer.content = "else"
        try await store.save(answer, in: "c")
        #expect(try await store.search("two", limit: 9) == [])
        #expect(try await store.search("else", limit: 9).map(\.messageID) == ["a"])
    }

    @Test(arguments: Kind.allCases) func theListHasTheLastChangedFirst(_ kind: Kind) async throws {
        let store = try await kind.make()
        for (index, id) in ["a", "b", "c", "d"].enumerated() {
            try await store.save(Self.message("q", at: index), in: id)
        }
        try await store.save(Self.message("r", at: 9), in: "b")
        // An old message's change moves nothing.
        try await store.save(Self.message("q", .user, "changed", at: 0), in: "a")
        #expect(try await store.conversations(limit: 10, offset: 0).map(\.id) == ["b", "d", "c", "a"])
        #expect(try await store.conversations(limit: 2, offset: 1).map(\.id) == ["d", "c"])
        for (limit, offset) in [(0, 0), (-1, 0), (5, 99)] {
            #expect(try await store.conversations(limit: limit, offset: offset) == [])
        }
        #expect(try await store.conversations(limit: 1, offset: -1).map(\.id) == ["b"])
        #expect(try await store.conversation("b")?.changed == Self.date(9))
        #expect(try await store.conversation("b")?.leaf == "r")
        #expect(try await store.conversation("x") == nil)
    }

    @Test(arguments: Kind.allCases) func theFirstQuestionIsTheTitleUntilTheUserGivesOne(_ kind: Kind) async throws {
        let store = try await kind.make()
        try await store.save(Self.message("s", .system, "Be kind"), in: "c")
        #expect(try await store.conversation("c")?.title == "")
        try await store.save(Self.message("q", .user, "\n  How   are you?\nFine"), in: "c")
        #expect(try await store.conversation("c")?.title == "How are you?")
        var summary = try #require(try await store.conversation("c"))
        summary.title = "Mine"
        summary.leaf = "s"
        summary.messageCount = 99
        try await store.save(summary)
        try await store.save(Self.message("r", .user, "again", at: 1), in: "c")
        let kept = try #require(try await store.conversation("c"))
        #expect([kept.title, kept.leaf, "\(kept.messageCount)"] == ["Mine", "r", "3"])
    }

    @Test(arguments: Kind.allCases) func aRemovedMessageTakesItsFollowersAlong(_ kind: Kind) async throws {
        let store = try await kind.make()
        let parents: [(String, String?)] = [
            ("q", nil), ("a", "q"), ("b", "q"), ("b1", "b"), ("b2", "b1"), ("other", nil),
        ]
        for (index, (id, parent)) in parents.enumerated() {
            try await store.save(Self.message(id, .user, "word\(id)", at: index, parent: parent), in: "c")
        }
        var summary = try #require(try await store.conversation("c"))
        summary.leaf = "b2"
        try await store.save(summary)
        try await store.removeMessage("missing", in: "c")
        try await store.removeMessage("b", in: "missing")
        try await store.removeMessage("b", in: "c")
        #expect(try await store.messages(of: "c").map(\.id) == ["q", "a", "other"])
        #expect(try await store.conversation("c")?.messageCount == 3)
        // The branch beside the removed one is shown.
        #expect(try await store.conversation("c")?.leaf == "a")
        #expect(try await store.search("wordb1", limit: 9) == [])
        #expect(try await store.search("worda", limit: 9).count == 1)
        try await store.removeMessage("a", in: "c")
        #expect(try await store.conversation("c")?.leaf == "q")
        try await store.removeConversation("c")
        try await store.removeConversation("c")
        #expect(try await store.conversations(limit: 9, offset: 0) == [])
        #expect(try await store.messages(of: "c") == [])
        #expect(try await store.search("wordq", limit: 9) == [])
    }

    @Test(arguments: Kind.allCases) func erasingLeavesAnEmptyStore(_ kind: Kind) async throws {
        let store = try await kind.make()
        try await store.save(try Self.full(), in: "c")
        try await store.eraseAll()
        #expect(try await store.conversations(limit: 9, offset: 0) == [])
        #expect(try await store.search("日本", limit: 9) == [])
        try await store.save(Self.message("new", .user, "after"), in: "c")
        #expect(try await store.search("after", limit: 9).map(\.messageID) == ["new"])
    }

    @Test(arguments: Kind.allCases) func searchesFindWholeWordsAndBeginnings(_ kind: Kind) async throws {
        let store = try await kind.make()
        let texts = [
            "The quick brown fox", "Crème brûlée für Jörg", "東京都に住んでいます", "カタカナとひらがな", "한국어를 배웁니다",
            "a quick note", "ИВАН и Ёлка", "मैं हिन्दी", "x1 y2",
        ]
        for (index, text) in texts.enumerated() {
            try await store.save(Self.message("\(index)", .user, text, at: index), in: "c\(index % 2)")
        }
        let expected: [(String, [Int])] = [
            ("quick", [5, 0]), ("QUI", [5, 0]), ("qu", []), ("uick", []), ("quick fox", [0]), ("fox, quick!", [0]),
            ("creme", [1]), ("BRULEE jorg", [1]), ("京都", [2]), ("東京都", [2]), ("住", [2]), ("都東", []),
            ("カナ", [3]), ("ﾅとひ", [3]), ("국어", [4]), ("елка", [6]), ("हिन्दी", [7]), ("x1", [8]), ("x", []), ("a", [5]),
            ("東京 quick", []), ("", []), ("!!!", []), ("x1 OR quick", []),
        ]
        for (words, numbers) in expected {
            #expect(try await store.search(words, limit: 9).map(\.messageID) == numbers.map(String.init), "\(words)")
        }
        let hit = try #require(try await store.search("fox", limit: 1).first)
        #expect(hit.conversation == (try await store.conversation("c0")))
        #expect(hit.excerpt == "The quick brown fox")
        #expect(hit.date == Self.date(0))
    }

    @Test(arguments: Kind.allCases) func atMostFiftyAreFound(_ kind: Kind) async throws {
        let store = try await kind.make()
        for number in 0..<60 { try await store.save(Self.message("\(number)", .user, "same", at: number), in: "c") }
        #expect(try await store.search("same", limit: 1000).map(\.messageID) == (10..<60).reversed().map(String.init))
        #expect(try await store.search("same", limit: 2).map(\.messageID) == ["59", "58"])
        for limit in [0, -1] { #expect(try await store.search("same", limit: limit) == []) }
    }

    @Test(arguments: Kind.allCases) func hostileSearchesAreNoErrors(_ kind: Kind) async throws {
        let store = try await kind.make()
        try await store.save(Self.message("q", .user, "plain \"text\" AND more"), in: "c")
        let pieces = [
            "\"", "'", "*", "(", ")", "{", "}", ":", "^", "-", "+", "NEAR(", "AND", "OR", "NOT", "words:", "pairs :",
            "\u{0}",
            "\\", "%", "_", ";", "--", "/*", "\u{FFFD}", "\u{202E}", "😀", "日", "́", "plain", "\n", "?1", "rowid",
        ]
        var generator = SeededGenerator(seed: 23)
        for _ in 0..<500 {
            let count = Int.random(in: 1...8, using: &generator)
            let query = (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &generator)] }
                .joined(separator: Bool.random(using: &generator) ? " " : "")
            _ = try await store.search(query, limit: 9)
        }
        for unit in ["a", "\"", "日", "x y ", "\u{301}"] {
            _ = try await store.search(String(repeating: unit, count: 1 << 20), limit: 9)
        }
        #expect(try await store.search("plain text", limit: 9).count == 1)
    }
}
