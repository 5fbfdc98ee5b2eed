import Foundation

/// A reminder, a task of the user.
public struct Reminder: UserRecord {
    public static var kind: StoreKind { .reminders }
    public static var empty: Self { Self(title: "") }

    /// The UID.
    public var id: String
    /// The list.
    public var collection: String
    public var title: String
    public var due: EventTime?
    /// An RRULE value such as `FREQ=WEEKLY;BYDAY=MO`, in step with the due time. A completed one moves to its next time.
    public var recurrence: String?
    /// The minutes between an alarm and the due time.
    public var alarmMinutes: Int?
    /// 1 is highest, 9 lowest, 0 none, as in iCalendar.
    public var priority: Int
    /// The time of completion; `nil` while it is open.
    public var completed: Date?
    /// Whether another person has assigned it (an ORGANIZER): its texts are from outside.
    public var isInvitation: Bool
    /// Where its texts are from if others wrote them, such as `calendar team`; `nil` for the user's own.
    public var source: String?

    public init(
        id: String = "", collection: String = "", title: String, due: EventTime? = nil, recurrence: String? = nil,
        alarmMinutes: Int? = nil, priority: Int = 0, completed: Date? = nil, isInvitation: Bool = false,
        source: String? = nil
    ) {
        self.id = id
        self.collection = collection
        self.title = title
        self.due = due
        self.recurrence = recurrence
        self.alarmMinutes = alarmMinutes
        self.priority = priority
        self.completed = completed
        self.isInvitation = isInvitation
        self.source = source
    }

    public var displayName: String { title }
}

extension Reminder: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, list, title, due, allDay, timeZone, recurrence, alarmMinutes, priority, completed, isInvitation
        case source
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let zone = try values.decodeIfPresent(String.self, forKey: .timeZone)
        // The form of the due time says whether it is a whole day.
        _ = try values.decodeIfPresent(Bool.self, forKey: .allDay)
        self.init(
            id: try values.text(.id), collection: try values.text(.list),
            title: try values.decode(String.self, forKey: .title), due: try values.time(.due, zone: zone),
            recurrence: try values.decodeIfPresent(String.self, forKey: .recurrence),
            alarmMinutes: try values.decodeIfPresent(Int.self, forKey: .alarmMinutes),
            priority: try values.decodeIfPresent(Int.self, forKey: .priority) ?? 0,
            completed: try values.decodeIfPresent(Date.self, forKey: .completed),
            isInvitation: try values.decodeIfPresent(Bool.self, forKey: .isInvitation) ?? false,
            source: try values.decodeIfPresent(String.self, forKey: .source))
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(collection, forKey: .list)
        try values.encode(title, forKey: .title)
        try values.encode(due?.text, forKey: .due)
        try values.encode(due?.isAllDay ?? false, forKey: .allDay)
        try values.encode(due?.timeZone, forKey: .timeZone)
        try values.encodeIfPresent(recurrence, forKey: .recurrence)
        try values.encode(alarmMinutes, forKey: .alarmMinutes)
        try values.encode(priority, forKey: .priority)
        try values.encode(completed, forKey: .completed)
        try values.encode(isInvitation, forKey: .isInvitation)
        try values.encodeIfPresent(source, forKey: .source)
    }
}

/// The reminders of the user: ``RecordStore/records(matching:limit:)`` has open ones first, the soonest before the others.
///
/// Writing a repeating reminder with a time of completion moves it to its next time instead.
public typealias ReminderStore = RecordStore<Reminder>

extension RecordStore<Reminder> {
    /// Open reminders, the soonest first and those without a time last; with `completed` also the others, last.
    package func reminders(
        matching words: String = "", completed: Bool = false, limit: Int
    ) async throws -> [Reminder] {
        let found = try await records(matching: words, limit: completed ? limit : .max)
        return Array(found.lazy.filter { completed || $0.completed == nil }.prefix(max(0, limit)))
    }

    /// The change that completes a reminder. A repeating one moves to its next time instead.
    /// - Throws: `no-such-record`.
    package func completion(of id: String, at date: Date) async throws -> RecordChange {
        try await change(of: id) { if $0.completed == nil { $0.completed = date } }
    }
}
