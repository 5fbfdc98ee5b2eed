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
    private let ownCalendars = OwnCollections.personal
    private let ownLists = OwnCollections.personal
    /// Cards come from other people: no address book counts as own until the user says so.
    private let ownBooks = OwnCollections([])

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
        calendar = VdirCalendarStore(home: path, own: ownCalendars, time: time)
        reminders = VdirReminderStore(home: path, own: ownLists, time: time)
        contacts = VdirContactStore(home: path, own: ownBooks, time: time)
    }

    /// The records as plain calls.
    package var records: Records {
        Records(stores, journal: journal, conversations: conversations, time: time)
    }

    /// Uses the collections of the settings as the user's own.
    package func use(own collections: [StoreKind: [String]]) {
        ownCalendars.use(collections[.calendar])
        ownLists.use(collections[.reminders])
        ownBooks.use(collections[.contacts])
    }

    package var stores: AssistantStores {
        AssistantStores(calendar: calendar, reminders: reminders, contacts: contacts, notes: notes, habits: habits)
    }
}
