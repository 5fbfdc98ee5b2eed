import Foundation
import HearthDatabase

extension SQLiteConversationStore {
    package func page(_ query: ConversationQuery) async throws -> ConversationPage {
        guard query.limit > 0 else { return ConversationPage(conversations: []) }
        let place = try query.before.map { try ConversationCursor($0, count: 3) }
        // Each kept part of the list has an index in this order.
        let archived = query.archived.map { $0 ? 1 : 0 }
        var parts: [[(summary: ConversationSummary, number: Int)]] = []
        for value in archived.map({ [$0] }) ?? [0, 1] {
            parts.append(
                try await database.read { connection in
                    try connection.rows(
                        Self.pageStatement(isLater: place != nil), Self.values(query, archived: value, place)
                    ) { (ConversationSummary($0), $0.int(10)) }
                })
        }
        let rows = parts.flatMap { $0 }.sorted { Self.order($0) > Self.order($1) }
        let shown = rows.prefix(query.limit)
        return ConversationPage(
            conversations: shown.map(\.summary),
            next: rows.count > shown.count
                ? shown.last.map { row in
                    let order = Self.order(row)
                    return ConversationCursor([Int64(order.0), order.1, Int64(order.2)]).text
                } : nil)
    }

    private static func order(_ row: (summary: ConversationSummary, number: Int)) -> (Int, Int64, Int) {
        (row.summary.pinned ? 1 : 0, ConversationCursor.number(of: row.summary.changed), row.number)
    }

    private static func pageStatement(isLater: Bool) -> String {
        """
        SELECT \(ConversationSummary.columns), number FROM conversation
        WHERE archived = ?1 AND (?3 IS NULL OR pinned = ?3) AND (?4 IS NULL OR folder = ?4)
        \(isLater ? "AND (pinned, changed, number) < (?5, ?6, ?7)" : "")
        ORDER BY pinned DESC, changed DESC, number DESC LIMIT ?2
        """
    }

    private static func values(
        _ query: ConversationQuery, archived: Int, _ place: ConversationCursor?
    ) -> [SQLValue] {
        var values: [SQLValue] = [
            .int(archived), .int(query.limit + 1), query.pinned.map { .int($0 ? 1 : 0) } ?? .null, .text(query.folder),
        ]
        if let parts = place?.parts {
            values += [.int(Int(parts[0])), .date(ConversationCursor.date(parts[1])), .int(Int(parts[2]))]
        }
        return values
    }

    package func folders() async throws -> ConversationFolders {
        try await database.read { connection in
            let folders = try connection.rows(
                """
                SELECT folder, count(*) FROM conversation WHERE folder IS NOT NULL AND archived = 0
                GROUP BY folder ORDER BY folder
                """
            ) { ConversationFolders.Folder(name: $0.text(0), count: $0.int(1)) }
            let archived = try connection.first("SELECT count(*) FROM conversation WHERE archived = 1") { $0.int(0) }
            return ConversationFolders(folders: folders, archivedCount: archived ?? 0)
        }
    }

    package func arrange(_ id: String, _ place: ConversationPlace) async throws {
        try await database.write { connection in
            try connection.run(
                "UPDATE conversation SET pinned = ?2, archived = ?3, folder = ?4 WHERE id = ?1",
                [.text(id), .int(place.pinned ? 1 : 0), .int(place.archived ? 1 : 0), .text(place.folder)])
        }
    }
}
