import Foundation

/// A kind of personal data; an open set, which apps may extend.
public struct StoreKind: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral {
    /// Lower-case words joined by hyphens, such as `calendar`.
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public init(stringLiteral value: String) { rawValue = value }

    public static let calendar: Self = "calendar"
    public static let reminders: Self = "reminders"
    public static let contacts: Self = "contacts"
    public static let notes: Self = "notes"
    public static let habits: Self = "habits"
}

/// The change of one record of a store from known content to new content: the unit of approval, journal and undo.
///
/// A store computes the change without writing (a dry run), applies it only while the record still has the old content,
/// and tells afterwards whether it happened. So an action happens once or not at all, whatever ends the process, and
/// ``inverted`` is its undo.
package struct RecordChange: Sendable, Hashable, Codable {
    package var store: StoreKind
    /// The store's folder of records, such as a calendar; empty where a store has none.
    package var collection: String
    /// Identifies the record in its store, such as an event's UID.
    package var id: String
    /// The record's bytes before the change; `nil` for a new record.
    package var before: Data?
    /// The record's bytes after the change; `nil` for a removed record.
    package var after: Data?

    /// Memberwise.
    package init(store: StoreKind, collection: String = "", id: String, before: Data?, after: Data?) {
        (self.store, self.collection, self.id) = (store, collection, id)
        (self.before, self.after) = (before, after)
    }

    /// The change that restores the old content.
    package var inverted: RecordChange {
        RecordChange(store: store, collection: collection, id: id, before: after, after: before)
    }

    /// Compares a record's present bytes with the change. A change that changes nothing has happened.
    func state(of present: Data?) -> RecordState {
        present == after ? .after : present == before ? .before : .other
    }
}

/// A record as compared with a change of it.
package enum RecordState: Sendable, Hashable {
    /// The record has the content before the change.
    case before
    /// The change has happened.
    case after
    /// Another program has changed the record.
    case other
}
