import Foundation
import HearthBase

/// All kept conversations as one JSON document, which ``ConversationImport`` reads: every branch, date, card and picture,
/// pins, folders and the archive.
package struct ConversationArchive: Sendable {
    private let store: any ConversationStore

    package init(_ store: any ConversationStore) { self.store = store }

    /// Writes the document piece by piece: memory holds one conversation at a time.
    /// - Throws: errors of `write` and `DatabaseError`.
    package func write(_ write: (Data) async throws -> Void) async throws {
        try await write(Data(#"{"format":"hearth-conversations","version":1,"conversations":["#.utf8))
        var isFirst = true
        let all = try await store.conversations(limit: .max, offset: 0)
        // The oldest first, as they were written.
        for listed in all.reversed() {
            // Another client may have removed it meanwhile.
            guard let summary = try await store.conversation(listed.id) else { continue }
            let document = ConversationExport(summary, messages: try await store.messages(of: summary.id))
            var piece = Data(isFirst ? "\n".utf8 : ",\n".utf8)
            piece.append(try JSON.data(document, dates: .milliseconds))
            try await write(piece)
            isFirst = false
        }
        try await write(Data("\n]}\n".utf8))
    }
}
