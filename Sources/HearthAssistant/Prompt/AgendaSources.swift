import Foundation

/// Today's and the next events of the user's calendars.
///
/// An invitation enters as its time and the word "invitation", because another person wrote its texts. Events of calendars that
/// other people write are a section of their own, which counts as text from outside.
package struct CalendarSource: PromptSource {
    private let store: any CalendarStore
    private static let maximumEvents = 12
    private static let days = 7

    package init(_ store: any CalendarStore) { self.store = store }

    package func sections(at moment: PromptMoment) async throws -> [PromptSection] {
        let text = PromptTime(moment.timeZone)
        let today = text.calendar.startOfDay(for: moment.now)
        let end = text.calendar.date(byAdding: .day, value: Self.days, to: today) ?? today
        let events = try await store.occurrences(from: today, until: end, limit: Self.maximumEvents)
        return PromptSection.sections(
            "calendar", events.map(\.event), Self.nothing, priority: 60,
            lines: events.map { Self.line($0, text) })
    }

    /// The text without events.
    static let nothing = "no events in the next \(days) days"

    static func line(_ occurrence: EventOccurrence, _ text: PromptTime) -> String {
        let when: String
        if occurrence.start.isAllDay {
            when = PromptTime(.gmt).day(occurrence.start.date) + " all day"
        } else {
            let (start, end) = (occurrence.start.date, occurrence.end.date)
            let isOneDay = text.day(start) == text.day(end)
            when = "\(text.dayAndTime(start))-\(isOneDay ? text.time(end) : text.dayAndTime(end))"
        }
        if occurrence.event.isInvitation { return "\(when) invitation" }
        let fields = occurrence.event.fields
        var line = "\(when) \((fields.title ?? "").promptLine(80))"
        if let location = fields.location, !location.isEmpty { line += " (\(location.promptLine(40)))" }
        if occurrence.event.repeatsUnexpanded { line += " (repeats)" }
        return line
    }
}

/// The user's open reminders. One that another person assigned enters as its time and the word "assigned".
package struct ReminderSource: PromptSource {
    private let store: any ReminderStore
    private static let maximumReminders = 10

    package init(_ store: any ReminderStore) { self.store = store }

    package func sections(at moment: PromptMoment) async throws -> [PromptSection] {
        let text = PromptTime(moment.timeZone)
        let reminders = try await store.reminders(limit: Self.maximumReminders)
        let lines = reminders.map { reminder in
            let title = reminder.isInvitation ? "assigned" : reminder.title.promptLine(80)
            guard let due = reminder.due else { return title }
            return "\(due.isAllDay ? PromptTime(.gmt).day(due.date) : text.dayAndTime(due.date)) \(title)"
        }
        return PromptSection.sections("reminders", reminders, Self.nothing, priority: 50, lines: lines)
    }

    /// The text without reminders.
    static let nothing = "no open reminders"
}

extension PromptSection {
    /// The sections of records: the user's own, and those whose texts others wrote. What enters without its texts is own.
    fileprivate static func sections(
        _ name: String, _ records: [some AgendaRecord], _ nothing: String, priority: Int, lines: [String]
    ) -> [PromptSection] {
        let isOutside = records.map { $0.source != nil && !$0.isInvitation }
        let own = zip(lines, isOutside).filter { !$0.1 }.map(\.0)
        let outside = zip(lines, isOutside).filter(\.1).map(\.0)
        var sections = [
            PromptSection(
                name: name, text: own.isEmpty ? nothing : own.joined(separator: "\n"), priority: priority)
        ]
        if let source = zip(records, isOutside).filter(\.1).map(\.0).outsideSource {
            sections.append(
                PromptSection(
                    name: name, text: outside.joined(separator: "\n"), priority: priority - 1, source: source))
        }
        return sections
    }
}

/// A record of an agenda, whose texts the model does not see if another person sent it to the user.
private protocol AgendaRecord: UserRecord {
    var isInvitation: Bool { get }
}

extension CalendarEvent: AgendaRecord {}
extension Reminder: AgendaRecord {}

extension String {
    /// The text on one line of at most `limit` characters.
    package func promptLine(_ limit: Int) -> String {
        let line = split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count <= limit ? line : line.prefix(limit - 1) + "…"
    }
}
