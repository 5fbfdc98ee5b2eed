#if canImport(EventKit)
import EventKit
import Foundation
import HearthAssistant
import HearthBase

extension SystemList {
    init(_ calendar: EKCalendar) {
        self.init(
            identifier: calendar.calendarIdentifier, title: calendar.title,
            isSubscribed: calendar.isSubscribed || calendar.type == .subscription,
            isWritable: calendar.allowsContentModifications)
    }
}

extension SystemRule {
    init?(_ rule: EKRecurrenceRule) {
        guard let frequency = Frequency(rawValue: rule.frequency.rawValue) else { return nil }
        self.init(frequency: frequency, interval: rule.interval)
        // EventKit's week begins on Sunday, as 1.
        days = (rule.daysOfTheWeek ?? []).map { day in
            Day(weekday: (day.dayOfTheWeek.rawValue + 5) % 7, ordinal: day.weekNumber)
        }
        func numbers(_ numbers: [NSNumber]?) -> [Int] { (numbers ?? []).map(\.intValue) }
        (monthDays, months) = (numbers(rule.daysOfTheMonth), numbers(rule.monthsOfTheYear))
        (weeks, yearDays) = (numbers(rule.weeksOfTheYear), numbers(rule.daysOfTheYear))
        positions = numbers(rule.setPositions)
        guard let end = rule.recurrenceEnd else { return }
        if let date = end.endDate {
            self.end = .until(date)
        } else if end.occurrenceCount > 0 {
            self.end = .count(end.occurrenceCount)
        }
    }

    /// The rule of EventKit; `nil` for a weekday that it does not have.
    var eventKit: EKRecurrenceRule? {
        guard let frequency = EKRecurrenceFrequency(rawValue: frequency.rawValue) else { return nil }
        func numbers(_ numbers: [Int]) -> [NSNumber]? {
            numbers.isEmpty ? nil : numbers.map { NSNumber(value: $0) }
        }
        let weekdays = days.compactMap { day in
            EKWeekday(rawValue: (day.weekday + 1) % 7 + 1).map { EKRecurrenceDayOfWeek($0, weekNumber: day.ordinal) }
        }
        let end: EKRecurrenceEnd? =
            switch end {
            case .never: nil
            case .count(let count): EKRecurrenceEnd(occurrenceCount: count)
            case .until(let date): EKRecurrenceEnd(end: date)
            }
        return EKRecurrenceRule(
            recurrenceWith: frequency, interval: interval, daysOfTheWeek: weekdays.isEmpty ? nil : weekdays,
            daysOfTheMonth: numbers(monthDays), monthsOfTheYear: numbers(months), weeksOfTheYear: numbers(weeks),
            daysOfTheYear: numbers(yearDays), setPositions: numbers(positions), end: end)
    }
}

extension SystemAlarm {
    /// `nil` for an alarm that rings at a place.
    init?(_ alarm: EKAlarm) {
        if let date = alarm.absoluteDate {
            self = .absolute(date)
        } else if alarm.structuredLocation == nil {
            self = .relative(Int(alarm.relativeOffset))
        } else {
            return nil
        }
    }

    var eventKit: EKAlarm {
        switch self {
        case .relative(let seconds): EKAlarm(relativeOffset: TimeInterval(seconds))
        case .absolute(let date): EKAlarm(absoluteDate: date)
        }
    }
}

extension EKCalendarItem {
    /// The alarms that ring at a time.
    var timedAlarms: [SystemAlarm] { (alarms ?? []).compactMap { SystemAlarm($0) } }

    var systemRules: [SystemRule] { (recurrenceRules ?? []).compactMap { SystemRule($0) } }

    /// Writes what differs. Alarms at places stay.
    func take(
        title: String, address: URL?, rules: [SystemRule], alarms new: [SystemAlarm], calendar list: EKCalendar?
    ) {
        if self.title != title { self.title = title }
        if url != address { url = address }
        if let list, calendar?.calendarIdentifier != list.calendarIdentifier { calendar = list }
        if systemRules != rules {
            let made = rules.compactMap(\.eventKit)
            recurrenceRules = made.isEmpty ? nil : made
        }
        if timedAlarms != new {
            let places = (alarms ?? []).filter { SystemAlarm($0) == nil }
            alarms = new.map(\.eventKit) + places
        }
    }
}

extension SystemStoreError {
    /// The error for a failure of EventKit.
    static func eventKit(_ error: any Error) -> any Error {
        let error = error as NSError
        guard error.domain == EKErrorDomain else { return SystemStoreError.failed(error.code) }
        switch EKError.Code(rawValue: error.code) {
        case .eventStoreNotAuthorized: return SystemStoreError.notAuthorized
        case .calendarReadOnly, .calendarIsImmutable, .calendarDoesNotAllowEvents, .calendarDoesNotAllowReminders:
            return AssistantError.unusable("calendar", "the calendar cannot be changed")
        case .noCalendar: return AssistantError.unusable("calendar", "there is no calendar for it")
        case .datesInverted: return AssistantError.unusable("end", "the end is before the start")
        case .durationGreaterThanRecurrence:
            return AssistantError(.unusableRecurrence, "the event is longer than the time until it repeats")
        case .alarmGreaterThanRecurrence:
            return AssistantError(.unusableRecurrence, "the alarm is earlier than the event before")
        default: return SystemStoreError.failed(error.code)
        }
    }
}
#endif
