extension ActionRegistry {
    /// The actions of the stores that exist, and of an app.
    /// - Parameters:
    ///   - searchesWeb: whether a provider of web search is configured.
    ///   - ringing: tells the user on a reminder's card which program will ring; `nil` for the default text.
    package static func standard(
        calendar: (any CalendarStore)? = nil, reminders: (any ReminderStore)? = nil, notes: (any NoteStore)? = nil,
        contacts: (any ContactStore)? = nil, habits: (any HabitStore)? = nil, searchesWeb: Bool = false,
        ringing: String? = nil, own: [any AssistantAction] = []
    ) -> ActionRegistry {
        var actions: [any AssistantAction] = []
        if searchesWeb { actions.append(WebSearchAction()) }
        if let calendar { actions.append(CalendarAction(store: calendar)) }
        if let notes { actions.append(NoteAction(store: notes)) }
        if let contacts { actions.append(ContactsSearchAction(store: contacts)) }
        if let habits { actions.append(HabitAction(store: habits)) }
        if let reminders {
            actions.append(
                ringing.map { ReminderAction(store: reminders, ringing: $0) } ?? ReminderAction(store: reminders))
        }
        return ActionRegistry(actions + own)
    }
}
