/// The notes of seed 001.
public typealias NotesStore = NoteStore

/// The contacts of seed 001.
public typealias ContactsService = ContactStore

/// The lists of seed 001 for one kind of card each; ``cards`` has all of them in the order of the blocks.
extension AssistantMessage {
    /// The cards of events.
    public var calendarEventPreviews: [ActionCard] { cards(.calendar) }
    /// The cards of reminders.
    public var reminderPreviews: [ActionCard] { cards(.reminder) }
    /// The cards of notes.
    public var notePreviews: [ActionCard] { cards(.note) }
    /// The cards of habits.
    public var habitPreviews: [ActionCard] { cards(.habit) }
    /// The cards of contacts that were looked up.
    public var contactPreviews: [ActionCard] { cards(.contactsSearch) }

    private func cards(_ tag: ActionTag) -> [ActionCard] { cards.filter { $0.tag == tag } }
}
