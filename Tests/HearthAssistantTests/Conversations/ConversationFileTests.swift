import Foundation
import HearthBase
import HearthDatabase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// What the database file of conversations holds, and what it costs.
@Suite struct ConversationFileTests {
    private static func message(_ id: String, _ content: String, role: ChatRole = .user) -> AssistantMessage {
        AssistantMessage(id: id, role: role, content: content, date: Date(timeIntervalSinceReferenceDate: 8e8))
    }

    private static func count(_ database: Database, _ table: String) async throws -> Int? {
        try await database.read { try $0.first("SELECT count(*) FROM \(table)") { $0.int(0) } }
    }

    @Test func aPictureIsKeptOnce() async throws {
        let database = try await AssistantDatabase.open(home: nil)
        let store = SQLiteConversationStore(database)
        let picture = try ChatImage(TestPictures.jpeg)
        for id in ["a", "b", "c"] {
            var message = Self.message(id, id)
            message.images = [picture, picture]
            try await store.save(message, in: "c")
            try await store.save(message, in: "c")
        }
        #expect(try await Self.count(database, "picture") == 1)
        #expect(try await Self.count(database, "message_picture") == 6)
        try await store.removeMessage("a", in: "c")
        try await store.save(Self.message("b", "without"), in: "c")
        #expect(try await Self.count(database, "message_picture") == 2)
        try await store.removeConversation("c")
        for table in ["picture", "message_picture", "message", "message_words"] {
            #expect(try await Self.count(database, table) == 0, "\(table)")
        }
    }

    @Test func erasingLeavesNoBytesOfTexts() async throws {
        let folder = try TemporaryFolder()
        let database = try await AssistantDatabase.open(home: folder.path)
        let store = SQLiteConversationStore(database)
        let secrets = ["secretword", "hiddenthought", "rawsecret", "titlesecret", "cardsecret"]
        for number in 0..<200 {
            var message = Self.message("\(number)", "secretword \(number) " + String(repeating: "filler ", count: 400))
            message.thinkingContent = "hiddenthought"
            message.rawContent = "rawsecret"
            message.notices = ["cardsecret"]
            message.images = [try ChatImage(TestPictures.png)]
            try await store.save(message, in: "c\(number / 10)")
        }
        try await store.save(
            ConversationSummary(id: "c1", title: "titlesecret", created: .distantPast, changed: .distantPast))
        #expect(try await store.search("secretword", limit: 50).count == 50)

        func found() throws -> [String] {
            let picture = Data(TestPictures.png.suffix(40))
            var found: [String] = []
            for name in try LocalFileSystem().contents(of: folder.path) {
                let bytes = try Data(contentsOf: folder.path(name).url)
                found += secrets.filter { bytes.range(of: Data($0.utf8)) != nil }
                if bytes.range(of: picture) != nil { found.append("picture") }
            }
            return Set(found).sorted()
        }
        #expect(try found() == (secrets + ["picture"]).sorted())
        try await store.eraseAll()
        #expect(try found() == [])
        #expect(try await database.integrity() == [])
    }

    /// The pages that one save writes into the log, which do not depend on what else is kept.
    private static func savedBytes(_ database: Database, _ store: SQLiteConversationStore, home: Path) async throws
        -> Int
    {
        try await store.save(message("first", "question"), in: "measured")
        try await store.save(message("m", "x", role: .assistant), in: "measured")
        try await database.checkpoint()
        for number in 0..<100 {
            let text = String(repeating: "word ", count: 200) + "\(number)"
            try await store.save(message("m", text, role: .assistant), in: "measured")
        }
        return try Data(contentsOf: Path(home.string + "/hearth.db-wal").url).count / 100
    }

    @Test func savingCostsTheSameInAFullHome() async throws {
        let folder = try TemporaryFolder()
        let empty = try await AssistantDatabase.open(home: folder.path("empty"))
        let cost = try await Self.savedBytes(empty, SQLiteConversationStore(empty), home: folder.path("empty"))

        let full = try await AssistantDatabase.open(home: folder.path("full"))
        try await ConversationSample.fill(full, conversations: 200, messages: 100)
        let store = SQLiteConversationStore(full)
        // The measured conversation is long too.
        for number in 0..<300 { try await store.save(Self.message("old\(number)", "old text"), in: "measured") }
        let fullCost = try await Self.savedBytes(full, store, home: folder.path("full"))
        #expect(cost > 0)
        // A deeper tree of pages adds one page at most.
        #expect(fullCost <= cost + 4200, "\(cost) and \(fullCost) bytes")
    }

    @Test func writersAndReadersShareTheStore() async throws {
        let folder = try TemporaryFolder()
        let databases = [
            try await AssistantDatabase.open(home: folder.path, busyTimeout: .seconds(60)),
            try await AssistantDatabase.open(home: folder.path, busyTimeout: .seconds(60)),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<6 {
                let store = SQLiteConversationStore(databases[writer % 2])
                group.addTask {
                    for number in 0..<25 {
                        for length in [1, 2, 3] {
                            let text = String(repeating: "word\(writer) ", count: length)
                            try await store.save(Self.message("\(writer)-\(number)", text), in: "c\(number % 3)")
                        }
                        if number % 5 == 0 { _ = try await store.search("word\(writer)", limit: 50) }
                    }
                }
            }
            try await group.waitForAll()
        }
        for (index, database) in databases.enumerated() {
            let store = SQLiteConversationStore(database)
            let counts = try await store.conversations(limit: 9, offset: 0).map(\.messageCount)
            #expect(counts.reduce(0, +) == 150, "\(index)")
            for writer in 0..<6 { #expect(try await store.search("word\(writer)", limit: 50).count == 25) }
            #expect(try await database.integrity() == [])
        }
    }
}
