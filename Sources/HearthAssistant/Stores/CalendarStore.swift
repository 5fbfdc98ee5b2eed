import Foundation

/// A day, or a time of day, in a calendar.
public struct EventTime: Sendable, Hashable, Codable {
    /// The moment; for a whole day its midnight in UTC.
    public var date: Date
    /// The IANA name of the time zone; `nil` for a whole day, or for the device's own zone.
    public var timeZone: String?
    /// Whether it is a whole day.
    public var isAllDay: Bool

    /// A time, or a whole day.
    public init(_ date: Date, timeZone: String? = nil, isAllDay: Bool = false) {
        self.date = date
        self.timeZone = timeZone
        self.isAllDay = isAllDay
    }
}

/// The values of an event. In a change, `nil` keeps the present value.
public struct EventFields: Sendable, Hashable, Codable {
    public var title: String?
    public var start: EventTime?
    /// The end, which the event does not include; after a whole day the next one. `nil` in a new event is one hour, or one
    /// day, after the start.
    public var end: EventTime?
    public var location: String?
    public var notes: String?
    /// An RRULE value such as `FREQ=WEEKLY;COUNT=10`.
    public var recurrence: String?
    /// The minutes between an alarm and the start.
    public var alarmMinutes: Int?

    public init(
        title: String? = nil, start: EventTime? = nil, end: EventTime? = nil, location: String? = nil,
        notes: String? = nil, recurrence: String? = nil, alarmMinutes: Int? = nil
    ) {
        self.title = title
        self.start = start
        self.end = end
        self.location = location
        self.notes = notes
        self.recurrence = recurrence
        self.alarmMinutes = alarmMinutes
    }
}

/// An event of a calendar; a series is one event.
public struct CalendarEvent: Sendable, Hashable, Identifiable {
    /// The UID.
    public var id: String
    /// The calendar.
    public var collection: String
    public var fields: EventFields
    /// Whether another person has invited the user (an ORGANIZER): its texts are from outside.
    public var isInvitation: Bool
    /// Whether its recurrence is shown as "repeats, not expanded": the rule is kept, but only its first occurrence is listed.
    public var repeatsUnexpanded: Bool

    public init(
        id: String, collection: String, fields: EventFields, isInvitation: Bool = false, repeatsUnexpanded: Bool = false
    ) {
        self.id = id
        self.collection = collection
        self.fields = fields
        self.isInvitation = isInvitation
        self.repeatsUnexpanded = repeatsUnexpanded
    }
}

/// One occurrence of an event, with the values of its override if it has one.
public struct EventOccurrence: Sendable, Hashable {
    public var event: CalendarEvent
    public var start: EventTime
    public var end: EventTime

    public init(event: CalendarEvent, start: EventTime, end: EventTime) {
        self.event = event
        self.start = start
        self.end = end
    }
}

/// The calendars of the user.
///
/// A store over another system keeps this contract by choosing what the bytes of a record are:
///
/// - Files and CalDAV: the iCalendar text of one UID, with its overrides.
/// - Evolution: the text of `e_cal_client_get_object_sync`; a collection is the UID of an `ESource`.
/// - EventKit: an encoding of the values that the adapter reads and writes, since an `EKEvent` has no bytes; the id is
///   `calendarItemExternalIdentifier`, and a collection is a `calendarIdentifier`. The id of a creation is kept in
///   the event, such as in its `url`, so that a repeated creation finds it.
///
/// The store decides which thread its library needs; every method may be called from any task.
public protocol CalendarStore: RecordStore {
    /// The number of records that the store cannot read, and skips.
    var unreadable: Int { get async throws }

    /// The occurrences that overlap a period, by start, at most `limit`.
    func occurrences(from: Date, until: Date, limit: Int) async throws -> [EventOccurrence]

    /// The event with a UID.
    func event(_ id: String) async throws -> CalendarEvent?

    /// The events whose title contains the words, those with the nearest occurrence after `date` first.
    func events(titled words: String, near date: Date, limit: Int) async throws -> [CalendarEvent]

    /// The change that creates an event.
    /// - Parameter id: its UID, which makes a repeated creation the same record.
    /// - Throws: `unusable-payload` without title or start, or with an end before the start; `unusable-recurrence`.
    func creation(of fields: EventFields, id: String) async throws -> RecordChange

    /// The change that gives an event new values and keeps all others.
    /// - Throws: `no-such-record`, `unusable-payload`, `unusable-recurrence`.
    func change(of id: String, to fields: EventFields) async throws -> RecordChange

    /// The change that removes an event with all of its occurrences.
    /// - Throws: `no-such-record`.
    func removal(of id: String) async throws -> RecordChange
}

extension CalendarStore {
    /// Zero, for a store that reads all of its records.
    public var unreadable: Int { 0 }
}
