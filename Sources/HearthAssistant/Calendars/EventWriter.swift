import Foundation
import HearthBase

/// Writes the text of new and changed events.
struct EventWriter {
    let clock: CalendarClock
    let now: Date

    private var text: CalendarText { CalendarText(clock: clock, now: now) }

    /// The file of a new event.
    /// - Throws: `unusable-payload`, `unusable-recurrence`.
    func creation(of fields: EventFields, id: String) throws -> Data {
        try CalendarText.check(id: id)
        let title = try CalendarText.title(fields.title)
        guard let given = fields.start else {
            throw AssistantError(.unusablePayload, "the start is missing", context: ErrorContext(field: "start"))
        }
        let recurrence = fields.recurrence.flatMap { $0.isEmpty ? nil : $0 }
        let start = try clock.time(given, keeping: nil, isRecurring: recurrence != nil, field: "start")
        let length = given.isAllDay ? WallTime.daySeconds : 3600
        let givenEnd =
            fields.end
            ?? EventTime(
                given.date.addingTimeInterval(Double(length)), timeZone: given.timeZone, isAllDay: given.isAllDay)
        let end = try clock.time(givenEnd, keeping: start.clock, isRecurring: recurrence != nil, field: "end")
        try check(start, end)
        var lines = text.heading(id: id)
        lines.append(.line(text.line("DTSTART", start, like: nil)))
        lines.append(.line(text.line("DTEND", end, like: nil)))
        var event = ContentComponent("VEVENT", lines)
        event.setText("SUMMARY", title)
        event.setText("LOCATION", fields.location ?? "")
        event.setText("DESCRIPTION", fields.notes ?? "")
        if let recurrence {
            event.set("RRULE", ContentLine("RRULE", value: try text.rule(recurrence, start: start, ZoneDefinitions())))
        }
        if let minutes = fields.alarmMinutes { try text.setAlarm(minutes, of: &event, title: title, ofEnd: false) }
        return text.file(event, clocks: [start.clock, end.clock], from: start.wall)
    }

    /// The file with new values of its event. Lines that do not change stay byte for byte.
    func change(of record: CalendarRecord, in data: Data, to fields: EventFields) throws -> Data {
        var items = try ContentParser().parse(data)
        for index in items.indices {
            guard var calendar = items[index].asComponent, calendar.name == "VCALENDAR",
                let place = Self.place(in: calendar), var event = calendar.items[place].asComponent
            else { continue }
            let old = event
            let oldStart = CalendarItem(event).start
            let isMoved = try setTimes(of: &event, record, fields)
            if let title = fields.title { event.setText("SUMMARY", try CalendarText.title(title)) }
            if let location = fields.location { event.setText("LOCATION", location) }
            if let notes = fields.notes { event.setText("DESCRIPTION", notes) }
            let isRepeatedAnew = try setRule(of: &event, record, fields.recurrence)
            if let minutes = fields.alarmMinutes {
                try text.setAlarm(minutes, of: &event, title: event.text("SUMMARY") ?? "", ofEnd: false)
            }
            guard event != old else { return data }
            text.touch(&event, isRescheduled: isMoved || isRepeatedAnew)
            calendar.items[place] = .component(event)
            if fields.recurrence == "" {
                calendar.items.removeAll { Self.isOverride($0) }
            }
            let item = CalendarItem(event)
            if isMoved, let oldStart, let start = item.start {
                try SeriesShift(from: oldStart, to: start, clock: clock, zones: record.zones).apply(to: &calendar)
            }
            if let start = item.start {
                text.addZones([start.clock, item.end?.clock ?? start.clock], to: &calendar, from: start.wall)
            }
            items[index] = .component(calendar)
            return items.data
        }
        throw AssistantError.noRecord(record.id)
    }

    /// The file without the alarms of its events.
    func removingAlarms(from data: Data) throws -> Data {
        var items = try ContentParser().parse(data)
        items.changeComponents("VCALENDAR") { calendar in
            calendar.items.changeComponents("VEVENT") { event in
                event.items.removeAll { $0.asComponent?.name == "VALARM" }
            }
        }
        return items.data
    }

    /// The place of the series, or of the only occurrence.
    private static func place(in calendar: ContentComponent) -> Int? {
        let events = calendar.items.indices.filter { calendar.items[$0].asComponent?.name == "VEVENT" }
        return events.first { !isOverride(calendar.items[$0]) } ?? events.first
    }

    private static func isOverride(_ item: ContentComponent.Item) -> Bool {
        item.asComponent?.name == "VEVENT" && item.asComponent?.first("RECURRENCE-ID") != nil
    }

    /// Sets start and end. A new start alone moves the event and keeps its length.
    private func setTimes(of event: inout ContentComponent, _ record: CalendarRecord, _ fields: EventFields) throws
        -> Bool
    {
        guard fields.start != nil || fields.end != nil else { return false }
        let item = CalendarItem(event)
        guard let oldStart = item.start ?? item.recurrenceID else {
            throw AssistantError(.unusableRecord, "the event has no start")
        }
        let series = CalendarSeries(record: record, clock: clock)
        let isRecurring = item.isRecurring || fields.recurrence.map { !$0.isEmpty } ?? false
        let start =
            try fields.start.map {
                try clock.time($0, keeping: oldStart.clock, record.zones, isRecurring: isRecurring, field: "start")
            } ?? oldStart
        let end: CalendarTime?
        if let given = fields.end {
            end = try clock.time(given, keeping: start.clock, record.zones, isRecurring: isRecurring, field: "end")
        } else if let old = item.end {
            end = start == oldStart ? old : moved(old, from: oldStart, to: start, series.length(of: item), record)
        } else {
            // A DURATION, or no length at all, moves with the start.
            end = item.duration == nil && oldStart.isDay != start.isDay ? defaultEnd(of: start) : nil
        }
        if let end { try check(start, end, record.zones) }
        let before = event
        event.set("DTSTART", text.line("DTSTART", start, like: event.first("DTSTART"), ending: event.ending))
        if let end {
            event.set("DURATION", nil)
            event.set("DTEND", text.line("DTEND", end, like: event.first("DTEND"), ending: event.ending))
        }
        return event != before
    }

    private func moved(
        _ end: CalendarTime, from oldStart: CalendarTime, to start: CalendarTime, _ length: Int,
        _ record: CalendarRecord
    ) -> CalendarTime {
        guard oldStart.isDay == start.isDay else { return defaultEnd(of: start) }
        if start.isDay { return CalendarTime(start.wall + length, .day) }
        // An end in a zone of its own keeps it, as of a journey.
        let target = end.clock == oldStart.clock ? start.clock : end.clock
        let moment = clock.moment(of: start, record.zones) + length
        return CalendarTime(clock.zone(of: target, record.zones).wall(at: moment), target)
    }

    private func defaultEnd(of start: CalendarTime) -> CalendarTime {
        CalendarTime(start.wall + (start.isDay ? WallTime.daySeconds : 3600), start.clock)
    }

    private func check(_ start: CalendarTime, _ end: CalendarTime, _ zones: ZoneDefinitions = ZoneDefinitions()) throws
    {
        let isOrdered =
            start.isDay == end.isDay
            && (start.isDay ? end.wall > start.wall : clock.moment(of: end, zones) >= clock.moment(of: start, zones))
        guard isOrdered else {
            throw AssistantError(
                .unusablePayload,
                start.isDay == end.isDay
                    ? "the end is before the start"
                    : "the end is no whole day as the start is, or a day as the start is not",
                context: ErrorContext(field: "end", found: end.value))
        }
    }

    /// Sets the rule; an empty one ends the recurrence.
    private func setRule(of event: inout ContentComponent, _ record: CalendarRecord, _ recurrence: String?) throws
        -> Bool
    {
        guard let recurrence else { return false }
        let before = event
        if recurrence.isEmpty {
            for name in ["RRULE", "RDATE", "EXDATE", "EXRULE"] { event.set(name, nil) }
        } else if let start = CalendarItem(event).start, event.first("RRULE")?.value != recurrence {
            let value = try text.rule(recurrence, start: start, record.zones)
            event.set("RRULE", ContentLine("RRULE", value: value, ending: event.ending))
        }
        return event != before
    }
}
