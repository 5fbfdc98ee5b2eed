import Foundation
import HearthAssistant
import HearthBase

/// `hearth calendar`
enum CalendarNoun: RecordNoun {
    struct Choice: ParameterGroup {
        @Option("from", "TIME", .time, default: "today", "The first day or time.") var from: CommandTime?
        @Option("to", "TIME", .time, default: "two weeks later", "The last day or time.") var until: CommandTime?
    }

    struct Values: RecordOptions {
        @Option("start", "TIME", .time, "When it begins; a day alone is a whole day.")
        var start: CommandTime?
        @Option("end", "TIME", .time, default: "an hour later", "When it ends; of whole days the last one.")
        var end: CommandTime?
        @Option("location", "TEXT", .text, "Where it is; empty for nowhere.") var location: String?
        @Option("notes", "TEXT", .text, "Further text; empty for none.") var notes: String?
        @Option("repeat", "RULE", .text, "An RRULE of iCalendar, such as FREQ=WEEKLY;COUNT=10; empty for once.")
        var recurrence: String?
        @Option("alarm", "MINUTES", .orNone(.integer(0...40_320)), "Alarm so many minutes before.")
        var alarm: Clearable<Int>?

        func apply(to event: inout CalendarEvent, isNew: Bool, in context: CommandContext) async throws {
            let hint = RecordAdd<CalendarNoun>.declaration.hint()
            let now = context.time.now
            var end = end?.time(now: now)
            let first = start?.time(now: now) ?? event.fields.start
            guard end.map({ $0.isAllDay == first?.isAllDay }) ?? true else {
                throw UsageError("--start and --end are not both days, or both times", hint: hint)
            }
            // The end of whole days is the day after the last.
            if end?.isAllDay == true { end?.date += 86_400 }
            event.fields = event.fields.changed(
                to: EventFields(
                    start: start?.time(now: now), end: end, location: location, notes: notes, recurrence: recurrence,
                    alarmMinutes: alarm?.value))
            if let alarm { event.fields.alarmMinutes = alarm.value }
        }
    }

    static let name = "calendar"

    static let help = RecordHelp(
        list: "List events by time",
        listing: """
            Each occurrence of a series is a row. An event whose recurrence Hearth does not expand is listed once and
            says so.
            """,
        members: "id, calendar, title, start, end, allDay, timeZone, location, notes, recurrence, alarmMinutes, "
            + "isInvitation and repeatsUnexpanded",
        adding: "Times are of this device's time zone, unless they say another offset.",
        file: "one iCalendar file", fileName: "events.ics",
        importing: """
            Events keep their lines as they are, in UTF-8; one with a known UID is replaced. What cannot be read is kept
            to the byte, and listed by `hearth calendar problems`.
            """,
        listExamples: """
            hearth calendar list  # The next two weeks.
            hearth calendar list --from 2026-12-01 --to 2026-12-31  # A month.
            """,
        addExamples: """
            hearth calendar add Dentist --start 2026-11-25T09:00  # An hour in the morning.
            hearth calendar add Holidays --start 2026-12-21 --end 2026-12-31  # Whole days.
            """,
        editing: "An empty text and --alarm none take the value away.",
        change: "--start 2026-11-25T10:00", requiredOptions: ["start"])

    static func book(_ records: Records) -> RecordBook<CalendarEvent> { records.events }
    static func setTitle(_ title: String, of event: inout CalendarEvent) { event.fields.title = title }

    /// The occurrences of a period, each as its event with the times of the occurrence.
    static func chosen(_ choice: Choice, limit: Int, _ records: Records) async throws -> [CalendarEvent] {
        let now = records.time.now
        let start = choice.from?.date(now: now) ?? Calendar.current.startOfDay(for: now)
        var end = choice.until?.date(now: now) ?? start.addingTimeInterval(14 * 86_400)
        // A day alone is part of the list.
        if choice.until?.time(now: now)?.isAllDay == true { end += 86_400 }
        let found = try await records.stores.calendar?.occurrences(from: start, until: end, limit: limit) ?? []
        return found.map { occurrence in
            var event = occurrence.event
            (event.fields.start, event.fields.end) = (occurrence.start, occurrence.end)
            return event
        }
    }

    static func columns(id: @escaping (CalendarEvent) -> String, now: Date) -> [Column<CalendarEvent>] {
        [
            .left("ID", id), .left("START") { RecordText().text($0.fields.start) },
            .left("END") { RecordText().text(last($0)) },
            .left("TITLE") { $0.displayName + ($0.repeatsUnexpanded ? " (repeats, not expanded)" : "") },
            .left("PLACE") { $0.fields.location ?? "" },
        ]
    }

    /// The end; of whole days the last one.
    private static func last(_ event: CalendarEvent) -> EventTime? {
        var last = event.fields.end
        if last?.isAllDay == true { last?.date -= 86_400 }
        return last
    }

    static func facts(_ event: CalendarEvent, now: Date) -> [(String, String?)] {
        let (fields, text) = (event.fields, RecordText())
        return [
            ("title", fields.title), ("start", text.text(fields.start)), ("end", text.text(last(event))),
            ("time zone", fields.start?.timeZone), ("place", fields.location),
            ("repeats", fields.recurrence.map { event.repeatsUnexpanded ? "\($0) (not expanded)" : $0 }),
            ("alarm", fields.alarmMinutes.map { "\($0) minutes before" }), ("notes", fields.notes),
            ("invitation", event.isInvitation ? "yes" : nil), ("calendar", event.collection), ("id", event.id),
        ]
    }
}
