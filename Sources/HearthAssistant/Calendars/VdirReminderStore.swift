import Foundation
import HearthBase

/// The user's reminders in a vdir folder, which todoman and vdirsyncer read and write, too.
///
/// ```
/// HOME/reminders/personal/UID.ics    one VTODO
/// ```
/// Completing a repeating reminder moves it to its next time.
package actor VdirReminderStore: VdirStore {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        CalendarThread.executor.asUnownedSerialExecutor()
    }

    package var folder: VdirFolder<CalendarRecord>
    let clock: CalendarClock
    private let time: TimeSource

    /// A store of the folder `reminders` in `home`; nothing is written before the first change.
    package init(
        home: Path, own: OwnCollections = .personal, time: TimeSource = .system,
        timeZone: @escaping @Sendable () -> TimeZone = { .current }
    ) {
        folder = VdirFolder(
            path: home.appending("reminders"), suffix: ".ics", own: own, time: time,
            parse: { try CalendarFile.records($0, of: "VTODO") })
        clock = CalendarClock(deviceZone: timeZone)
        self.time = time
    }

    package func record(_ id: String) throws -> Reminder? {
        try folder.refresh()
        guard let (collection, record) = folder.find(id), let item = record.item else { return nil }
        return reminder(record, item, collection)
    }

    /// The reminders whose title contains the words: open ones by their due time, then the others, the last completed first.
    package func records(matching words: String, limit: Int) throws -> [Reminder] {
        let words = SearchText.tokens(of: words, limit: 40).map(\.text)
        try folder.refresh()
        var found: [(order: (Int, Int, String), reminder: Reminder)] = []
        for file in folder.unorderedFiles {
            for record in file.records {
                guard let item = record.item, words.allSatisfy({ record.folded.contains($0) }) else { continue }
                let order: (Int, Int)
                if item.isDone {
                    order = (2, -(item.completed.map { clock.moment(of: $0, record.zones) } ?? 0))
                } else if let due = item.end ?? item.start {
                    order = (0, clock.moment(of: due, record.zones))
                } else {
                    order = (1, 0)
                }
                found.append(((order.0, order.1, record.id), reminder(record, item, file.collection)))
            }
        }
        return found.sorted { $0.order < $1.order }.prefix(max(0, limit)).map(\.reminder)
    }

    func reminder(_ record: CalendarRecord, _ item: CalendarItem, _ collection: String) -> Reminder {
        var due = (item.end ?? (item.duration == nil ? item.start : nil)).map { clock.eventTime($0, record.zones) }
        if due == nil, item.start != nil {
            // A start with a DURATION.
            due = CalendarSeries(record: record, clock: clock).event(item, collection: collection).fields.end
        }
        let moment = item.completed.map { Date(timeIntervalSince1970: Double(clock.moment(of: $0, record.zones))) }
        return Reminder(
            id: record.id, collection: collection, title: item.title, due: due,
            recurrence: record.master?.rules.first, alarmMinutes: item.alarmMinutes, priority: item.priority,
            completed: moment ?? (item.isDone ? Date(timeIntervalSince1970: 0) : nil),
            isInvitation: item.isInvitation,
            source: folder.own.source(.reminders, collection, marked: record.source))
    }

    /// The change of a reminder. A new time of completion completes it; a repeating one moves to its next time instead.
    package func change(of id: String, to reminder: Reminder?) async throws -> RecordChange {
        guard let reminder else { return try folder.removal(of: id, in: .reminders) }
        let writer = ReminderWriter(clock: clock, now: time.now)
        let present = try record(id)
        var change: RecordChange
        if let present {
            let (collection, record, before) = try folder.known(id)
            change = RecordChange(
                store: .reminders, collection: collection, id: id, before: before,
                after: try writer.change(of: record, in: before, from: present, to: reminder))
        } else {
            change = RecordChange(
                store: .reminders, collection: folder.target(reminder.collection),
                id: id, before: nil, after: try writer.creation(of: reminder, id: id))
        }
        if let date = reminder.completed, date != present?.completed, let after = change.after,
            let record = try CalendarFile.records(after, of: "VTODO").first(where: { $0.id == id })
        {
            change.after = try writer.completion(of: record, in: after, at: date)
        }
        return change
    }

    /// The changes that import an iCalendar file, one for each reminder; one with a known UID is replaced.
    /// - Throws: `unusable-record` if the file is no iCalendar, or replaces one of several records of a file.
    package func importing(_ data: Data) async throws -> RecordImportPlan {
        try folder.refresh()
        return try CalendarImport(name: "VTODO", store: .reminders, clock: clock, folder: folder).plan(data)
    }

    package func problems() async throws -> [RecordProblem] { try folder.problems(of: "VTODO", clock) }

    package func isSame(_ first: Data, _ second: Data) -> Bool { CalendarJoin.haveSameComponents(first, second) }

    /// All reminders as one iCalendar file.
    package func exported() async throws -> Data { try folder.exported() }
}
