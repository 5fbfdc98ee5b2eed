import Foundation

/// Searches the user's own notes and conversations; no query leaves the device.
public struct OwnTextSearch: SearchProvider {
    private let notes: (any NoteStore)?
    private let conversations: (any ConversationStore)?

    public init(notes: (any NoteStore)?, conversations: (any ConversationStore)?) {
        self.notes = notes
        self.conversations = conversations
    }

    public var name: String { "notes and conversations" }

    public var isRemote: Bool { false }

    public func search(_ query: String, limit: Int) async throws -> [SearchResult] {
        var results: [SearchResult] = []
        for note in try await notes?.notes(matching: query, limit: limit) ?? [] {
            let title = note.title.isEmpty ? "Note" : note.title
            results.append(SearchResult(title: title, excerpt: note.body.promptLine(500), id: note.id))
        }
        for hit in try await conversations?.search(query, limit: limit) ?? [] where results.count < limit {
            results.append(
                SearchResult(
                    title: hit.conversation.title, excerpt: hit.excerpt.promptLine(200), id: hit.conversation.id))
        }
        return Array(results.prefix(limit))
    }
}
