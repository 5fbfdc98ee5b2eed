import HearthDatabase

/// The full text index of messages.
///
/// A saved message is marked and indexed later: when another message is added, or before a search. So saving a message that
/// grows costs the same each time.
enum MessageIndex {
    /// Indexes marked messages, at most `limit`.
    static func update(_ connection: Connection, limit: Int = .max) throws {
        let marked = try connection.rows(
            "SELECT number, content FROM message WHERE indexed = 0 ORDER BY number LIMIT ?1", [.int(limit)]
        ) { (number: $0.int(0), content: $0.text(1)) }
        for message in marked {
            let columns = FullText.columns(of: message.content)
            try remove(message.number, connection)
            if !columns.words.isEmpty || !columns.pairs.isEmpty {
                try connection.run(
                    "INSERT INTO message_words(rowid, words, pairs) VALUES(?1, ?2, ?3)",
                    [.int(message.number), .text(columns.words), .text(columns.pairs)])
            }
            try connection.run("UPDATE message SET indexed = 1 WHERE number = ?1", [.int(message.number)])
        }
    }

    /// Indexes the marked titles of conversations, at most `limit`.
    static func updateTitles(_ connection: Connection, limit: Int = .max) throws {
        let marked = try connection.rows(
            "SELECT number, title FROM conversation WHERE indexed = 0 ORDER BY number LIMIT ?1", [.int(limit)]
        ) { (number: $0.int(0), title: $0.text(1)) }
        for conversation in marked {
            let columns = FullText.columns(of: conversation.title)
            try removeTitle(conversation.number, connection)
            if !columns.words.isEmpty || !columns.pairs.isEmpty {
                try connection.run(
                    "INSERT INTO conversation_words(rowid, words, pairs) VALUES(?1, ?2, ?3)",
                    [.int(conversation.number), .text(columns.words), .text(columns.pairs)])
            }
            try connection.run("UPDATE conversation SET indexed = 1 WHERE number = ?1", [.int(conversation.number)])
        }
    }

    /// Removes the words of a conversation's title.
    static func removeTitle(_ number: Int, _ connection: Connection) throws {
        try connection.run("DELETE FROM conversation_words WHERE rowid = ?1", [.int(number)])
    }

    /// Removes the words of a message.
    static func remove(_ number: Int, _ connection: Connection) throws {
        try connection.run("DELETE FROM message_words WHERE rowid = ?1", [.int(number)])
    }

    /// Whether messages or titles wait for their indexing.
    static func isBehind(_ connection: Connection) throws -> Bool {
        try connection.first(
            """
            SELECT 1 WHERE EXISTS(SELECT 1 FROM message WHERE indexed = 0)
                OR EXISTS(SELECT 1 FROM conversation WHERE indexed = 0)
            """
        ) { _ in true } ?? false
    }
}
