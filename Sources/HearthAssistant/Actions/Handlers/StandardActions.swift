extension ActionRegistry {
    /// The actions of the stores that exist, and of an app.
    /// - Parameters:
    ///   - searchesWeb: whether a search is configured.
    ///   - reach: where its queries go.
    ///   - ringing: tells the user on a reminder's card which program will ring; `nil` for the default text.
    package static func standard(
        _ stores: AssistantStores, searchesWeb: Bool = false, reach: WebSearchAction.Reach = .remote,
        ringing: String? = nil, own: [any AssistantAction] = []
    ) -> ActionRegistry {
        var actions: [any AssistantAction] = searchesWeb ? [WebSearchAction(reach: reach)] : []
        if let calendar = stores.calendar { actions.append(CalendarAction(store: calendar)) }
        if let notes = stores.notes { actions.append(NoteAction(store: notes)) }
        if let contacts = stores.contacts { actions.append(ContactsSearchAction(store: contacts)) }
        if let habits = stores.habits { actions.append(HabitAction(store: habits)) }
        if let reminders = stores.reminders { actions.append(ReminderAction(store: reminders, ringing: ringing)) }
        return ActionRegistry(actions + own)
    }
}
