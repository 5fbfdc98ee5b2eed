import Foundation
import HearthBase

/// The values of a VEVENT or VTODO.
package struct CalendarItem: Sendable {
    package var title = ""
    package var location = ""
    package var notes = ""
    package var start: CalendarTime?
    /// DTEND or DUE.
    package var end: CalendarTime?
    package var duration: CalendarDuration?
    package var rules: [String] = []
    package var dates: [AddedDate] = []
    package var exceptions: [CalendarTime] = []
    package var recurrenceID: CalendarTime?
    package var alarmMinutes: Int?
    /// The alarms that ring.
    package var alarms: [ItemAlarm] = []
    package var isInvitation = false
    /// The mark of texts that others wrote.
    package var source: String?
    package var status = ""
    package var completed: CalendarTime?
    package var percent = 0
    package var priority = 0
    /// Whether a part of its recurrence is of a kind that Hearth does not read, such as EXRULE.
    package var hasUnknownRecurrence = false
    /// The lines whose values are not of their kind.
    package var unreadable: [ContentLine] = []

    package init(_ component: ContentComponent) {
        for line in component.lines.map(\.original) {
            if !line.isReadable { unreadable.append(line) }
            switch line.name {
            case "SUMMARY": if title.isEmpty { title = Self.text(line) }
            case "LOCATION": if location.isEmpty { location = Self.text(line) }
            case "DESCRIPTION": if notes.isEmpty { notes = Self.text(line) }
            case "DTSTART": start = start ?? CalendarTime(line: line)
            case "DTEND", "DUE": end = end ?? CalendarTime(line: line)
            case "DURATION": duration = duration ?? CalendarDuration(value: line.value)
            case "RRULE": rules.append(line.value)
            case "EXRULE": hasUnknownRecurrence = true
            case "RDATE": dates += AddedDate.dates(ofLine: line)
            case "EXDATE": exceptions += CalendarTime.times(ofLine: line)
            case "RECURRENCE-ID": recurrenceID = CalendarTime(line: line)
            case "ORGANIZER": isInvitation = true
            case SourceLine.name: source = source ?? SourceLine.source(line)
            case "STATUS": status = line.value.trimmingCharacters(in: .whitespaces).uppercased()
            case "COMPLETED": completed = CalendarTime(line: line)
            case "PERCENT-COMPLETE": percent = Int(line.value) ?? 0
            case "PRIORITY": priority = Int(line.value).map { min(max($0, 0), 9) } ?? 0
            default: break
            }
        }
        for alarm in component.components where alarm.name == "VALARM" && alarmMinutes == nil {
            alarmMinutes = CalendarAlarm.minutes(of: alarm)
        }
        alarms = ItemAlarm.alarms(of: component)
    }

    /// Whether the reminder is completed or cancelled.
    var isDone: Bool { ["COMPLETED", "CANCELLED"].contains(status) || completed != nil || percent >= 100 }

    /// A text; in vCalendar 1.0 it may be quoted-printable.
    private static func text(_ line: ContentLine) -> String { ContentText.unescaped(VCardDecoding.value(line).value) }

    /// Whether it is a changed occurrence of a series, also where its RECURRENCE-ID cannot be read.
    var isOverride: Bool { recurrenceID != nil || unreadable.contains { $0.name == "RECURRENCE-ID" } }

    package var isRecurring: Bool { !rules.isEmpty || !dates.isEmpty || hasUnknownRecurrence }
}

/// The alarms of events and reminders.
package enum CalendarAlarm {
    /// The minutes between an alarm and the time that it belongs to; `nil` for an alarm at a fixed time.
    static func minutes(of alarm: ContentComponent) -> Int? {
        guard let trigger = alarm.first("TRIGGER"), let before = CalendarDuration(value: trigger.value) else {
            return nil
        }
        return -(before.days * WallTime.daySeconds + before.seconds) / 60
    }

    /// The line that rings before the start, or before the end as DUE.
    static func trigger(minutes: Int, ofEnd: Bool, ending: [UInt8]) -> ContentLine {
        ContentLine(
            "TRIGGER", ofEnd ? [.init("RELATED", ["END"])] : [],
            value: (minutes >= 0 ? "-" : "") + "PT\(abs(minutes))M", ending: ending)
    }

    static func component(minutes: Int, title: String, ofEnd: Bool, ending: [UInt8]) -> ContentComponent {
        ContentComponent(
            "VALARM",
            [
                .line(ContentLine("ACTION", value: "DISPLAY", ending: ending)),
                .line(ContentLine("DESCRIPTION", value: ContentText.escaped(title), ending: ending)),
                .line(trigger(minutes: minutes, ofEnd: ofEnd, ending: ending)),
            ], ending: ending)
    }
}

/// The items of one UID: a series with its overrides, or one item.
package struct CalendarRecord: Sendable, Identifiable {
    package let id: String
    /// The item without RECURRENCE-ID; `nil` if only single occurrences are known, as of some invitations.
    package var master: CalendarItem?
    package var overrides: [CalendarItem] = []
    /// The zones that the file defines.
    package var zones = ZoneDefinitions()
    /// The title without accents and case.
    package var folded = ""

    /// The master, or the first override.
    package var item: CalendarItem? { master ?? overrides.first }

    /// The mark of any part whose texts others wrote.
    var source: String? { master?.source ?? overrides.lazy.compactMap(\.source).first }
}
