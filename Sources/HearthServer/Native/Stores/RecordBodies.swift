import Foundation
import HearthAssistant

/// A time of day or a whole day of a calendar.
struct TimeBody: Codable, Sendable, Hashable {
    var date: Date
    var timeZone: String?
    var isAllDay: Bool?

    init(_ time: EventTime) {
        date = time.date
        timeZone = time.timeZone
        isAllDay = time.isAllDay
    }

    var time: EventTime { EventTime(date, timeZone: timeZone, isAllDay: isAllDay ?? false) }
}

struct EventBody: Codable, Sendable, Hashable {
    var id: String
    var calendar: String
    var title: String
    var start: TimeBody?
    var end: TimeBody?
    var location: String?
    var notes: String?
    var recurrence: String?
    var alarmMinutes: Int?
    var isInvitation: Bool
    var repeatsUnexpanded: Bool

    init(_ event: CalendarEvent) {
        let fields = event.fields
        id = event.id
        calendar = event.collection
        title = fields.title ?? ""
        start = fields.start.map { TimeBody($0) }
        end = fields.end.map { TimeBody($0) }
        location = fields.location
        notes = fields.notes
        recurrence = fields.recurrence
        alarmMinutes = fields.alarmMinutes
        isInvitation = event.isInvitation
        repeatsUnexpanded = event.repeatsUnexpanded
    }
}

struct OccurrenceBody: Codable, Sendable, Hashable {
    var event: EventBody
    var start: TimeBody
    var end: TimeBody
}

struct CalendarBody: Codable, Sendable, Hashable {
    var occurrences: [OccurrenceBody]
    /// The files that cannot be read, and are skipped.
    var unreadable: Int
    var event: String
}

/// The values of a new or changed event.
struct EventOrder: Codable, Sendable {
    var title: String?
    var start: TimeBody?
    var end: TimeBody?
    var location: String?
    var notes: String?
    var recurrence: String?
    var alarmMinutes: Int?
    /// The values to remove: `alarm`. Texts are removed by an empty text.
    var clear: [String]?

    var fields: EventFields {
        EventFields(
            title: title, start: start?.time, end: end?.time, location: location, notes: notes,
            recurrence: recurrence, alarmMinutes: alarmMinutes)
    }
}

struct ReminderBody: Codable, Sendable, Hashable {
    var id: String
    var list: String
    var title: String
    var due: TimeBody?
    var alarmMinutes: Int?
    var priority: Int
    var completed: Date?
    var isInvitation: Bool

    init(_ reminder: Reminder) {
        id = reminder.id
        list = reminder.collection
        title = reminder.title
        due = reminder.due.map { TimeBody($0) }
        alarmMinutes = reminder.alarmMinutes
        priority = reminder.priority
        completed = reminder.completed
        isInvitation = reminder.isInvitation
    }
}

struct RemindersBody: Codable, Sendable, Hashable {
    var reminders: [ReminderBody]
    var unreadable: Int
    var event: String
}

struct ReminderOrder: Codable, Sendable {
    var title: String?
    var due: TimeBody?
    var alarmMinutes: Int?
    var priority: Int?
    /// `true` completes it, `false` opens it again.
    var completed: Bool?
    /// The values to remove: `due`, `alarm`.
    var clear: [String]?
}

struct NoteBody: Codable, Sendable, Hashable {
    var id: String
    var title: String
    var body: String
    var created: Date
    var changed: Date

    init(_ note: Note) {
        id = note.id
        title = note.title
        body = note.body
        created = note.created
        changed = note.changed
    }
}

struct NotesBody: Codable, Sendable, Hashable {
    var notes: [NoteBody]
    var event: String
}

struct NoteOrder: Codable, Sendable {
    var title: String?
    var body: String?
}

struct ContactEntryBody: Codable, Sendable, Hashable {
    var label: String
    var value: String
}

struct ContactBody: Codable, Sendable, Hashable {
    var id: String
    var book: String
    var name: String
    var nicknames: [String]
    var numbers: [ContactEntryBody]
    var mails: [ContactEntryBody]
    var organization: String
    var note: String

    init(_ contact: Contact) {
        id = contact.id
        book = contact.collection
        name = contact.name
        nicknames = contact.nicknames
        numbers = contact.numbers.map { ContactEntryBody(label: $0.label, value: $0.value) }
        mails = contact.mails.map { ContactEntryBody(label: $0.label, value: $0.value) }
        organization = contact.organization
        note = contact.note
    }
}

struct ContactsBody: Codable, Sendable, Hashable {
    var contacts: [ContactBody]
    var unreadable: Int
    var event: String
}

/// The values of a contact; those that are absent stay, or are empty in a new one.
struct ContactOrder: Codable, Sendable {
    var name: String?
    var nicknames: [String]?
    var numbers: [ContactEntryBody]?
    var mails: [ContactEntryBody]?
    var organization: String?
    var note: String?

    func applied(to contact: Contact) -> Contact {
        var contact = contact
        if let name { contact.name = name }
        if let nicknames { contact.nicknames = nicknames }
        if let numbers { contact.numbers = numbers.map { Contact.Entry(label: $0.label, value: $0.value) } }
        if let mails { contact.mails = mails.map { Contact.Entry(label: $0.label, value: $0.value) } }
        if let organization { contact.organization = organization }
        if let note { contact.note = note }
        return contact
    }
}

struct HabitBody: Codable, Sendable, Hashable {
    var id: String
    var name: String
    var frequency: String
    var created: Date
    /// The amounts by day.
    var log: [String: Double]
    var streak: Int
    var longestStreak: Int
    var isDone: Bool

    init(_ habit: Habit, on today: CalendarDay) {
        let streak = HabitStreak(of: habit, on: today)
        id = habit.id
        name = habit.name
        frequency = habit.frequency.rawValue
        created = habit.created
        log = Dictionary(habit.log.map { ("\($0.key)", $0.value) }, uniquingKeysWith: { first, _ in first })
        self.streak = streak.current
        longestStreak = streak.longest
        isDone = streak.isDone
    }
}

struct HabitsBody: Codable, Sendable, Hashable {
    var habits: [HabitBody]
    var event: String
}

enum FrequencyWord: String, SchemaWord { case daily, weekly }

struct HabitOrder: Codable, Sendable {
    var name: String?
    var frequency: FrequencyWord?
}

struct HabitLogOrder: Codable, Sendable {
    /// The day, such as `2026-11-24`; today if it is absent.
    var day: String?
    /// Added to the day's amount; 1 if it is absent, and 0 removes the day.
    var amount: Double?
}

/// A record that was made or changed, and the action that undoes it.
struct ChangedBody: Codable, Sendable, Hashable {
    var id: String
    var action: String
}
