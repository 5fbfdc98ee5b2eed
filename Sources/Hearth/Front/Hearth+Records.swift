import HearthAssistant
import HearthBase
import HearthDatabase

extension Hearth {
    /// The user's events, reminders, notes, contacts and habits in the home folder, as plain calls. Each change is an action
    /// that can be undone, as those of the assistant.
    ///
    /// ```swift
    /// let edit = try await hearth.records.reminders.add(Reminder(title: "Call Anna"))
    /// let found = try await hearth.records.notes.find("plumber")
    /// try await hearth.records.undo(edit.action)
    /// ```
    /// - Throws: `DatabaseError`, `FileError`.
    public var records: Records {
        get async throws {
            let opened = try await homeRecords.home(home)
            opened.use(own: configuration.assistant.ownCollections)
            return opened.records
        }
    }
}

/// The records of a home folder, opened at their first use.
actor HomeRecords {
    private var opening: Task<AssistantHome, any Error>?

    /// The records; an opening that failed is tried again.
    func home(_ path: Path) async throws -> AssistantHome {
        let opening = opening ?? Task { try await AssistantHome(path: path, time: .system) }
        self.opening = opening
        do {
            return try await opening.value
        } catch {
            self.opening = nil
            throw error
        }
    }

    func close() async {
        // Records that could not be opened need no closing.
        await (try? opening?.value)?.database.close()
        opening = nil
    }
}
