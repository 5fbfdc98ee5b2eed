import Foundation
import HearthDatabase
import HearthInference

/// Conversations in the assistant's database.
///
/// Saving a message writes its row and, when it is new, the conversation's: the cost depends on the message alone.
package struct SQLiteConversationStore: ConversationStore {
    let database: Database

    /// Keeps conversations in a database that ``AssistantDatabase`` opened.
    package init(_ database: Database) { self.database = database }

    package func conversations(limit: Int, offset: Int) async throws -> [ConversationSummary] {
        try await database.read { connection in
            try connection.rows(
                """
                SELECT \(ConversationSummary.columns) FROM conversation
                ORDER BY changed DESC, number DESC LIMIT ?1 OFFSET ?2
                """, [.int(max(0, limit)), .int(max(0, offset))]
            ) { ConversationSummary($0) }
        }
    }

    package func conversation(_ id: String) async throws -> ConversationSummary? {
        try await database.read { connection in
            try connection.first(
                "SELECT \(ConversationSummary.columns) FROM conversation WHERE id = ?1", [.text(id)]
            ) { ConversationSummary($0) }
        }
    }

    package func messages(of conversation: String) async throws -> [AssistantMessage] {
        try await database.read { connection in
            guard let number = try Self.number(of: conversation, connection) else { return [] }
            return try Self.stored(in: number, connection).map { stored in
                var message = stored.message
                if stored.pictureCount > 0 {
                    message.images = try StoredPictures.pictures(of: stored.number, connection)
                }
                return message
            }
        }
    }

    package func save(_ conversation: ConversationSummary) async throws {
        let settings = try conversation.settings?.column
        try await database.write { connection in
            try connection.run(
                """
                INSERT INTO conversation(id, title, created, changed, leaf, settings, pinned, archived, folder)
                VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                ON CONFLICT(id) DO UPDATE SET title = ?2, leaf = ?5, settings = ?6
                """,
                [
                    .text(conversation.id), .text(conversation.title), .date(conversation.created),
                    .date(conversation.changed), .text(conversation.leaf), .text(settings),
                    .int(conversation.pinned ? 1 : 0), .int(conversation.archived ? 1 : 0),
                    .text(conversation.folder),
                ])
        }
    }

    package func save(_ message: AssistantMessage, in conversation: String) async throws {
        let extras = try MessageExtras.text(of: message)
        try await database.write { connection in
            let number =
                try Self.number(of: conversation, connection)
                ?? Self.create(conversation, at: message.date, connection)
            let values = Self.values(of: message, in: number, extras: extras)
            let replaced = try connection.first(
                """
                UPDATE message SET parent = ?3, role = ?4, date = ?5, content = ?6, thinking = ?7, raw = ?8, extras = ?9,
                    indexed = CASE WHEN content = ?6 THEN indexed ELSE 0 END
                WHERE conversation = ?1 AND id = ?2 RETURNING number, pictures
                """, values
            ) { (number: $0.int(0), pictures: $0.int(1)) }
            if let replaced {
                if replaced.pictures > 0 || !message.images.isEmpty {
                    try StoredPictures.save(message.images, of: replaced.number, connection)
                }
            } else {
                // The messages before this one are complete, so that few are ever marked.
                try MessageIndex.update(connection, limit: 8)
                try Self.insert(values, connection)
                if !message.images.isEmpty {
                    try StoredPictures.save(message.images, of: connection.lastRow, connection)
                }
                try connection.run(
                    """
                    UPDATE conversation SET changed = max(changed, ?2), leaf = ?3, messages = messages + 1
                    WHERE number = ?1
                    """, [.int(number), .date(message.date), .text(message.id)])
            }
            if message.role == .user {
                try connection.run(
                    "UPDATE conversation SET title = ?2 WHERE number = ?1 AND title = ''",
                    [.int(number), .text(ConversationTitle.derived(from: message.content))])
            }
        }
    }

    package func removeMessage(_ id: String, in conversation: String) async throws {
        try await database.write { connection in
            guard let number = try Self.number(of: conversation, connection) else { return }
            let stored = try Self.stored(in: number, connection)
            let tree = ConversationTree(stored.map(\.message))
            let removed = Set(tree.descendants(of: id))
            for message in stored where removed.contains(message.message.id) {
                try Self.remove(message.number, connection)
            }
            let leaf = try connection.first("SELECT leaf FROM conversation WHERE number = ?1", [.int(number)]) {
                $0.optionalText(0)
            }
            try connection.run(
                "UPDATE conversation SET messages = ?2, leaf = ?3 WHERE number = ?1",
                [.int(number), .int(stored.count - removed.count), .text(tree.leaf(leaf ?? nil, afterRemoving: id))])
        }
    }

    package func removeConversation(_ id: String) async throws {
        try await database.write { connection in
            guard let number = try Self.number(of: id, connection) else { return }
            for message in try Self.stored(in: number, connection) { try Self.remove(message.number, connection) }
            try MessageIndex.removeTitle(number, connection)
            try connection.run("DELETE FROM conversation WHERE number = ?1", [.int(number)])
        }
    }

    package func search(_ words: String, limit: Int) async throws -> [ConversationHit] {
        let query = SearchQuery(words)
        guard !query.isEmpty, limit > 0 else { return [] }
        if try await database.read({ try MessageIndex.isBehind($0) }) {
            try await bringIndexUpToDate()
        }
        let hits = try await database.read { connection in
            try connection.rows(
                """
                SELECT message.id, message.date, message.content, \(Self.summaryColumns)
                FROM message_words JOIN message ON message.number = message_words.rowid
                JOIN conversation ON conversation.number = message.conversation
                WHERE message_words MATCH ?1 ORDER BY message_words.rowid DESC LIMIT ?2
                """, [.text(query.expression(columns: "words")), .int(min(limit, 50))]
            ) { row in
                ConversationHit(
                    conversation: ConversationSummary(row, from: 3), messageID: row.text(0),
                    excerpt: query.excerpt(of: row.text(2)), date: row.date(1))
            }
        }
        return hits.sorted { $0.date > $1.date }
    }

    package func eraseAll() async throws {
        try await database.write { connection in
            try connection.runScript(
                """
                DROP TABLE message_words; \(AssistantDatabase.messageWords)
                DROP TABLE conversation_words; \(AssistantDatabase.conversationWords)
                """)
            for table in ["message_picture", "picture", "message", "conversation"] {
                try connection.run("DELETE FROM \(table)")
            }
        }
        try await database.compact()
    }
}

extension SQLiteConversationStore {
    static let summaryColumns = ConversationSummary.columns.split(separator: ", ")
        .map { "conversation.\($0)" }.joined(separator: ", ")

    static func number(of conversation: String, _ connection: Connection) throws -> Int? {
        try connection.first("SELECT number FROM conversation WHERE id = ?1", [.text(conversation)]) { $0.int(0) }
    }

    /// The messages of a conversation by date, those of one date as they were saved.
    private static func stored(in number: Int, _ connection: Connection) throws -> [StoredMessage] {
        try connection.rows(
            "SELECT \(StoredMessage.columns) FROM message WHERE conversation = ?1 ORDER BY date, number", [.int(number)]
        ) { StoredMessage($0) }
    }

    /// The values of a message for ``insert(_:_:)``.
    static func values(of message: AssistantMessage, in conversation: Int, extras: String?) -> [SQLValue] {
        [
            .int(conversation), .text(message.id), .text(message.parent), .text(message.role.rawValue),
            .date(message.date), .text(message.content), .text(message.thinkingContent), .text(message.rawContent),
            .text(extras),
        ]
    }

    private static func create(_ conversation: String, at date: Date, _ connection: Connection) throws -> Int {
        try connection.run(
            "INSERT INTO conversation(id, title, created, changed) VALUES(?1, '', ?2, ?2)",
            [.text(conversation), .date(date)])
        return connection.lastRow
    }

    static func insert(_ values: [SQLValue], _ connection: Connection) throws {
        try connection.run(
            """
            INSERT INTO message(conversation, id, parent, role, date, content, thinking, raw, extras)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """, values)
    }

    private static func remove(_ message: Int, _ connection: Connection) throws {
        try MessageIndex.remove(message, connection)
        try StoredPictures.removeAll(of: message, connection)
        try connection.run("DELETE FROM message WHERE number = ?1", [.int(message)])
    }
}
