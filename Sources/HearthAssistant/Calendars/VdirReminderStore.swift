import Foundation
import HearthBase

/// The user's reminders in a vdir folder, which todoman and vdirsyncer read and write, too.
///
/// ```
/// HOME/reminders/personal/UID.ics    one VTODO
/// ```
/// Completing a repeating reminder moves it to its next time.
package actor VdirReminderStore: ReminderStore {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        CalendarThread.executor.asUnownedSerialExecutor()
    }

    private var folder: VdirFolder<[CalendarRecord]>
    private let clock: CalendarClock
    private let time: TimeSource
    private let preferredCollection: String?

    /// The collection of new reminders if the folder has none and the caller names none.
    package static let standardCollection = "personal"

    /// A store of the folder `reminders` in `home`; nothing is written before the first change.
    package init(
        home: Path, collection: String? = nil, fileSystem: any FileSystem = LocalFileSystem(),
        time: TimeSource = .system, timeZone: @escaping @Sendable () -> TimeZone = { .current }
    ) {
        folder = VdirFolder(
            path: home.appending("reminders"), suffix: ".ics", fileSystem: fileSystem, time: time,
            parse: { try CalendarFile.records($0, of: "VTODO") })
        clock = CalendarClock(deviceZone: timeZone)
        self.time = time
        preferredCollection = collection
    }

    /// The files that are not read, with the reason.
    package func unreadableFiles() throws -> [String] {
        try folder.refresh()
        return folder.unreadable.map { "\($0.collection)/\($0.name): \($0.reason)" }
    }

    package var unreadable: Int {
        get throws { try unreadableFiles().count }
    }

    package func reminders(completed: Bool, limit: Int) throws -> [Reminder] {
        try all { completed || !ReminderState.isDone($0.item) }.prefix(max(0, limit)).map(\.reminder)
    }

    package func reminder(_ id: String) throws -> Reminder? {
        try folder.refresh()
        guard let (collection, record) = find(id), let item = record.item else { return nil }
        return reminder(record, item, collection)
    }

    package func reminders(titled words: String, limit: Int) throws -> [Reminder] {
        let words = SearchText.tokens(of: words, limit: 40).map(\.text)
        return try all { found in
            !ReminderState.isDone(found.item) && words.allSatisfy { found.record.folded.contains($0) }
        }.prefix(max(0, limit)).map(\.reminder)
    }

    /// The reminders that pass a test: open ones by their due time, then the others, the last completed first.
    private func all(
        where isWanted: ((record: CalendarRecord, item: CalendarItem)) -> Bool
    ) throws -> [(order: (Int, Int, String), reminder: Reminder)] {
        try folder.refresh()
        var found: [(order: (Int, Int, String), reminder: Reminder)] = []
        for file in folder.unorderedFiles {
            for record in file.record {
                guard let item = record.item, isWanted((record, item)) else { continue }
                let order: (Int, Int)
                if ReminderState.isDone(item) {
                    order = (2, -(item.completed.map { clock.moment(of: $0, record.zones) } ?? 0))
                } else if let due = item.end ?? item.start {
                    order = (0, clock.moment(of: due, record.zones))
                } else {
                    order = (1, 0)
                }
                found.append(((order.0, order.1, record.id), reminder(record, item, file.collection)))
            }
        }
        return found.sorted { $0.order < $1.order }
    }

    private func reminder(_ record: CalendarRecord, _ item: CalendarItem, _ collection: String) -> Reminder {
        var due = (item.end ?? (item.duration == nil ? item.start : nil)).map { clock.eventTime($0, record.zones) }
        if due == nil, item.start != nil {
            // A start with a DURATION.
            due = CalendarSeries(record: record, clock: clock).event(item, collection: collection).fields.end
        }
        let moment = item.completed.map { Date(timeIntervalSince1970: Double(clock.moment(of: $0, record.zones))) }
        return Reminder(
            id: record.id, collection: collection, title: item.title, due: due, alarmMinutes: item.alarmMinutes,
            priority: item.priority,
            completed: moment ?? (ReminderState.isDone(item) ? Date(timeIntervalSince1970: 0) : nil),
            isInvitation: item.isInvitation)
    }

    package func creation(
        title: String, due: EventTime?, alarmMinutes: Int?, priority: Int, id: String
    ) throws -> RecordChange {
        try folder.refresh()
        if let (collection, _) = find(id) {
            let present = try folder.contents(ofRecord: id, in: collection)
            return RecordChange(store: .reminders, collection: collection, id: id, before: nil, after: present)
        }
        let data = try ReminderWriter(clock: clock, now: time.now).creation(
            title: title, due: due, alarmMinutes: alarmMinutes, priority: priority, id: id)
        return RecordChange(store: .reminders, collection: target, id: id, before: nil, after: data)
    }

    /// The change that gives a reminder new values; `nil` keeps a value.
    /// - Parameters:
    ///   - clears: the values to remove: `due`, `alarm`, `completed`.
    ///   - completed: the time at which it is completed with its new values, as by ``completion(of:at:)``.
    /// - Throws: `no-such-record`, `unusable-payload`.
    package func change(
        of id: String, title: String?, due: EventTime?, alarmMinutes: Int?, priority: Int?, clears: Set<String>,
        completed: Date? = nil
    ) throws -> RecordChange {
        let (collection, record, before) = try known(id)
        let writer = ReminderWriter(clock: clock, now: time.now)
        var after = try writer.change(
            of: record, in: before, title: title, due: due, alarmMinutes: alarmMinutes, priority: priority,
            clears: clears)
        if let completed,
            let changed = try CalendarFile.records(after, of: "VTODO").record.first(where: { $0.id == id })
        {
            after = try writer.completion(of: changed, in: after, at: completed)
        }
        return RecordChange(store: .reminders, collection: collection, id: id, before: before, after: after)
    }

    package func completion(of id: String, at date: Date) throws -> RecordChange {
        let (collection, record, before) = try known(id)
        let after = try ReminderWriter(clock: clock, now: time.now).completion(of: record, in: before, at: date)
        return RecordChange(store: .reminders, collection: collection, id: id, before: before, after: after)
    }

    package func removal(of id: String) throws -> RecordChange {
        let (collection, _, before) = try known(id)
        return RecordChange(store: .reminders, collection: collection, id: id, before: before, after: nil)
    }

    package func apply(_ change: RecordChange) throws { try folder.apply(change) }

    package func state(of change: RecordChange) throws -> RecordState {
        try folder.refresh()
        return try folder.state(of: change)
    }

    /// The changes that import an iCalendar file, one for each reminder; one with a known UID is replaced.
    /// - Throws: `unusable-record` if the file is no iCalendar, or replaces one of several records of a file.
    package func importing(_ data: Data) throws -> [RecordChange] {
        try folder.refresh()
        return try CalendarImport.records(data, of: "VTODO").map { id, after in
            try folder.importing(id, after, store: .reminders, into: target)
        }
    }

    /// All reminders as one iCalendar file.
    package func exported() throws -> Data {
        try folder.refresh()
        return try CalendarImport.joined(folder.files.map { try folder.contents(of: $0) })
    }

    private var target: String {
        if let preferredCollection { return preferredCollection }
        let known = folder.collections
        return known.contains(Self.standardCollection)
            ? Self.standardCollection : known.first ?? Self.standardCollection
    }

    private func find(_ id: String) -> (collection: String, record: CalendarRecord)? {
        guard let file = folder.file(withID: id), let record = file.record.first(where: { $0.id == id }) else {
            return nil
        }
        return (file.collection, record)
    }

    private func known(_ id: String) throws -> (collection: String, record: CalendarRecord, before: Data) {
        try folder.refresh()
        let before = try folder.onlyRecord(id)
        guard let (collection, record) = find(id) else { throw AssistantError.noRecord(id) }
        return (collection, record, before)
    }
}
