import HearthBase
import HearthDatabase

/// The user's records in the home folder: conversations, notes and habits in `hearth.db`, the others in folders.
package struct AssistantHome: Sendable {
    package let path: Path
    package let database: Database
    package let conversations: SQLiteConversationStore
    package let notes: SQLiteNoteStore
    package let habits: SQLiteHabitStore
    package let calendar: VdirCalendarStore
    package let reminders: VdirReminderStore
    package let contacts: VdirContactStore
    package let journal: SQLiteActionJournal
    /// The actions of private conversations, in memory.
    package let privateJournal = MemoryActionJournal()
    package let time: TimeSource

    /// Opens the records of a home, and creates the home if it is missing.
    /// - Parameter isKept: whether conversations, notes and habits are those of the disk.
    /// - Throws: `DatabaseError`, `FileError`.
    package init(path: Path, isKept: Bool = true, time: TimeSource) async throws {
        self.path = path
        self.time = time
        if isKept { try await blocking { try LocalFileSystem().makeFolders(path, permissions: 0o700) } }
        database = try await AssistantDatabase.open(home: isKept ? path : nil)
        conversations = SQLiteConversationStore(database)
        notes = SQLiteNoteStore(database)
        habits = SQLiteHabitStore(database, time: time)
        journal = SQLiteActionJournal(database)
        calendar = VdirCalendarStore(home: path, time: time)
        reminders = VdirReminderStore(home: path, time: time)
        contacts = VdirContactStore(home: path, time: time)
    }

    /// The records as plain calls.
    package var records: Records {
        Records(stores, journal: journal, conversations: conversations, time: time)
    }

    package var stores: AssistantStores {
        AssistantStores(calendar: calendar, reminders: reminders, contacts: contacts, notes: notes, habits: habits)
    }
}
