import Foundation
import HearthAssistant
import HearthBase

/// A reminder with the values of EventKit that Hearth uses.
struct SystemReminder: Sendable, Hashable {
    /// EventKit's `calendarItemIdentifier`; empty for a new reminder.
    var identifier = ""
    var address: URL?
    var list: SystemList?
    var title = ""
    /// Without an hour it is a whole day; without a zone it is a time of the device.
    var due: DateComponents?
    var rules: [SystemRule] = []
    var alarms: [SystemAlarm] = []
    /// 1 is highest, 9 lowest, 0 none.
    var priority = 0
    var isCompleted = false
    /// `nil` also for one that another program completed without a time.
    var completed: Date?
    /// Whether another person assigned it.
    var isInvitation = false

    var mark: SystemMark? { SystemMark(address) }
}

extension SystemReminder {
    /// The reminder as Hearth shows it.
    /// - Parameter zone: the zone of the device.
    func record(id: String, in zone: TimeZone) -> Reminder {
        Reminder(
            id: id, collection: list?.identifier ?? "", title: title, due: dueTime(in: zone),
            recurrence: rules.first?.text(wholeDaysIn: due?.hour == nil ? zone : nil),
            alarmMinutes: alarmMinutes(in: zone),
            priority: min(max(priority, 0), 9),
            completed: isCompleted ? (completed ?? Date(timeIntervalSince1970: 0)) : nil, isInvitation: isInvitation,
            source: mark?.source ?? list.flatMap { $0.isSubscribed ? "reminders \($0.title)" : nil })
    }

    private func dueTime(in zone: TimeZone) -> EventTime? {
        guard let due, let year = due.year, let month = due.month, let day = due.day,
            let number = CivilDate.days(year: year, month: month, day: day)
        else { return nil }
        guard let hour = due.hour else { return WholeDay.time(number) }
        let seconds = hour * 3600 + (due.minute ?? 0) * 60 + (due.second ?? 0)
        let own = due.timeZone ?? zone
        let noon = WholeDay.begin(number, in: own).addingTimeInterval(12 * 3600)
        // The offset of the time counts, which on the day of a change is not that of midnight.
        let first = Date(timeIntervalSince1970: Double(number * 86_400 + seconds - own.secondsFromGMT(for: noon)))
        let offset = own.secondsFromGMT(for: first)
        let date = Date(timeIntervalSince1970: Double(number * 86_400 + seconds - offset))
        return EventTime(date, timeZone: due.timeZone?.identifier)
    }

    /// The moment that is due; of a whole day its beginning.
    private func moment(in zone: TimeZone) -> Date? {
        dueTime(in: zone).map { $0.isAllDay ? WholeDay.begin(WholeDay.number(of: $0, in: zone), in: zone) : $0.date }
    }

    /// The minutes of the first alarm that rings before the reminder is due.
    private func alarmMinutes(in zone: TimeZone) -> Int? {
        guard let due = moment(in: zone) else { return nil }
        for alarm in alarms {
            switch alarm {
            case .relative(let seconds) where seconds < 0: return -seconds / 60
            case .absolute(let date) where date < due: return Int(due.timeIntervalSince(date)) / 60
            default: continue
            }
        }
        return nil
    }

    /// The reminder with the values of a record that differ from those that it shows. What Hearth does not show stays.
    /// - Throws: `unusable-payload`, `unusable-recurrence`.
    func changed(to record: Reminder, in zone: TimeZone) throws -> SystemReminder {
        var reminder = self
        let old = self.record(id: record.id, in: zone)
        reminder.title = record.title
        guard (0...9).contains(record.priority) else {
            throw AssistantError.unusable("priority", "the priority is not from 0 to 9", expected: "0 to 9")
        }
        reminder.priority = record.priority
        let isMoved = record.due != old.due
        if isMoved { reminder.due = try record.due.map { try Self.components($0, in: zone) } }
        let text = record.recurrence ?? ""
        guard record.due != nil || text.isEmpty && record.alarmMinutes == nil else {
            throw AssistantError.unusable("due", "a repetition or an alarm needs a due time")
        }
        if text != old.recurrence ?? "" || isMoved && !text.isEmpty, let due = record.due {
            let own = due.timeZone.flatMap(TimeZone.init(identifier:)) ?? zone
            reminder.rules = text.isEmpty ? [] : [try SystemRule(text, start: due, zone: due.isAllDay ? zone : own)]
        } else if text.isEmpty {
            reminder.rules = []
        }
        if isMoved || record.alarmMinutes != old.alarmMinutes || text != old.recurrence ?? "" {
            reminder.alarms = reminder.alarms(before: record.alarmMinutes, in: zone)
        }
        if record.completed != old.completed {
            (reminder.isCompleted, reminder.completed) = (record.completed != nil, record.completed?.wholeSecond)
        }
        try reminder.setSource(record.source, shown: old.source, id: record.id)
        return reminder
    }

    /// A new reminder.
    static func new(_ record: Reminder, in zone: TimeZone) throws -> SystemReminder {
        var empty = SystemReminder()
        empty.address = SystemMark(id: record.id).address
        return try empty.changed(to: record, in: zone)
    }

    /// The alarms of a reminder: when it is due, and some minutes before. Those of a repeating one move with it.
    private func alarms(before minutes: Int?, in zone: TimeZone) -> [SystemAlarm] {
        guard let due = moment(in: zone) else { return [] }
        let hasTime = self.due?.hour != nil
        let seconds = Set(
            [hasTime ? 0 : nil, minutes.flatMap { $0 == 0 && !hasTime ? nil : $0 * 60 }].compactMap(\.self))
        return seconds.sorted().map {
            rules.isEmpty ? .absolute(due.addingTimeInterval(-Double($0))) : .relative(-$0)
        }
    }

    /// The components of a time in the Gregorian calendar.
    static func components(_ time: EventTime, in zone: TimeZone) throws -> DateComponents {
        var own: TimeZone?
        if let name = time.timeZone {
            own = TimeZone(identifier: name)
            guard own != nil else {
                throw AssistantError.unusable("timeZone", "there is no time zone \(name.quoted)")
            }
        }
        let wall =
            time.isAllDay
            ? time.date.timeIntervalSince1970
            : time.date.timeIntervalSince1970 + Double((own ?? zone).secondsFromGMT(for: time.date))
        let fields = WallTime(seconds: Int(wall.rounded(.down))).fields
        var components = DateComponents(year: fields.year, month: fields.month, day: fields.day)
        components.calendar = Calendar(identifier: .gregorian)
        if !time.isAllDay {
            (components.hour, components.minute, components.second) = (fields.hour, fields.minute, fields.second)
            components.timeZone = own
        }
        return components
    }

    /// Writes where the texts are from into the address.
    private mutating func setSource(_ source: String?, shown: String?, id: String) throws {
        guard source != shown else { return }
        guard address == nil || mark != nil else {
            throw AssistantError(
                .unusableRecord,
                "the reminder has an address of its own, beside which it cannot be marked as the text of others",
                context: ErrorContext(remedy: "Change it in Reminders."))
        }
        address = SystemMark(id: mark?.id ?? id, source: source).address
    }
}
