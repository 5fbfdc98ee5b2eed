import Foundation
import HearthBase

/// Where a conversation stands in lists.
package struct ConversationPlace: Sendable, Hashable {
    package var pinned = false
    package var archived = false
    package var folder: String?

    package init(pinned: Bool = false, archived: Bool = false, folder: String? = nil) {
        (self.pinned, self.archived, self.folder) = (pinned, archived, folder)
    }

    /// The most characters of a folder's name.
    package static let longestFolder = 60

    /// The name of a folder as it is kept: on one line, without spaces at its ends; `nil` for an empty one.
    /// - Throws: ``AssistantError`` with `unusable-folder`.
    package static func folder(_ text: String) throws -> String? {
        let name = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !name.isEmpty else { return nil }
        let isPlain = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard isPlain, name.count <= longestFolder, name.utf8.count <= longestFolder * 8 else {
            throw AssistantError(
                .unusableFolder, "the folder's name has more than \(longestFolder) characters or invisible ones",
                context: ErrorContext(field: "folder"), disposition: .usage)
        }
        return name
    }
}

/// A part of the list of conversations.
package struct ConversationQuery: Sendable, Hashable {
    /// Whether archived conversations are listed, and only they; `nil` lists both.
    package var archived: Bool? = false
    package var pinned: Bool?
    /// The folder; `nil` lists all conversations.
    package var folder: String?
    package var limit = 50
    /// The end of the page before; `nil` for the first page.
    package var before: String?

    package init(
        archived: Bool? = false, pinned: Bool? = nil, folder: String? = nil, limit: Int = 50, before: String? = nil
    ) {
        (self.archived, self.pinned, self.folder) = (archived, pinned, folder)
        (self.limit, self.before) = (limit, before)
    }
}

/// Conversations of a list, and where the next page begins.
package struct ConversationPage: Sendable, Hashable {
    package var conversations: [ConversationSummary]
    /// The end of this page, for the next query; `nil` at the end of the list.
    package var next: String?
}

/// The folders of conversations.
package struct ConversationFolders: Sendable, Hashable {
    package struct Folder: Sendable, Hashable {
        package var name: String
        /// The number of conversations in it, without archived ones.
        package var count: Int
    }

    package var folders: [Folder]
    package var archivedCount: Int
}

/// A place in a list, as text for clients. New conversations and changed ones do not move it.
struct ConversationCursor: Hashable {
    /// The numbers of the row before the place, the most significant first.
    let parts: [Int64]

    init(_ parts: [Int64]) { self.parts = parts }

    /// Reads a client's text.
    /// - Throws: ``AssistantError`` with `unusable-cursor`.
    init(_ text: String, count: Int) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0, radix: 36) }
        let numbers = parts.compactMap { $0 }
        guard text.utf8.count <= 200, numbers.count == count, parts.count == count else {
            throw AssistantError(
                .unusableCursor, "the place in the list is not one that a reply named",
                context: ErrorContext(field: "before", remedy: "Begin with the first page."), disposition: .usage)
        }
        self.parts = numbers
    }

    var text: String { parts.map { String($0, radix: 36) }.joined(separator: ".") }

    /// The number of a date that keeps its order and every bit.
    static func number(of date: Date) -> Int64 {
        let bits = Int64(bitPattern: date.timeIntervalSinceReferenceDate.bitPattern)
        return bits >= 0 ? bits : Int64.min - bits
    }

    /// The date of a number of ``number(of:)``.
    static func date(_ number: Int64) -> Date {
        let bits = number >= 0 ? number : Int64.min &- number
        return Date(timeIntervalSinceReferenceDate: Double(bitPattern: UInt64(bitPattern: bits)))
    }
}

/// A search over all conversations.
package struct ConversationSearch: Sendable, Hashable {
    package var words: String
    /// The first moment of found messages; `nil` for no bound.
    package var from: Date?
    /// The moment before which found messages are; `nil` for no bound.
    package var until: Date?
    package var limit = 20
    /// The end of the page before; `nil` for the first page.
    package var before: String?

    package init(_ words: String, from: Date? = nil, until: Date? = nil, limit: Int = 20, before: String? = nil) {
        (self.words, self.from, self.until) = (words, from, until)
        (self.limit, self.before) = (limit, before)
    }
}

/// A conversation found by a search.
package struct ConversationFind: Sendable, Hashable {
    package var conversation: ConversationSummary
    /// The newest message with the words; `nil` if only the title has them.
    package var messageID: String?
    /// The text around the first found word of that message, at most 160 characters.
    package var excerpt: String
    package var date: Date
    /// The number of messages with the words.
    package var count: Int
}

/// Found conversations, and where the next page begins.
package struct ConversationFinds: Sendable, Hashable {
    package var finds: [ConversationFind]
    package var next: String?
}

/// What adding a document did.
package enum ConversationAddition: Sendable, Hashable {
    case created
    /// The conversation was here; so many messages of it were missing.
    case extended(Int)
    case unchanged
}
