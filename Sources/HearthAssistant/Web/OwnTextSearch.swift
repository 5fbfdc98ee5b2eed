import Foundation

/// Searches the user's own notes and conversations; no query leaves the device.
package struct OwnTextSearch: SearchProvider {
    private let notes: (any NoteStore)?
    private let conversations: (any ConversationStore)?

    /// A search over stores; without any, over those of the assistant that it is given to.
    package init(notes: (any NoteStore)? = nil, conversations: (any ConversationStore)? = nil) {
        self.notes = notes
        self.conversations = conversations
    }

    /// The same search over the stores of an assistant, if it has none.
    func filled(_ notes: (any NoteStore)?, _ conversations: any ConversationStore) -> OwnTextSearch {
        self.notes == nil && self.conversations == nil
            ? OwnTextSearch(notes: notes, conversations: conversations) : self
    }

    package var name: String { "notes and conversations" }

    package var isRemote: Bool { false }

    package func search(_ query: String, limit: Int) async throws -> [SearchResult] {
        var results: [SearchResult] = []
        for note in try await query.isEmpty ? [] : notes?.records(matching: query, limit: limit) ?? [] {
            let title = note.title.isEmpty ? "Note" : note.title
            results.append(
                SearchResult(title: title, excerpt: note.body.promptLine(500), id: note.id, source: note.source))
        }
        for hit in try await conversations?.search(query, limit: limit) ?? [] where results.count < limit {
            // What was said after a text from outside may repeat it.
            let messages = try await conversations?.messages(of: hit.conversation.id) ?? []
            results.append(
                SearchResult(
                    title: hit.conversation.title, excerpt: hit.excerpt.promptLine(200), id: hit.conversation.id,
                    source: messages.outsideTexts.sourceName))
        }
        return Array(results.prefix(limit))
    }
}
