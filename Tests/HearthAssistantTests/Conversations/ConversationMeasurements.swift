import Foundation
import HearthBase
import HearthDatabase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// The times that people notice, with as many conversations as they will ever have: 10,000 of 100 messages in the full
/// extent, 100 otherwise.
@Suite(.serialized) struct ConversationMeasurements {
    private static let conversations = TestExtent.isFull ? 10_000 : 100
    /// A debug build beside other tests only shows that nothing is out of proportion.
    private static let slack = TestExtent.isFull ? 1.0 : 5.0
    /// Of several runs the fastest, since other programs share the processor.
    private static func milliseconds(_ runs: Int = 5, _ body: () async throws -> Void) async throws -> Double {
        var best = Double.infinity
        for _ in 0..<runs {
            let stopwatch = TimeSource.system.stopwatch()
            try await body()
            best = min(best, stopwatch.elapsed.seconds * 1000)
        }
        return best
    }

    private static func saving(_ home: Path) async throws -> Double {
        let database = try await AssistantDatabase.open(home: home)
        let store = SQLiteConversationStore(database)
        let date = Date(timeIntervalSinceReferenceDate: 9e8)
        try await store.save(AssistantMessage(id: "q", role: .user, content: "question", date: date), in: "measured")
        var message = AssistantMessage(id: "a", role: .assistant, date: date, parent: "q")
        let cost = try await milliseconds(20) {
            message.content = ""
            for number in 0..<50 {
                message.content += "word\(number) "
                try await store.save(message, in: "measured")
            }
        }
        await database.close()
        return cost / 50
    }

    @Test func listsSearchesAndSavesAreFast() async throws {
        let folder = try TemporaryFolder()
        let filled = try await AssistantDatabase.open(home: folder.path("full"))
        try await ConversationSample.fill(filled, conversations: Self.conversations, messages: 100)
        try await filled.checkpoint()
        await filled.close()

        var figures: [String] = []
        let path = folder.path("full/hearth.db")
        let size = try LocalFileSystem().status(at: path)?.size ?? 0
        figures.append("file: \(size / 1_000_000) MB")
        // The list as a starting program shows it: the file is opened too.
        let list = try await Self.milliseconds {
            let database = try await AssistantDatabase.open(home: folder.path("full"))
            let listed = try await SQLiteConversationStore(database).conversations(limit: 100, offset: 0)
            #expect(listed.first?.id == "conversation-\(Self.conversations - 1)")
            await database.close()
        }
        figures.append("open and list 100: \(list)")
        #expect(list < 50 * Self.slack)

        let database = try await AssistantDatabase.open(home: folder.path("full"))
        let store = SQLiteConversationStore(database)
        let all = try await Self.milliseconds {
            let count = try await store.conversations(limit: 10_000, offset: 0).count
            #expect(count == Self.conversations)
        }
        figures.append("list all: \(all)")
        #expect(all < 50 * Self.slack)
        let conversation = try await Self.milliseconds {
            let count = try await store.messages(of: "conversation-50").count
            #expect(count == 100)
        }
        figures.append("open a conversation: \(conversation)")
        #expect(conversation < 50 * Self.slack)
        for words in [
            "the", "and that", "you für", "thought", "an", "e", "ent", "nr50x7", "nr5", "京都", "住", "東京都 the",
            "missingword the",
            "that you and the für tea",
        ] {
            let time = try await Self.milliseconds { _ = try await store.search(words, limit: 50) }
            figures.append("search \(words): \(time)")
            #expect(time < 100 * Self.slack, "\(words)")
        }
        await database.close()

        let empty = try await Self.saving(folder.path("empty"))
        let full = try await Self.saving(folder.path("full"))
        figures.append("save, empty home: \(empty)")
        figures.append("save, full home: \(full)")
        #expect(full < empty * 2 + 0.2)
        print(figures.map { "measured \(Self.conversations) conversations, ms: \($0)" }.joined(separator: "\n"))
    }
}
