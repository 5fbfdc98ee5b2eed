import Foundation
import HearthDatabase
import HearthInference
import HearthTestSupport

@testable import HearthAssistant

/// Conversations of made-up words, as frequent as words of a language are.
enum ConversationSample {
    /// A text with its columns of the index.
    private struct Text {
        let content: String
        let words: String
        let pairs: String
    }

    /// Fills a database. The texts come from 4000 that were split once; each message has a word of its own besides.
    static func fill(_ database: Database, conversations: Int, messages: Int) async throws {
        var generator = SeededGenerator(seed: 23)
        let words = vocabulary(using: &generator)
        let pool = (0..<4000).map { index in
            let content = text(words, length: index.isMultiple(of: 2) ? 15 : 60, using: &generator)
            let columns = FullText.columns(of: content)
            return Text(content: content, words: columns.words, pairs: columns.pairs)
        }
        for first in stride(from: 0, to: conversations, by: 100) {
            try await database.write { connection in
                for number in first..<min(first + 100, conversations) {
                    try insert(number, messages, pool, connection)
                }
            }
        }
    }

    private static func insert(_ number: Int, _ messages: Int, _ pool: [Text], _ connection: Connection) throws {
        let start = Date(timeIntervalSinceReferenceDate: 7e8 + Double(number) * 5000)
        try connection.run(
            """
            INSERT INTO conversation(number, id, title, created, changed, messages, leaf)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            [
                .int(number + 1), .text("conversation-\(number)"), .text("Conversation about \(number)"),
                .date(start), .date(start.addingTimeInterval(Double(messages))), .int(messages),
                .text("message-\(number)-\(messages - 1)"),
            ])
        for index in 0..<messages {
            // 7919 is prime, so that each conversation mixes other texts.
            let text = pool[(number * 7919 + index) % pool.count]
            let own = " nr\(number)x\(index)"
            try connection.run(
                """
                INSERT INTO message(conversation, id, parent, role, date, content, thinking, indexed)
                VALUES(?1, ?2, ?3, ?4, ?5, ?6, '', 1)
                """,
                [
                    .int(number + 1), .text("message-\(number)-\(index)"),
                    .text(index == 0 ? nil : "message-\(number)-\(index - 1)"),
                    .text(index.isMultiple(of: 2) ? "user" : "assistant"),
                    .date(start.addingTimeInterval(Double(index))), .text(text.content + own),
                ])
            try connection.run(
                "INSERT INTO message_words(rowid, words, pairs) VALUES(?1, ?2, ?3)",
                [.int(connection.lastRow), .text(text.words + own), .text(text.pairs)])
        }
    }

    /// The most frequent word is `the`, as in English.
    private static func vocabulary(using generator: inout SeededGenerator) -> [String] {
        let letters = Array("etaoinshrdlucmfwypvbgk")
        return ["the", "and", "that", "you", "für"]
            + (0..<20_000).map { _ in
                String(
                    (0..<Int.random(in: 2...9, using: &generator)).map { _ in
                        letters[Int.random(in: 0..<letters.count, using: &generator)]
                    })
            }
    }

    private static func text(_ words: [String], length: Int, using generator: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<length {
            // A word's frequency falls with its rank (Zipf).
            let rank = Int(pow(Double(words.count), Double.random(in: 0..<1, using: &generator))) - 1
            text += words[rank] + " "
        }
        return text + (Int.random(in: 0..<20, using: &generator) == 0 ? "東京都に住んでいます" : "")
    }
}
