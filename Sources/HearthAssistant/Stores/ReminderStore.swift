import Foundation

/// A reminder, a task of the user.
public struct Reminder: Sendable, Hashable, Identifiable {
    /// The UID.
    public var id: String
    /// The list.
    public var collection: String
    public var title: String
    public var due: EventTime?
    /// The minutes between an alarm and the due time.
    public var alarmMinutes: Int?
    /// 1 is highest, 9 lowest, 0 none, as in iCalendar.
    public var priority: Int
    /// The time of completion; `nil` while it is open.
    public var completed: Date?
    /// Whether another person has assigned it (an ORGANIZER): its texts are from outside.
    public var isInvitation: Bool

    public init(
        id: String, collection: String, title: String, due: EventTime? = nil, alarmMinutes: Int? = nil,
        priority: Int = 0, completed: Date? = nil, isInvitation: Bool = false
    ) {
        self.id = id
        self.collection = collection
        self.title = title
        self.due = due
        self.alarmMinutes = alarmMinutes
        self.priority = priority
        self.completed = completed
        self.isInvitation = isInvitation
    }
}

/// The reminders of the user.
///
/// The bytes of a record are as in ``CalendarStore``: the text of one VTODO in files, CalDAV and Evolution, an encoding of
/// the values of an `EKReminder` in EventKit.
public protocol ReminderStore: RecordStore {
    /// The number of records that the store cannot read, and skips.
    var unreadable: Int { get async throws }

    /// Open reminders, those due first first and those without a time last; with `completed` also the others, last.
    func reminders(completed: Bool, limit: Int) async throws -> [Reminder]

    /// The reminder with a UID.
    func reminder(_ id: String) async throws -> Reminder?

    /// The open reminders whose title contains the words, in the order of ``reminders(completed:limit:)``; with
    /// `completed` also the others, last.
    func reminders(titled words: String, completed: Bool, limit: Int) async throws -> [Reminder]

    /// The change that creates a reminder.
    /// - Parameter id: its UID, which makes a repeated creation the same record.
    /// - Throws: `unusable-payload` without a title.
    func creation(
        title: String, due: EventTime?, alarmMinutes: Int?, priority: Int, id: String
    ) async throws -> RecordChange

    /// The change that completes a reminder. A repeating one moves to its next time instead.
    /// - Throws: `no-such-record`.
    func completion(of id: String, at date: Date) async throws -> RecordChange

    /// The change that removes a reminder.
    /// - Throws: `no-such-record`.
    func removal(of id: String) async throws -> RecordChange
}

extension ReminderStore {
    /// Zero, for a store that reads all of its records.
    public var unreadable: Int { 0 }
}
