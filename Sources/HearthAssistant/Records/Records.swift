import HearthBase

/// The user's records as plain calls: events, reminders, notes, contacts and habits.
///
/// ```swift
/// let edit = try await hearth.records.reminders.add(Reminder(title: "Call Anna"))
/// let notes = try await hearth.records.notes.find("plumber")
/// try await hearth.records.undo(edit.action)
/// ```
public struct Records: Sendable {
    public let events: RecordBook<CalendarEvent>
    public let reminders: RecordBook<Reminder>
    public let notes: RecordBook<Note>
    public let contacts: RecordBook<Contact>
    public let habits: RecordBook<Habit>
    /// The stores of the records.
    package let stores: AssistantStores
    /// The time of new and changed records.
    package let time: TimeSource
    private let journal: any ActionJournal
    private let runner: ActionRunner
    private let conversations: (any ConversationStore)?

    /// - Parameter conversations: shows there that an action was undone.
    package init(
        _ stores: AssistantStores, journal: any ActionJournal, conversations: (any ConversationStore)? = nil,
        time: TimeSource
    ) {
        runner = ActionRunner(
            registry: ActionRegistry([]), stores: stores.records, journal: journal, approval: DeclineAll(), time: time)
        events = RecordBook(stores.calendar?.bytes, runner)
        reminders = RecordBook(stores.reminders?.bytes, runner)
        notes = RecordBook(stores.notes?.bytes, runner)
        contacts = RecordBook(stores.contacts?.bytes, runner)
        habits = RecordBook(stores.habits?.bytes, runner)
        (self.stores, self.time, self.journal, self.conversations) = (stores, time, journal, conversations)
    }

    /// Takes an action back, within 30 days: of these calls, or of the assistant.
    /// - Throws: ``AssistantError``: `no-such-record`, `changed-elsewhere`, `cannot-be-undone`.
    @discardableResult
    public func undo(_ action: String) async throws -> ActionCard {
        let entry = try await journal.entry(action)
        let card = try await runner.undo(action)
        guard let conversations, let entry, !entry.conversation.isEmpty else { return card }
        let messages = try await conversations.messages(of: entry.conversation)
        guard var message = messages.first(where: { $0.id == entry.message }),
            let index = message.cards.firstIndex(where: { $0.id == card.id })
        else { return card }
        message.cards[index].state = card.state
        message.cards[index].canUndo = false
        try await conversations.save(message, in: entry.conversation)
        return card
    }

    /// The last actions, the newest first, after those of processes that have ended are settled.
    package func actions(limit: Int) async throws -> [ActionEntry] {
        _ = await runner.recover()
        return try await runner.history(limit: limit)
    }
}
