import Foundation
import HearthDatabase

/// A conversation with found messages, before its texts are read.
private struct FoundGroup {
    let conversation: Int
    var count: Int
    /// The newest found message; `nil` if only the title has the words.
    var message: Int?
    var date: Date

    /// The place in the order of a page: the newest first.
    var order: (Int64, Int) { (ConversationCursor.number(of: date), conversation) }
}

extension SQLiteConversationStore {
    /// The most found messages that one page considers: the newest. Later pages go on before them.
    static let window = 40_000

    package func find(_ search: ConversationSearch) async throws -> ConversationFinds {
        let query = SearchQuery(search.words)
        guard !query.isEmpty, search.limit > 0 else { return ConversationFinds(finds: []) }
        let place = try search.before.map { try ConversationCursor($0, count: 3) }
        if try await database.read({ try MessageIndex.isBehind($0) }) { try await bringIndexUpToDate() }
        return try await database.read { connection in
            let expression = SQLValue.text(query.expression(columns: "words"))
            var end = place.map { Int($0.parts[0]) } ?? .max
            var after = place.map { ($0.parts[1], Int($0.parts[2])) } ?? (.max, .max)
            var finds: [ConversationFind] = []
            while true {
                var (groups, low) = try Self.groups(expression, search, before: end, connection)
                // Titles are found once, with the newest messages.
                let titles = try Self.titles(expression, search, connection)
                if end == .max {
                    let known = Set(groups.map(\.conversation))
                    groups += titles.filter { !known.contains($0.conversation) }
                }
                groups.sort { $0.order > $1.order }
                let titled = Set(end == .max ? [] : titles.map(\.conversation))
                for group in groups where group.order < after {
                    if end != .max {
                        if titled.contains(group.conversation) { continue }
                        if try Self.isFound(expression, group.conversation, from: end, connection) { continue }
                    }
                    if finds.count == search.limit {
                        return ConversationFinds(
                            finds: finds,
                            next: ConversationCursor([Int64(end), after.0, Int64(after.1)]).text)
                    }
                    if let find = try Self.find(group, query, connection) { finds.append(find) }
                    after = group.order
                }
                guard let low, low > 0 else { return ConversationFinds(finds: finds) }
                (end, after) = (low, (.max, .max))
            }
        }
    }

    /// The conversations of the newest found messages before a number.
    /// - Returns: the lowest number of a full window; `nil` when no message is left before it.
    private static func groups(
        _ expression: SQLValue, _ search: ConversationSearch, before end: Int, _ connection: Connection
    ) throws -> ([FoundGroup], low: Int?) {
        var found = 0
        var low = Int.max
        var groups: [FoundGroup] = []
        let statement = """
            SELECT message.conversation, count(*), min(message.number),
                sum(message.date >= ?4 AND message.date < ?5),
                max(CASE WHEN message.date >= ?4 AND message.date < ?5 THEN message.number END),
                max(CASE WHEN message.date >= ?4 AND message.date < ?5 THEN message.date END)
            FROM (
                SELECT rowid AS number FROM message_words WHERE message_words MATCH ?1 AND rowid < ?2
                ORDER BY rowid DESC LIMIT ?3
            ) AS found CROSS JOIN message INDEXED BY message_place ON message.number = found.number
            GROUP BY message.conversation
            """
        let values = [
            expression, .int(end), .int(window), .date(search.from ?? .distantPast),
            .date(search.until ?? .distantFuture),
        ]
        try connection.forEachRow(statement, values) { row in
            found += row.int(1)
            low = min(low, row.int(2))
            guard row.int(3) > 0 else { return }
            groups.append(
                FoundGroup(conversation: row.int(0), count: row.int(3), message: row.int(4), date: row.date(5)))
        }
        return (groups, found == window ? low : nil)
    }

    private static func titles(
        _ expression: SQLValue, _ search: ConversationSearch, _ connection: Connection
    ) throws -> [FoundGroup] {
        try connection.rows(
            """
            SELECT number, changed FROM conversation_words
            JOIN conversation ON conversation.number = conversation_words.rowid
            WHERE conversation_words MATCH ?1 AND changed >= ?2 AND changed < ?3
            """,
            [expression, .date(search.from ?? .distantPast), .date(search.until ?? .distantFuture)]
        ) { FoundGroup(conversation: $0.int(0), count: 0, message: nil, date: $0.date(1)) }
    }

    /// Whether a conversation has found messages from a number on: an earlier page has shown it.
    private static func isFound(
        _ expression: SQLValue, _ conversation: Int, from start: Int, _ connection: Connection
    ) throws -> Bool {
        try connection.first(
            """
            SELECT 1 FROM message CROSS JOIN message_words ON message_words.rowid = message.number
            WHERE message.conversation = ?2 AND message.number >= ?3 AND message_words MATCH ?1 LIMIT 1
            """, [expression, .int(conversation), .int(start)]
        ) { _ in true } ?? false
    }

    private static func find(
        _ group: FoundGroup, _ query: SearchQuery, _ connection: Connection
    ) throws -> ConversationFind? {
        let summary = try connection.first(
            "SELECT \(ConversationSummary.columns) FROM conversation WHERE number = ?1", [.int(group.conversation)]
        ) { ConversationSummary($0) }
        guard let summary else { return nil }
        var find = ConversationFind(
            conversation: summary, messageID: nil, excerpt: "", date: group.date, count: group.count)
        guard let message = group.message else { return find }
        try connection.forEachRow("SELECT id, content, date FROM message WHERE number = ?1", [.int(message)]) { row in
            (find.messageID, find.date) = (row.text(0), row.date(2))
            find.excerpt = query.excerpt(of: row.text(1))
        }
        return find
    }

    package func prepareSearch() async throws {
        try await bringIndexUpToDate()
        // Reads the first pages of the index; the word is one of the most frequent.
        _ = try await find(ConversationSearch("the", limit: 1))
    }

    /// Indexes marked messages and titles in steps, between which other work goes on.
    func bringIndexUpToDate() async throws {
        while try await database.read({ try MessageIndex.isBehind($0) }) {
            try Task.checkCancellation()
            try await database.write { connection in
                try MessageIndex.update(connection, limit: 500)
                try MessageIndex.updateTitles(connection, limit: 500)
            }
        }
    }
}
