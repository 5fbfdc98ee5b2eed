import Foundation
import HearthAssistant
import HearthBase

/// The person's reminders on an Apple device, through EventKit.
///
/// The first use asks the person for access. A reminder that Hearth adds has an address of the scheme `hearth-record`, by
/// which it is found again, and an alarm at the time that it is due. A completed repeating reminder is moved to its next
/// time by the system.
public actor SystemReminders: SystemStore {
    package nonisolated let access: SystemAccess
    private let database: any ReminderDatabase
    private let zone: @Sendable () -> TimeZone

    /// - Parameter zone: the zone of the device.
    init(
        _ database: any ReminderDatabase, access: SystemAccess,
        zone: @escaping @Sendable () -> TimeZone = { .current }
    ) {
        (self.database, self.access, self.zone) = (database, access, zone)
    }

    /// The permission now.
    public nonisolated var accessState: AccessState { access.state }

    /// Asks the person for access, if they were not asked yet.
    /// - Throws: the error of EventKit.
    public nonisolated func requestAccess() async throws -> AccessState { try await access.request() }

    // MARK: - Reading

    /// The reminders whose title contains the words: open ones by their due time, then the others, the last completed first.
    public func records(matching words: String, limit: Int) async throws -> [Reminder] {
        let wanted = SearchText.tokens(of: words, limit: 40).map(\.text)
        let zone = zone()
        let all = try await access.reading { try await database.reminders() }
        var found: [(order: (Int, Double, String), record: Reminder)] = []
        for (id, reminder) in Self.named(all) {
            let title = SearchText.folded(reminder.title)
            guard wanted.allSatisfy({ title.contains($0) }) else { continue }
            let record = reminder.record(id: id, in: zone)
            let order: (Int, Double)
            if let completed = record.completed {
                order = (2, -completed.timeIntervalSince1970)
            } else if let due = record.due {
                let moment = due.isAllDay ? WholeDay.begin(WholeDay.number(of: due, in: zone), in: zone) : due.date
                order = (0, moment.timeIntervalSince1970)
            } else {
                order = (1, 0)
            }
            found.append(((order.0, order.1, id), record))
        }
        return found.sorted { $0.order < $1.order }.prefix(max(0, limit)).map(\.record)
    }

    public func record(_ id: String) async throws -> Reminder? {
        try await access.reading { try await found(id, near: []) }
    }

    public func write(_ record: Reminder?, id: String) async throws { try await apply(change(of: id, to: record)) }

    package func found(_ id: String, near moments: [Date]) async throws -> Reminder? {
        try await reminder(id)?.record(id: id, in: zone())
    }

    private func reminder(_ id: String) async throws -> SystemReminder? {
        if let reminder = try await database.reminder(id) { return reminder }
        return Self.named(try await database.reminders()).first { $0.id == id }?.reminder
    }

    /// The reminders with their ids: of their marks, or EventKit's. A copy has the mark of the first, and EventKit's id.
    private static func named(_ reminders: [SystemReminder]) -> [(id: String, reminder: SystemReminder)] {
        var known: Set<String> = []
        // A completed copy of a repeating reminder has its mark, too; the open one is meant.
        return reminders.sorted { ($0.isCompleted ? 1 : 0, $0.identifier) < ($1.isCompleted ? 1 : 0, $1.identifier) }
            .map { reminder in
                guard let mark = reminder.mark, known.insert(mark.id).inserted else {
                    return (reminder.identifier, reminder)
                }
                return (mark.id, reminder)
            }
    }

    // MARK: - Writing

    package func kept(_ record: Reminder, over present: Reminder?) async throws -> Reminder {
        try await changed(record).record(id: record.id, in: zone())
    }

    private func changed(_ record: Reminder) async throws -> SystemReminder {
        guard let present = try await reminder(record.id) else {
            var reminder = try SystemReminder.new(record, in: zone())
            reminder.list = try await list(of: record)
            return reminder
        }
        var reminder = try present.changed(to: record, in: zone())
        if !record.collection.isEmpty, record.collection != present.list?.identifier {
            reminder.list = try await list(of: record)
        }
        return reminder
    }

    /// The list that a record names; without a name the one of new reminders.
    private func list(of record: Reminder) async throws -> SystemList? {
        guard !record.collection.isEmpty else { return try await database.standardList() }
        guard let list = try await database.list(record.collection) else {
            throw AssistantError.unusable("list", "there is no list \(record.collection.quoted(limit: 40))")
        }
        guard list.isWritable else {
            throw AssistantError.unusable("list", "the list \(list.title.quoted(limit: 40)) cannot be changed")
        }
        return list
    }

    package func put(_ record: Reminder?, id: String, near moments: [Date]) async throws {
        guard let record else {
            guard let reminder = try await reminder(id) else { return }
            return try await database.remove(reminder.identifier)
        }
        _ = try await database.save(try await changed(record))
    }

    package func state(of change: RecordChange) async throws -> RecordState {
        let present = try await access.reading { try await found(change.id, near: []) }
        if try matches(present, change.after, from: change.before) { return .after }
        if try matches(present, change.before, from: change.after) { return .before }
        guard let present, let before = try values(change.before), let after = try values(change.after) else {
            return .other
        }
        if Self.isNextTime(present, of: before, completedBy: after) { return .after }
        return Self.isNextTime(present, of: after, completedBy: before) ? .before : .other
    }

    /// Whether a repeating reminder was moved to a later time, as the system does when it is completed.
    private static func isNextTime(_ present: Reminder, of open: Reminder, completedBy done: Reminder) -> Bool {
        guard open.recurrence != nil, open.completed == nil, done.completed != nil, present.completed == nil,
            let due = open.due, let next = present.due, next.date > due.date
        else { return false }
        var moved = open
        (moved.due, moved.recurrence, moved.alarmMinutes) = (present.due, present.recurrence, present.alarmMinutes)
        return moved == present
    }

    /// A reminder that is brought back belongs to no one else.
    package nonisolated func compared(_ record: Reminder, with other: Reminder) -> Reminder {
        var record = record
        record.isInvitation = false
        return record
    }

    package nonisolated func texts(of record: Reminder) -> [String] { [record.title] }
}
