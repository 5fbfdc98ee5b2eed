import Foundation
import HearthAssistant
import HearthBase
import HearthDatabase

/// The user's records in the home folder: conversations, notes and habits in `hearth.db`, the others in folders.
struct AssistantHome: Sendable {
    let path: Path
    let database: Database
    let conversations: SQLiteConversationStore
    let notes: SQLiteNoteStore
    let habits: SQLiteHabitStore
    let calendar: VdirCalendarStore
    let reminders: VdirReminderStore
    let contacts: VdirContactStore
    let journal: SQLiteActionJournal
    let time: TimeSource

    /// Opens the records of a home, and creates the home if it is missing.
    /// - Throws: `ConfigurationError` with `no-home`; `DatabaseError`, `FileError`.
    init(_ context: CommandContext) async throws {
        path = try context.home
        time = context.time
        let path = path
        try await blocking { try LocalFileSystem().makeFolders(path, permissions: 0o700) }
        database = try await AssistantDatabase.open(home: path)
        conversations = SQLiteConversationStore(database)
        notes = SQLiteNoteStore(database)
        habits = SQLiteHabitStore(database)
        journal = SQLiteActionJournal(database)
        calendar = VdirCalendarStore(home: path, time: time)
        reminders = VdirReminderStore(home: path, time: time)
        contacts = VdirContactStore(home: path, time: time)
    }

    /// The stores whose records change.
    var records: [StoreKind: any RecordStore] {
        [.calendar: calendar, .reminders: reminders, .notes: notes, .habits: habits, .contacts: contacts]
    }

    /// A runner that knows no actions and takes earlier ones back.
    var undoer: ActionRunner {
        ActionRunner(
            registry: ActionRegistry([]), stores: records, journal: journal, approval: DeclineAll(), time: time)
    }

    /// Carries out what the user has commanded, with an entry in the journal, so that it can be undone.
    /// - Parameter id: the id of the action, and of a record that it creates.
    func carryOut(_ card: ActionCard, _ changes: [RecordChange]) async throws {
        guard !changes.isEmpty else { return }
        var entry = ActionEntry(
            id: card.id, conversation: "", message: "", state: .begun, card: card, changes: changes,
            created: time.now, changed: time.now)
        let size = changes.reduce(0) { $0 + ($1.before?.count ?? 0) + ($1.after?.count ?? 0) }
        let isKept = size <= Self.largestEntry
        if isKept { try await journal.save(entry) }
        for change in changes {
            guard let store = records[change.store] else { continue }
            try await store.apply(change)
        }
        guard isKept else { return }
        entry.state = .done
        entry.card.state = .done
        entry.card.canUndo = true
        try await journal.save(entry)
    }

    /// The most bytes of changes that the journal keeps for an undo.
    private static let largestEntry = 16 << 20

    /// The id of a new record.
    static func newID() -> String { UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "") }
}

extension CommandContext {
    /// Opens the user's records, and closes them after `body`.
    func withAssistantHome<Result: Sendable>(
        _ body: (AssistantHome) async throws -> Result
    ) async throws -> Result {
        let home = try await AssistantHome(self)
        do {
            let result = try await body(home)
            await home.database.close()
            return result
        } catch {
            await home.database.close()
            throw error
        }
    }
}

extension ActionCard {
    /// The card of something that the user has commanded.
    init(commanded title: String, _ tag: ActionTag, id: String = AssistantHome.newID(), _ record: String) {
        self.init(
            id: id, tag: tag, title: title, fields: [Field(name: "title", label: "Record", value: record)],
            state: .proposed, payload: "{}")
    }
}
