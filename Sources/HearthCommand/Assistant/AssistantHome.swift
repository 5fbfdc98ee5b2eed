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
    /// - Parameter isKept: whether conversations, notes and habits are those of the disk.
    /// - Throws: `ConfigurationError` with `no-home`; `DatabaseError`, `FileError`.
    init(_ context: CommandContext, isKept: Bool = true) async throws {
        path = try context.home
        time = context.time
        let path = path
        if isKept { try await blocking { try LocalFileSystem().makeFolders(path, permissions: 0o700) } }
        database = try await AssistantDatabase.open(home: isKept ? path : nil)
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
        try await CommandedActions(journal: journal, stores: records, time: time).carryOut(card, changes)
    }

    /// The id of a new record.
    static func newID() -> String { CommandedActions.newID() }
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
        self.init(commanded: title, tag, id: id, record: record)
    }
}
