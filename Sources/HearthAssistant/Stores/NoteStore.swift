import Foundation

/// A note of the user.
public struct Note: Sendable, Hashable, Identifiable, Codable {
    public var id: String
    public var title: String
    /// Markdown.
    public var body: String
    public var created: Date
    public var changed: Date

    public init(id: String, title: String, body: String, created: Date, changed: Date) {
        self.id = id
        self.title = title
        self.body = body
        self.created = created
        self.changed = changed
    }
}

/// The notes of the user.
public protocol NoteStore: RecordStore {
    /// The notes changed last first.
    func notes(limit: Int) async throws -> [Note]

    /// The note with an id.
    func note(_ id: String) async throws -> Note?

    /// The notes whose title or body has the words, the best first. Words of three letters and more also match the beginning
    /// of a word; accents and case do not count.
    func notes(matching words: String, limit: Int) async throws -> [Note]

    /// The change that creates a note.
    /// - Throws: `unusable-payload` without a title and a body.
    func creation(title: String, body: String, id: String, at date: Date) async throws -> RecordChange

    /// The change that appends a paragraph to a note.
    /// - Throws: `no-such-record`.
    func appending(_ text: String, to id: String, at date: Date) async throws -> RecordChange

    /// The change that removes a note.
    /// - Throws: `no-such-record`.
    func removal(of id: String) async throws -> RecordChange
}
