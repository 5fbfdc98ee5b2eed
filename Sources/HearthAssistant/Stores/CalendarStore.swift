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
public struct CalendarEvent: UserRecord {
    public static var kind: StoreKind { .calendar }
    public static var empty: Self { Self(fields: EventFields()) }

    /// The UID.
    public var id: String
    /// The calendar.
    public var collection: String
    public var fields: EventFields
    /// Whether another person has invited the user (an ORGANIZER): its texts are from outside.
    public var isInvitation: Bool
    /// Whether its recurrence is shown as "repeats, not expanded": the rule is kept, but only its first occurrence is listed.
    public var repeatsUnexpanded: Bool
    /// Where its texts are from if others wrote them, such as `calendar team`; `nil` for the user's own.
    public var source: String?

    public init(
        id: String = "", collection: String = "", fields: EventFields, isInvitation: Bool = false,
        repeatsUnexpanded: Bool = false, source: String? = nil
    ) {
        self.id = id
        self.collection = collection
        self.fields = fields
        self.isInvitation = isInvitation
        self.repeatsUnexpanded = repeatsUnexpanded
        self.source = source
    }

    public var displayName: String { fields.title ?? "" }
}

extension CalendarEvent: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, calendar, title, start, end, allDay, timeZone, location, notes, recurrence, alarmMinutes, isInvitation
        case repeatsUnexpanded, source
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let zone = try values.decodeIfPresent(String.self, forKey: .timeZone)
        func optional(_ key: CodingKeys) throws -> String? { try values.decodeIfPresent(String.self, forKey: key) }
        // The form of the start says whether it is a whole day.
        _ = try values.decodeIfPresent(Bool.self, forKey: .allDay)
        self.init(
            id: try values.text(.id), collection: try values.text(.calendar),
            fields: EventFields(
                title: try values.decode(String.self, forKey: .title), start: try values.time(.start, zone: zone),
                end: try values.time(.end, zone: zone), location: try optional(.location), notes: try optional(.notes),
                recurrence: try optional(.recurrence),
                alarmMinutes: try values.decodeIfPresent(Int.self, forKey: .alarmMinutes)),
            isInvitation: try values.decodeIfPresent(Bool.self, forKey: .isInvitation) ?? false,
            repeatsUnexpanded: try values.decodeIfPresent(Bool.self, forKey: .repeatsUnexpanded) ?? false,
            source: try optional(.source))
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(collection, forKey: .calendar)
        try values.encode(displayName, forKey: .title)
        try values.encode(fields.start?.text, forKey: .start)
        try values.encode(fields.end?.text, forKey: .end)
        try values.encode(fields.start?.isAllDay ?? false, forKey: .allDay)
        try values.encode(fields.start?.timeZone, forKey: .timeZone)
        try values.encode(fields.location, forKey: .location)
        try values.encode(fields.notes, forKey: .notes)
        try values.encode(fields.recurrence, forKey: .recurrence)
        try values.encode(fields.alarmMinutes, forKey: .alarmMinutes)
        try values.encode(isInvitation, forKey: .isInvitation)
        try values.encode(repeatsUnexpanded, forKey: .repeatsUnexpanded)
        try values.encodeIfPresent(source, forKey: .source)
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

extension EventOccurrence: Codable {
    private enum CodingKeys: String, CodingKey { case event, start, end }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let event = try values.decode(CalendarEvent.self, forKey: .event)
        let zone = event.fields.start?.timeZone
        let start = try values.time(.start, zone: zone) ?? event.fields.start ?? EventTime(.distantPast)
        self.init(event: event, start: start, end: try values.time(.end, zone: zone) ?? start)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(event, forKey: .event)
        try values.encode(start.text, forKey: .start)
        try values.encode(end.text, forKey: .end)
    }
}

/// The calendars of the user.
///
/// A store over EventKit keeps the id of a new event in the event, such as in its `url`, so that a repeated creation finds
/// it; its ``CalendarEvent/collection`` is a `calendarIdentifier`. A store over Evolution takes the UID of an `ESource`.
public protocol CalendarStore: RecordStore<CalendarEvent> {
    /// The occurrences that overlap a period, by start, at most `limit`.
    func occurrences(from: Date, until: Date, limit: Int) async throws -> [EventOccurrence]
}

extension EventFields {
    /// The values with those of a change; a start without an end keeps the length.
    package func changed(to new: EventFields) -> EventFields {
        func text(_ new: String?, _ old: String?) -> String? { new.map { $0.isEmpty ? nil : $0 } ?? old }
        return EventFields(
            title: new.title ?? title, start: new.start ?? start, end: new.end ?? (new.start == nil ? end : nil),
            location: text(new.location, location), notes: text(new.notes, notes),
            recurrence: text(new.recurrence, recurrence), alarmMinutes: new.alarmMinutes ?? alarmMinutes)
    }

    /// The values that differ from older ones. A text that is removed is empty; a new start without an end keeps the length.
    func changes(since old: EventFields) -> EventFields {
        func text(_ new: String?, _ old: String?) -> String? { new == old ? nil : new ?? "" }
        let hasMoved = start != nil && start != old.start
        return EventFields(
            title: text(title, old.title), start: hasMoved ? start : nil, end: hasMoved || end != old.end ? end : nil,
            location: text(location, old.location), notes: text(notes, old.notes),
            recurrence: text(recurrence, old.recurrence),
            alarmMinutes: alarmMinutes == old.alarmMinutes ? nil : alarmMinutes)
    }
}
