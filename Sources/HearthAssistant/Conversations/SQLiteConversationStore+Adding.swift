import Foundation
import HearthDatabase

extension SQLiteConversationStore {
    package func add(_ document: ConversationExport) async throws -> ConversationAddition {
        let extras = try document.messages.map { try MessageExtras.text(of: $0) }
        let summary = document.conversation
        return try await database.write { connection in
            let known = try Self.number(of: summary.id, connection)
            let kept = try known.map { number in
                Set(
                    try connection.rows("SELECT id FROM message WHERE conversation = ?1", [.int(number)]) {
                        $0.text(0)
                    })
            }
            let missing = zip(document.messages, extras).filter { kept?.contains($0.0.id) != true }
            if known != nil, missing.isEmpty { return .unchanged }
            let number = try known ?? Self.create(summary, connection)
            for (message, extras) in missing {
                try Self.insert(Self.values(of: message, in: number, extras: extras), connection)
                guard !message.images.isEmpty else { continue }
                try StoredPictures.save(message.images, of: connection.lastRow, connection)
            }
            let newest = missing.map(\.0.date).max() ?? summary.changed
            try connection.run(
                "UPDATE conversation SET messages = messages + ?2, changed = max(changed, ?3) WHERE number = ?1",
                [.int(number), .int(missing.count), .date(known == nil ? summary.changed : newest)])
            if known != nil { try Self.follow(document, added: Set(missing.map(\.0.id)), number, connection) }
            try MessageIndex.update(connection)
            try MessageIndex.updateTitles(connection)
            return known == nil ? .created : .extended(missing.count)
        }
    }

    private static func create(_ summary: ConversationSummary, _ connection: Connection) throws -> Int {
        try connection.run(
            """
            INSERT INTO conversation(id, title, created, changed, leaf, settings, pinned, archived, folder)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """,
            [
                .text(summary.id), .text(summary.title), .date(summary.created), .date(summary.changed),
                .text(summary.leaf), .text(try summary.settings?.column), .int(summary.pinned ? 1 : 0),
                .int(summary.archived ? 1 : 0), .text(summary.folder),
            ])
        return connection.lastRow
    }

    /// Shows added messages that continue the shown branch.
    private static func follow(
        _ document: ConversationExport, added: Set<String>, _ number: Int, _ connection: Connection
    ) throws {
        let tree = ConversationTree(document.messages)
        guard let leaf = document.conversation.leaf, added.contains(leaf) else { return }
        let shown = try connection.first("SELECT leaf FROM conversation WHERE number = ?1", [.int(number)]) {
            $0.optionalText(0)
        }
        guard let before = shown ?? nil, tree.branch(to: leaf).contains(where: { $0.id == before }) else { return }
        try connection.run("UPDATE conversation SET leaf = ?2 WHERE number = ?1", [.int(number), .text(leaf)])
    }
}
