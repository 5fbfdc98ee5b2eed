import Foundation
import HearthAssistant
import HearthBase

/// An event, or one occurrence of it, with the values of EventKit that Hearth uses.
struct SystemEvent: Sendable, Hashable {
    /// EventKit's `calendarItemIdentifier`; empty for a new event. Occurrences of a series have the same.
    var identifier = ""
    var address: URL?
    /// `nil` for an event that the app added and may not read.
    var list: SystemList?
    var title = ""
    var start: Date
    /// Of whole days the last second of the last day.
    var end: Date
    var isAllDay = false
    var timeZone: String?
    var location: String?
    var notes: String?
    var rules: [SystemRule] = []
    var alarms: [SystemAlarm] = []
    /// Whether another person invited the user.
    var isInvitation = false

    var mark: SystemMark? { SystemMark(address) }
}

extension SystemEvent {
    /// The event as Hearth shows it.
    /// - Parameter zone: the zone of the device.
    func record(id: String, in zone: TimeZone) -> CalendarEvent {
        var fields = EventFields(title: title)
        (fields.start, fields.end) = times(in: zone)
        fields.location = location.flatMap { $0.isEmpty ? nil : $0 }
        fields.notes = notes.flatMap { $0.isEmpty ? nil : $0 }
        fields.recurrence = rules.first?.text(wholeDaysIn: isAllDay ? zone : nil)
        fields.alarmMinutes = alarmMinutes
        let source = list.flatMap { $0.isSubscribed ? "calendar \($0.title)" : nil }
        return CalendarEvent(
            id: id, collection: list?.identifier ?? "", fields: fields, isInvitation: isInvitation,
            source: mark?.source ?? source)
    }

    /// The start and the end as records have them.
    func times(in zone: TimeZone) -> (start: EventTime, end: EventTime) {
        guard isAllDay else {
            return (EventTime(start, timeZone: timeZone), EventTime(end, timeZone: timeZone))
        }
        let first = WholeDay.number(of: start, in: zone)
        // An end at midnight is the end of the day before.
        let last = WholeDay.number(of: end > start ? end.addingTimeInterval(-1) : end, in: zone)
        return (WholeDay.time(first), WholeDay.time(max(first, last) + 1))
    }

    /// The minutes of the first alarm before the start.
    private var alarmMinutes: Int? {
        for alarm in alarms {
            switch alarm {
            case .relative(let seconds) where seconds <= 0: return -seconds / 60
            case .absolute(let date) where date <= start: return Int(start.timeIntervalSince(date)) / 60
            default: continue
            }
        }
        return nil
    }

    /// The event with the values of a record that differ from those that it shows. What Hearth does not show stays.
    /// - Throws: `unusable-payload`, `unusable-recurrence`.
    func changed(to record: CalendarEvent, in zone: TimeZone) throws -> SystemEvent {
        var event = self
        let (old, new) = (self.record(id: record.id, in: zone).fields, record.fields)
        if new.title != old.title { event.title = new.title ?? "" }
        if new.location != old.location { event.location = new.location }
        if new.notes != old.notes { event.notes = new.notes }
        if new.start != old.start || new.end != old.end { try event.setTimes(new, in: zone) }
        if new.recurrence ?? "" != old.recurrence ?? "" || new.start?.isAllDay != old.start?.isAllDay {
            let text = new.recurrence ?? ""
            let start = event.times(in: zone).start
            let own = start.timeZone.flatMap(TimeZone.init(identifier:)) ?? zone
            event.rules = text.isEmpty ? [] : [try SystemRule(text, start: start, zone: start.isAllDay ? zone : own)]
        }
        if new.alarmMinutes != old.alarmMinutes {
            event.alarms = new.alarmMinutes.map { [.relative(-60 * $0)] } ?? []
        }
        try event.setSource(record.source, id: record.id)
        return event
    }

    /// A new event.
    static func new(_ record: CalendarEvent, in zone: TimeZone) throws -> SystemEvent {
        guard let start = record.fields.start else { throw AssistantError.unusable("start", "the start is missing") }
        var empty = SystemEvent(start: start.date, end: start.date)
        empty.address = SystemMark(id: record.id).address
        // Nothing of the empty event is a value of the person.
        try empty.setTimes(record.fields, in: zone)
        return try empty.changed(to: record, in: zone)
    }

    private mutating func setTimes(_ fields: EventFields, in zone: TimeZone) throws {
        guard let start = fields.start else { throw AssistantError.unusable("start", "the start is missing") }
        let length = start.isAllDay ? 86_400.0 : 3600
        let end =
            fields.end
            ?? EventTime(
                start.date.addingTimeInterval(length), timeZone: start.timeZone, isAllDay: start.isAllDay)
        guard start.isAllDay == end.isAllDay else {
            throw AssistantError.unusable("end", "only one of start and end is a whole day")
        }
        isAllDay = start.isAllDay
        if isAllDay {
            let (first, next) = (WholeDay.number(of: start, in: zone), WholeDay.number(of: end, in: zone))
            guard next > first else { throw AssistantError.unusable("end", "the end is not after the start") }
            self.start = WholeDay.begin(first, in: zone)
            self.end = WholeDay.begin(next, in: zone).addingTimeInterval(-1)
            timeZone = nil
        } else {
            guard end.date >= start.date else { throw AssistantError.unusable("end", "the end is before the start") }
            if let name = start.timeZone, TimeZone(identifier: name) == nil {
                throw AssistantError.unusable("timeZone", "there is no time zone \(name.quoted)")
            }
            (self.start, self.end) = (start.date.wholeSecond, end.date.wholeSecond)
            timeZone = start.timeZone
        }
    }

    /// Writes where the texts are from into the address.
    private mutating func setSource(_ source: String?, id: String) throws {
        let shown = self.record(id: id, in: .gmt).source
        guard source != shown else { return }
        guard address == nil || mark != nil else {
            throw AssistantError(
                .unusableRecord,
                "the event has an address of its own, beside which it cannot be marked as the text of others",
                context: ErrorContext(remedy: "Change it in Calendar."))
        }
        address = SystemMark(id: mark?.id ?? id, source: source).address
    }
}
