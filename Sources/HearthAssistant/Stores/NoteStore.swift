import Foundation

/// A note of the user.
public struct Note: UserRecord {
    public static var kind: StoreKind { .notes }
    public static var empty: Self { Self() }

    public var id: String
    public var title: String
    /// Markdown.
    public var body: String
    public var created: Date
    public var changed: Date
    /// Where its texts are from if others wrote them, such as `calendar team`; `nil` for the user's own.
    public var source: String?

    public init(
        id: String = "", title: String = "", body: String = "", created: Date = .distantPast,
        changed: Date = .distantPast, source: String? = nil
    ) {
        self.id = id
        self.title = title
        self.body = body
        self.created = created
        self.changed = changed
        self.source = source
    }

    public var displayName: String { title.isEmpty ? Self.title(of: body) : title }

    public mutating func stamp(_ date: Date, isNew: Bool) {
        changed = max(date, changed)
        if isNew { created = date }
    }
}

/// The notes of the user: all of them with the one changed last first, or those whose title or body has the words. Words of
/// three letters and more also match the beginning of a word.
public typealias NoteStore = RecordStore<Note>

extension RecordStore<Note> {
    /// The change that appends a paragraph to a note.
    /// - Throws: `no-such-record`.
    package func appending(_ text: String, to id: String, at date: Date) async throws -> RecordChange {
        try await change(of: id) { note in
            while let last = note.body.last, last.isNewline { note.body.removeLast() }
            note.body = note.body.isEmpty ? text : note.body + "\n\n" + text
            note.stamp(date, isNew: false)
        }
    }
}

extension Note {
    /// The first line of a text without the marks of a heading, at most 80 characters.
    static func title(of body: String) -> String {
        let lines = body.split(whereSeparator: \.isNewline)
            .map {
                $0.drop { $0 == "#" || $0.isWhitespace }.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
        return String((lines.first { !$0.isEmpty } ?? "").prefix(80))
    }
}
