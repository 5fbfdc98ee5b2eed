import Foundation
import HearthAssistant
import HearthBase

extension NativeService {
    /// The user's records: list, add, change, remove.
    static func storeRoutes(_ service: NativeService) -> [NativeRoute] {
        let desk = RecordDesk(records: service.records, log: service.log)
        return calendarRoutes(desk) + reminderRoutes(desk) + noteRoutes(desk) + contactRoutes(desk)
            + habitRoutes(desk)
    }

    private static let words = NativeQuery("q", "words")
    private static let limit = NativeQuery("limit", "at most 1000")

    private static func limit(_ call: NativeCall) throws -> Int { try call.number("limit", 1...1000, default: 200) }

    /// A time of a query.
    private static func date(_ name: String, _ call: NativeCall) throws -> Date? {
        guard let text = call.query(name) else { return nil }
        guard let time = Timestamp(text) else {
            throw NativeFailure.bad(name, "a time such as 2026-11-24T09:30:00Z")
        }
        return time.date
    }

    private static func calendarRoutes(_ desk: RecordDesk) -> [NativeRoute] {
        [
            .plain(
                "GET", "/stores/calendar", "The events of a period",
                query: [
                    .init("from", "a time; now if it is absent"), .init("until", "a time; 30 days later"), limit,
                ]
            ) { call in
                let from = try date("from", call) ?? desk.records.time.now
                let until = try date("until", call) ?? from.addingTimeInterval(30 * 86_400)
                guard until > from, until.timeIntervalSince(from) <= 800 * 86_400 else {
                    throw NativeFailure.bad("until", "after `from`, and at most 800 days later")
                }
                return try await desk.occurrences(from: from, until: until, limit: try limit(call))
            },
            .json(
                "POST", "/stores/calendar", "Add an event", status: 201,
                example: #"{"title": "Dentist", "start": {"date": "2026-11-25T09:00:00.000Z"}}"#
            ) { (_, order: EventOrder) in try await desk.addEvent(order) },
            .json("PATCH", "/stores/calendar/{id}", "Change an event", example: #"{"title": "Dentist at ten"}"#) {
                (call, order: EventOrder) in try await desk.changeEvent(call.value("id"), order)
            },
            .plain("DELETE", "/stores/calendar/{id}", "Remove an event") { call in
                try await desk.removeEvent(call.value("id"))
            },
        ]
    }

    private static func reminderRoutes(_ desk: RecordDesk) -> [NativeRoute] {
        [
            .plain(
                "GET", "/stores/reminders", "The reminders",
                query: [.init("completed", "true for those that are done, too"), words, limit]
            ) { call in
                try await desk.reminders(
                    completed: try call.flag("completed"), words: call.query("q"), limit: try limit(call))
            },
            .json("POST", "/stores/reminders", "Add a reminder", status: 201, example: #"{"title": "Call Anna"}"#) {
                (_, order: ReminderOrder) in try await desk.addReminder(order)
            },
            .json(
                "PATCH", "/stores/reminders/{id}", "Change a reminder",
                example: #"{"priority": 1, "clear": ["due"]}"#
            ) { (call, order: ReminderOrder) in try await desk.changeReminder(call.value("id"), order) },
            .plain("POST", "/stores/reminders/{id}/complete", "Complete a reminder") { call in
                try await desk.completeReminder(call.value("id"))
            },
            .plain("DELETE", "/stores/reminders/{id}", "Remove a reminder") { call in
                try await desk.removeReminder(call.value("id"))
            },
        ]
    }

    private static func noteRoutes(_ desk: RecordDesk) -> [NativeRoute] {
        [
            .plain("GET", "/stores/notes", "The notes changed last, or those with words", query: [words, limit]) {
                call in try await desk.notes(words: call.query("q"), limit: try limit(call))
            },
            .plain("GET", "/stores/notes/{id}", "A note") { call in try await desk.note(call.value("id")) },
            .json(
                "POST", "/stores/notes", "Add a note", status: 201, example: #"{"title": "List", "body": "bread"}"#
            ) { (_, order: NoteOrder) in try await desk.addNote(order) },
            .json("PATCH", "/stores/notes/{id}", "Change a note", example: #"{"body": "bread, milk"}"#) {
                (call, order: NoteOrder) in try await desk.changeNote(call.value("id"), order)
            },
            .plain("DELETE", "/stores/notes/{id}", "Remove a note") { call in
                try await desk.removeNote(call.value("id"))
            },
        ]
    }

    private static func contactRoutes(_ desk: RecordDesk) -> [NativeRoute] {
        [
            .plain("GET", "/stores/contacts", "The contacts", query: [words, limit]) { call in
                try await desk.contacts(words: call.query("q") ?? "", limit: try limit(call))
            },
            .json(
                "POST", "/stores/contacts", "Add a contact", status: 201,
                example: #"{"name": "Anna", "mails": [{"label": "home", "value": "anna@example.org"}]}"#
            ) { (_, order: ContactOrder) in try await desk.addContact(order) },
            .json("PATCH", "/stores/contacts/{id}", "Change a contact", example: #"{"note": "met in May"}"#) {
                (call, order: ContactOrder) in try await desk.changeContact(call.value("id"), order)
            },
            .plain("DELETE", "/stores/contacts/{id}", "Remove a contact") { call in
                try await desk.removeContact(call.value("id"))
            },
        ]
    }

    private static func habitRoutes(_ desk: RecordDesk) -> [NativeRoute] {
        [
            .plain("GET", "/stores/habits", "The habits") { _ in try await desk.habits() },
            .json(
                "POST", "/stores/habits", "Add a habit, or give one another frequency", status: 201,
                example: #"{"name": "Running", "frequency": "weekly"}"#
            ) { (_, order: HabitOrder) in try await desk.addHabit(order) },
            .json(
                "POST", "/stores/habits/{id}/log", "Log a habit on a day",
                example: #"{"day": "2026-11-24", "amount": 1}"#
            ) { (call, order: HabitLogOrder) in try await desk.logHabit(call.value("id"), order) },
            .plain("DELETE", "/stores/habits/{id}", "Remove a habit with its log") { call in
                try await desk.removeHabit(call.value("id"))
            },
        ]
    }
}
