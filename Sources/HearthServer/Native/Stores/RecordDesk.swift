import Foundation
import HearthAssistant
import HearthBase

/// The user's records as the page shows and changes them. Each change is an action of the journal, so that it can be undone.
struct RecordDesk: Sendable {
    let records: AssistantHome
    let log: EventLog

    /// Applies a change, and tells clients.
    private func carryOut(
        _ title: String, _ tag: ActionTag, of record: String, id: String, action: String = CommandedActions.newID(),
        _ change: RecordChange
    ) async throws -> ChangedBody {
        let card = ActionCard(commanded: title, tag, id: action, record: record)
        try await records.commands.carryOut(card, [change])
        log.add("records", ["store": change.store.rawValue])
        log.add("actions", EmptyBody())
        return ChangedBody(id: id, action: action)
    }

    private static func missing() -> NativeFailure {
        NativeFailure(404, "no-such-record", "there is no such record")
    }

    // MARK: Calendar

    func occurrences(from: Date, until: Date, limit: Int) async throws -> CalendarBody {
        let event = log.lastID
        let found = try await records.calendar.occurrences(from: from, until: until, limit: limit)
        return CalendarBody(
            occurrences: found.map {
                OccurrenceBody(event: EventBody($0.event), start: TimeBody($0.start), end: TimeBody($0.end))
            }, unreadable: try await records.calendar.unreadableFiles().count, event: event)
    }

    func addEvent(_ order: EventOrder) async throws -> ChangedBody {
        let id = CommandedActions.newID()
        let change = try await records.calendar.creation(of: order.fields, id: id)
        return try await carryOut("New event", .calendar, of: order.title ?? "", id: id, action: id, change)
    }

    func changeEvent(_ id: String, _ order: EventOrder) async throws -> ChangedBody {
        let title = try await records.calendar.event(id)?.fields.title
        var change = try await records.calendar.change(of: id, to: order.fields)
        if order.clear?.contains("alarm") == true, let after = change.after {
            change.after = try await blocking { try CalendarAlarms.removed(from: after) }
        }
        return try await carryOut("Change an event", .calendar, of: order.title ?? title ?? "", id: id, change)
    }

    func removeEvent(_ id: String) async throws -> ChangedBody {
        let title = try await records.calendar.event(id)?.fields.title
        return try await carryOut(
            "Remove an event", .calendar, of: title ?? "", id: id, try await records.calendar.removal(of: id))
    }

    // MARK: Reminders

    func reminders(completed: Bool, words: String?, limit: Int) async throws -> RemindersBody {
        let event = log.lastID
        let store = records.reminders
        let found =
            if let words {
                try await store.reminders(titled: words, completed: completed, limit: limit)
            } else {
                try await store.reminders(completed: completed, limit: limit)
            }
        return RemindersBody(
            reminders: found.map { ReminderBody($0) }, unreadable: try await store.unreadableFiles().count,
            event: event)
    }

    func addReminder(_ order: ReminderOrder) async throws -> ChangedBody {
        let id = CommandedActions.newID()
        let change = try await records.reminders.creation(
            title: order.title ?? "", due: order.due?.time, alarmMinutes: order.alarmMinutes,
            priority: order.priority ?? 0, id: id)
        return try await carryOut("New reminder", .reminder, of: order.title ?? "", id: id, action: id, change)
    }

    func changeReminder(_ id: String, _ order: ReminderOrder) async throws -> ChangedBody {
        let title = try await records.reminders.reminder(id)?.title
        let change = try await records.reminders.change(
            of: id, title: order.title, due: order.due?.time, alarmMinutes: order.alarmMinutes,
            priority: order.priority,
            clears: Set(order.clear ?? []).union(order.completed == false ? ["completed"] : []),
            completed: order.completed == true ? records.time.now : nil)
        return try await carryOut(
            order.completed == true ? "Complete a reminder" : "Change a reminder", .reminder,
            of: order.title ?? title ?? "", id: id, change)
    }

    func completeReminder(_ id: String) async throws -> ChangedBody {
        let title = try await records.reminders.reminder(id)?.title
        let change = try await records.reminders.completion(of: id, at: records.time.now)
        return try await carryOut("Complete a reminder", .reminder, of: title ?? "", id: id, change)
    }

    func removeReminder(_ id: String) async throws -> ChangedBody {
        let title = try await records.reminders.reminder(id)?.title
        return try await carryOut(
            "Remove a reminder", .reminder, of: title ?? "", id: id, try await records.reminders.removal(of: id))
    }

    // MARK: Notes

    func notes(words: String?, limit: Int) async throws -> NotesBody {
        let event = log.lastID
        let found =
            if let words {
                try await records.notes.notes(matching: words, limit: limit)
            } else {
                try await records.notes.notes(limit: limit)
            }
        return NotesBody(notes: found.map { NoteBody($0) }, event: event)
    }

    func note(_ id: String) async throws -> NoteBody {
        guard let note = try await records.notes.note(id) else { throw Self.missing() }
        return NoteBody(note)
    }

    func addNote(_ order: NoteOrder) async throws -> ChangedBody {
        let id = CommandedActions.newID()
        let change = try await records.notes.creation(
            title: order.title ?? "", body: order.body ?? "", id: id, at: records.time.now)
        return try await carryOut("New note", .note, of: order.title ?? "", id: id, action: id, change)
    }

    func changeNote(_ id: String, _ order: NoteOrder) async throws -> ChangedBody {
        guard let note = try await records.notes.note(id) else { throw Self.missing() }
        let title = order.title ?? note.title
        let change = try await records.notes.edit(
            id, title: title, body: order.body ?? note.body, at: records.time.now)
        return try await carryOut("Change a note", .note, of: title, id: id, change)
    }

    func removeNote(_ id: String) async throws -> ChangedBody {
        let title = try await records.notes.note(id)?.title
        return try await carryOut(
            "Remove a note", .note, of: title ?? "", id: id, try await records.notes.removal(of: id))
    }

    // MARK: Contacts

    func contacts(words: String, limit: Int) async throws -> ContactsBody {
        let event = log.lastID
        let found = try await records.contacts.contacts(matching: words, limit: limit)
        return ContactsBody(
            contacts: found.map { ContactBody($0) }, unreadable: try await records.contacts.unreadableFiles().count,
            event: event)
    }

    func addContact(_ order: ContactOrder) async throws -> ChangedBody {
        let id = CommandedActions.newID()
        let contact = order.applied(to: Contact(id: id, collection: "", name: ""))
        let change = try await records.contacts.creation(of: contact, id: id)
        return try await carryOut("New contact", .contactsSearch, of: contact.name, id: id, action: id, change)
    }

    func changeContact(_ id: String, _ order: ContactOrder) async throws -> ChangedBody {
        guard let known = try await records.contacts.contact(id) else { throw Self.missing() }
        let contact = order.applied(to: known)
        let change = try await records.contacts.change(of: id, to: contact)
        return try await carryOut("Change a contact", .contactsSearch, of: contact.name, id: id, change)
    }

    func removeContact(_ id: String) async throws -> ChangedBody {
        let name = try await records.contacts.contact(id)?.name
        return try await carryOut(
            "Remove a contact", .contactsSearch, of: name ?? "", id: id, try await records.contacts.removal(of: id))
    }

    // MARK: Habits

    private var today: CalendarDay { CalendarDay(of: records.time.now, in: .current) }

    func habits() async throws -> HabitsBody {
        let event = log.lastID
        return HabitsBody(habits: try await records.habits.habits().map { HabitBody($0, on: today) }, event: event)
    }

    func addHabit(_ order: HabitOrder) async throws -> ChangedBody {
        let id = CommandedActions.newID()
        let name = order.name ?? ""
        let change = try await records.habits.definition(
            name: name, frequency: HabitFrequency(rawValue: order.frequency?.rawValue ?? "") ?? .daily, id: id,
            at: records.time.now)
        return try await carryOut("New habit", .habit, of: name, id: change.id, change)
    }

    func logHabit(_ id: String, _ order: HabitLogOrder) async throws -> ChangedBody {
        guard let habit = try await records.habits.habit(id) else { throw Self.missing() }
        var day = today
        if let text = order.day {
            guard let named = CalendarDay(text) else { throw NativeFailure.bad("day", "a day such as 2026-11-24") }
            day = named
        }
        var amount = order.amount ?? 1
        if amount == 0 { amount = -(habit.log[day] ?? 0) }
        let change = try await records.habits.logging(habit.name, on: day, amount: amount)
        return try await carryOut("Log a habit", .habit, of: habit.name, id: id, change)
    }

    func removeHabit(_ id: String) async throws -> ChangedBody {
        let name = try await records.habits.habit(id)?.name
        return try await carryOut(
            "Remove a habit", .habit, of: name ?? "", id: id, try await records.habits.removal(of: id))
    }
}
