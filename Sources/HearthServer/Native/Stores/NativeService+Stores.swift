import Foundation
import HearthAssistant
import HearthBase

extension NativeService {
    /// The user's records: list, add, change, remove.
    static func storeRoutes(_ service: NativeService) -> [NativeRoute] {
        let records = service.records.records
        let events = RecordRoutes(book: records.events, log: service.log, rings: service.rings)
        let reminders = RecordRoutes(book: records.reminders, log: service.log, rings: service.rings)
        let notes = RecordRoutes(book: records.notes, log: service.log, rings: service.rings)
        let contacts = RecordRoutes(book: records.contacts, log: service.log, rings: service.rings)
        let habits = RecordRoutes(book: records.habits, log: service.log, rings: service.rings)
        let today = { @Sendable in CalendarDay(of: records.time.now, in: .current) }
        let files = RecordFileRoutes(records: records) { [weak service] kind in
            service?.tellRecords(kind.rawValue)
            service?.log.add("actions", EmptyBody())
        }
        var routes: [NativeRoute] =
            files.all + [
                events.list("The events of a period", [("from", "a time; now"), ("until", "30 days later"), words]) {
                    try await occurrences(in: records, $0, limit: $1)
                },
                reminders.list("The reminders", [("completed", "true for those that are done, too"), words]) {
                    try await records.reminders.store.reminders(
                        matching: $0.query("q") ?? "", completed: try $0.flag("completed"), limit: $1)
                },
                notes.list("The notes changed last, or those with words", [words]) {
                    try await notes.found($0, limit: $1)
                },
                contacts.list("The contacts", [words]) { try await contacts.found($0, limit: $1) },
                habits.list("The habits", [words]) { call, limit in
                    try await habits.found(call, limit: limit).map { ShownHabit($0, on: today()) }
                },
                .plain("POST", "/stores/reminders/{id}/complete", "Complete a reminder") { call in
                    let now = records.time.now
                    return reminders.tell(
                        try await records.reminders.change(call.value("id"), as: "Complete a reminder") {
                            if $0.completed == nil { $0.completed = now }
                        })
                },
                .json(
                    "POST", "/stores/habits/{id}/log", "Log a habit on a day",
                    example: #"{"day": "2026-11-24", "amount": 1}"#
                ) { (call, order: HabitLogOrder) in
                    let day = try order.day.map { try Self.day($0) } ?? today()
                    return habits.tell(
                        try await records.habits.change(call.value("id"), as: "Log a habit") { habit in
                            let amount = order.amount ?? 1
                            try habit.add(amount == 0 ? -(habit.log[day] ?? 0) : amount, on: day)
                        })
                },
            ]
        routes += events.routes(
            #"{"title": "Dentist", "start": "2026-11-25T09:00:00Z"}"#, change: #"{"title": "Dentist at ten"}"#)
        routes += reminders.routes(#"{"title": "Call Anna"}"#, change: #"{"priority": 1, "due": null}"#)
        routes += notes.routes(#"{"title": "List", "body": "bread"}"#, change: #"{"body": "bread, milk"}"#)
        routes += contacts.routes(
            #"{"name": "Anna", "mails": [{"label": "home", "value": "anna@example.org"}]}"#,
            change: #"{"note": "met in May"}"#)
        routes += habits.routes(#"{"name": "Running", "frequency": "weekly"}"#, change: #"{"frequency": "daily"}"#)
        return routes
    }

    private static let words: NativeQuery = ("q", "words")

    private static func occurrences(
        in records: Records, _ call: NativeCall, limit: Int
    ) async throws -> [EventOccurrence] {
        func date(_ name: String) throws -> Date? {
            guard let text = call.query(name) else { return nil }
            guard let time = Timestamp(text) else {
                throw NativeFailure.bad(name, "a time such as 2026-11-24T09:30:00Z")
            }
            return time.date
        }
        let from = try date("from") ?? records.time.now
        let until = try date("until") ?? from.addingTimeInterval(30 * 86_400)
        guard until > from, until.timeIntervalSince(from) <= 800 * 86_400 else {
            throw NativeFailure.bad("until", "after `from`, and at most 800 days later")
        }
        let wanted = SearchText.tokens(of: call.query("q") ?? "", limit: 40).map(\.text)
        let found = try await records.stores.calendar?.occurrences(
            from: from, until: until, limit: wanted.isEmpty ? limit : .max)
        guard !wanted.isEmpty else { return found ?? [] }
        // Of each event, the first occurrences are enough to find it.
        return Array(
            (found ?? []).lazy.filter { occurrence in
                let title = SearchText.folded(occurrence.event.fields.title ?? "")
                return wanted.allSatisfy { title.contains($0) }
            }.prefix(limit))
    }

    private static func day(_ text: String) throws -> CalendarDay {
        guard let day = CalendarDay(text) else { throw NativeFailure.bad("day", "a day such as 2026-11-24") }
        return day
    }
}

/// The routes of one kind of record. Each change is told to clients.
private struct RecordRoutes<Record: UserRecord>: Sendable {
    let book: RecordBook<Record>
    let log: EventLog
    let rings: RingDesk

    private var path: String { "/stores/\(Record.kind.rawValue)" }

    func tell(_ edit: RecordEdit) -> RecordEdit {
        log.add("records", ["store": Record.kind.rawValue])
        log.add("actions", EmptyBody())
        // A new due time may be near.
        Task { [rings] in await rings.wake() }
        return edit
    }

    func found(_ call: NativeCall, limit: Int) async throws -> [Record] {
        try await book.find(call.query("q") ?? "", limit: limit)
    }

    func list<Item: ListedRecord>(
        _ summary: String, _ query: [NativeQuery],
        _ find: @escaping @Sendable (_ call: NativeCall, _ limit: Int) async throws -> [Item]
    ) -> NativeRoute {
        .plain("GET", path, summary, query: query + [("limit", "at most 1000")]) { call in
            let event = log.lastID
            let found = try await find(call, try call.number("limit", 1...1000, default: 200))
            return RecordsBody(
                records: found, unreadable: try await book.store.unreadableCount(), event: event)
        }
    }

    func routes(_ example: String, change: String) -> [NativeRoute] {
        let noun = Record.kind.noun
        let one = noun == "event" ? "an event" : "a \(noun)"
        return [
            .plain("GET", path + "/problems", "List the \(noun)s that cannot be read, or not as they were written") {
                _ in
                RecordProblemsBody(problems: try await book.problems())
            },
            .plain("GET", path + "/{id}", "Get \(one)") { call in
                guard let record = try await book.record(call.value("id")) else {
                    throw NativeFailure(404, "no-such-record", "there is no such record")
                }
                return record
            },
            .json("POST", path, "Add \(one)", status: 201, example: example) { (_, values: RecordValues<Record>) in
                tell(try await book.add(try values.applied(to: .empty)))
            },
            .json("PATCH", path + "/{id}", "Change \(one)", example: change) {
                (call, values: RecordValues<Record>) in
                tell(try await book.change(call.value("id")) { $0 = try values.applied(to: $0) })
            },
            .plain("DELETE", path + "/{id}", "Remove \(one)") { call in
                tell(try await book.remove(call.value("id")))
            },
        ]
    }
}
