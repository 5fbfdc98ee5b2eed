#if Server
    import Foundation
    import Hearth
    import HearthAssistant
    import HearthBase
    import HearthDatabase
    import HearthInference

    /// The user's records of a home, open for the life of the process.
    struct AssistantRecords: Sendable {
        let home: Path
        let database: Database
        let conversations: SQLiteConversationStore
        let notes: SQLiteNoteStore
        let habits: SQLiteHabitStore
        let calendar: VdirCalendarStore
        let reminders: VdirReminderStore
        let contacts: VdirContactStore
        let journal: SQLiteActionJournal
        let time: TimeSource

        /// Opens the records, and creates the home if it is missing.
        /// - Throws: `DatabaseError`, `FileError`.
        init(home: Path, time: TimeSource) async throws {
            self.home = home
            self.time = time
            try await blocking { try LocalFileSystem().makeFolders(home, permissions: 0o700) }
            database = try await AssistantDatabase.open(home: home)
            conversations = SQLiteConversationStore(database)
            notes = SQLiteNoteStore(database)
            habits = SQLiteHabitStore(database)
            journal = SQLiteActionJournal(database)
            calendar = VdirCalendarStore(home: home, time: time)
            reminders = VdirReminderStore(home: home, time: time)
            contacts = VdirContactStore(home: home, time: time)
        }

        /// The stores that the assistant uses.
        private func stores(without disabled: Set<StoreKind>) -> AssistantStores {
            var stores = AssistantStores()
            if !disabled.contains(.calendar) { stores.calendar = calendar }
            if !disabled.contains(.reminders) { stores.reminders = reminders }
            if !disabled.contains(.contacts) { (stores.contacts, stores.contactRecords) = (contacts, contacts) }
            if !disabled.contains(.notes) { stores.notes = notes }
            if !disabled.contains(.habits) { stores.habits = habits }
            return stores
        }

        /// An assistant of the given settings.
        /// - Throws: `ConfigurationError` for a search without a server; `LLMError` with `cloud-key-unusable`.
        func assistant(
            _ configuration: Configuration, engine: any InferenceEngine, seeing: (any InferenceEngine)?,
            approval: any ActionApproval
        ) async throws -> Assistant {
            let (notes, conversations) = (notes, conversations)
            let search = try await blocking {
                try configuration.assistant.provider(notes: notes, conversations: conversations)
            }
            var settings = configuration.assistant.settings(search: search)
            if let tokens = configuration.maximumNewTokens { settings.chat.maximumNewTokens = tokens }
            settings.chat.temperature = configuration.temperature
            let file = SettingsFile(home: home)
            settings.saveApproval = { tag, setting in
                do {
                    try await file.change { try $0.set("approval.\(tag)", to: setting.rawValue) }
                } catch {
                    Log.write(.warning, "native", "the answer `always` is not kept", [.error(error)])
                }
            }
            return Assistant(
                conversations: conversations, stores: stores(without: settings.disabledStores), journal: journal,
                facts: home.appending("facts.txt"), database: database, engine: engine, seeing: seeing,
                settings: settings, approval: approval, time: time)
        }
    }
#endif
