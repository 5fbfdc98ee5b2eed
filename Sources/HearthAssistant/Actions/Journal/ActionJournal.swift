import Foundation
import HearthBase

/// The record of one action: what it changes, and how far it is.
///
/// ```
///  planned ──> begun ──> done ──> undoing ──> undone
///     │          └─────> failed       └─────> done, if another program has changed a record
///     └──> failed (declined, or the process ended before)
/// ```
package struct ActionEntry: Sendable, Hashable, Codable, Identifiable {
    package enum State: String, Sendable, Hashable, Codable {
        case planned, begun, done, failed, undoing, undone
    }

    /// The idempotency key.
    package let id: String
    package var conversation: String
    package var message: String
    package var state: State
    package var card: ActionCard
    package var changes: [RecordChange]
    /// When the action was planned.
    package var created: Date
    package var changed: Date
    /// The process that carries out the action; `nil` if it is unknown.
    package var owner: ProcessIdentity? = .current
}

/// Keeps the records of actions.
package protocol ActionJournal: Sendable {
    /// Writes an entry, durably; one of the same key is replaced.
    func save(_ entry: ActionEntry) async throws

    /// The entry with a key.
    func entry(_ key: String) async throws -> ActionEntry?

    /// The entries planned last first.
    func entries(limit: Int) async throws -> [ActionEntry]

    /// The entries that are neither done nor failed nor undone.
    func unfinished() async throws -> [ActionEntry]

    /// Removes finished entries last changed before a moment.
    func remove(before date: Date) async throws

    /// Removes all entries, from the disk too.
    func eraseAll() async throws
}
