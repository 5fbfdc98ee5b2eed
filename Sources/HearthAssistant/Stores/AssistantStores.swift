/// The personal data that an assistant uses; `nil` for what it does not.
public struct AssistantStores: Sendable {
    public var calendar: (any CalendarStore)?
    public var reminders: (any ReminderStore)?
    public var contacts: (any ContactStore)?
    public var notes: (any NoteStore)?
    public var habits: (any HabitStore)?

    public init(
        calendar: (any CalendarStore)? = nil, reminders: (any ReminderStore)? = nil,
        contacts: (any ContactStore)? = nil, notes: (any NoteStore)? = nil, habits: (any HabitStore)? = nil
    ) {
        self.calendar = calendar
        self.reminders = reminders
        self.contacts = contacts
        self.notes = notes
        self.habits = habits
    }

    /// The same with the stores of another one in place of those that are `nil`.
    func filled(from other: AssistantStores) -> AssistantStores {
        AssistantStores(
            calendar: calendar ?? other.calendar, reminders: reminders ?? other.reminders,
            contacts: contacts ?? other.contacts, notes: notes ?? other.notes, habits: habits ?? other.habits)
    }

    /// The same without the stores of some kinds.
    func without(_ kinds: Set<StoreKind>) -> AssistantStores {
        AssistantStores(
            calendar: kinds.contains(.calendar) ? nil : calendar,
            reminders: kinds.contains(.reminders) ? nil : reminders,
            contacts: kinds.contains(.contacts) ? nil : contacts, notes: kinds.contains(.notes) ? nil : notes,
            habits: kinds.contains(.habits) ? nil : habits)
    }

    /// The stores by kind.
    package var records: [StoreKind: any ByteStore] {
        var records: [StoreKind: any ByteStore] = [:]
        records[.calendar] = calendar?.bytes
        records[.reminders] = reminders?.bytes
        records[.notes] = notes?.bytes
        records[.habits] = habits?.bytes
        records[.contacts] = contacts?.bytes
        return records
    }
}
