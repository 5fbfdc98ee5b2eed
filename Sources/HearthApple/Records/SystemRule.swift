import Foundation
import HearthAssistant
import HearthBase

/// A recurrence rule as EventKit keeps it.
struct SystemRule: Sendable, Hashable {
    /// The numbers are those of EventKit.
    enum Frequency: Int, Sendable, Hashable {
        case daily = 0
        case weekly = 1
        case monthly = 2
        case yearly = 3
    }

    struct Day: Sendable, Hashable {
        /// 0 for Monday.
        var weekday: Int
        /// 0 for each, 2 for the second, -1 for the last.
        var ordinal = 0
    }

    enum End: Sendable, Hashable {
        case never
        case count(Int)
        /// The last moment at which an occurrence may begin.
        case until(Date)
    }

    var frequency: Frequency
    var interval = 1
    var days: [Day] = []
    var monthDays: [Int] = []
    var months: [Int] = []
    var weeks: [Int] = []
    var yearDays: [Int] = []
    var positions: [Int] = []
    var end = End.never
}

extension SystemRule {
    /// The value of an RRULE.
    /// - Parameter zone: the zone whose days end a series of whole days; `nil` for a series with a time of day.
    func text(wholeDaysIn zone: TimeZone?) -> String {
        let names = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]
        var parts = ["FREQ=\(names[frequency.rawValue])"]
        if interval > 1 { parts.append("INTERVAL=\(interval)") }
        func add(_ name: String, _ numbers: [Int]) {
            if !numbers.isEmpty { parts.append("\(name)=\(numbers.map(String.init).joined(separator: ","))") }
        }
        add("BYMONTH", months)
        add("BYWEEKNO", weeks)
        add("BYYEARDAY", yearDays)
        add("BYMONTHDAY", monthDays)
        if !days.isEmpty {
            let texts = days.map {
                ($0.ordinal == 0 ? "" : "\($0.ordinal)") + RecurrenceRule.weekdays[min(max($0.weekday, 0), 6)]
            }
            parts.append("BYDAY=\(texts.joined(separator: ","))")
        }
        add("BYSETPOS", positions)
        switch end {
        case .never: break
        case .count(let count): parts.append("COUNT=\(count)")
        case .until(let date):
            if let zone {
                parts.append(
                    "UNTIL=\(WallTime(seconds: WholeDay.number(of: date, in: zone) * WallTime.daySeconds).dateText)")
            } else {
                parts.append("UNTIL=\(WallTime(seconds: Int(date.timeIntervalSince1970.rounded(.down))).text)Z")
            }
        }
        return parts.joined(separator: ";")
    }

    /// Reads the value of an RRULE.
    /// - Parameters:
    ///   - start: the first occurrence, whose day a yearly rule may name.
    ///   - zone: the zone of the start.
    /// - Throws: `unusable-recurrence` for a rule that EventKit does not have.
    init(_ text: String, start: EventTime, zone: TimeZone) throws {
        guard let rule = RecurrenceRule(text) else { throw Self.unusable("the recurrence is no rule of iCalendar") }
        let frequencies: [RecurrenceRule.Frequency: Frequency] = [
            .daily: .daily, .weekly: .weekly, .monthly: .monthly, .yearly: .yearly,
        ]
        guard let frequency = frequencies[rule.frequency] else {
            throw Self.unusable("the calendar has no recurrence by the hour, minute or second")
        }
        guard !rule.hasOtherParts else { throw Self.unusable("the calendar has no such recurrence") }
        self.init(frequency: frequency)
        interval = rule.interval
        days = rule.days.map { Day(weekday: $0.weekday, ordinal: $0.ordinal) }
        (monthDays, months) = (rule.monthDays, rule.months)
        (yearDays, positions) = (rule.yearDays, rule.positions)
        end = Self.end(rule, start: start, zone: zone)
        simplify(start: start, zone: zone)
        try check()
    }

    /// Writes what EventKit has no fields for in another way that means the same.
    private mutating func simplify(start: EventTime, zone: TimeZone) {
        if frequency == .daily, interval == 1, !days.isEmpty, months.isEmpty, monthDays.isEmpty { frequency = .weekly }
        guard frequency == .yearly else { return }
        let day = CivilDate(daysSince1970: WholeDay.number(of: start, in: zone))
        // The day of the first occurrence is what a yearly rule without parts means.
        if months == [day.month], monthDays == [day.day] { (months, monthDays) = ([], []) }
    }

    private func check() throws {
        let isFitting =
            switch frequency {
            case .daily: days.isEmpty && monthDays.isEmpty && months.isEmpty && yearDays.isEmpty && positions.isEmpty
            case .weekly:
                monthDays.isEmpty && months.isEmpty && yearDays.isEmpty && days.allSatisfy { $0.ordinal == 0 }
            case .monthly: months.isEmpty && yearDays.isEmpty
            case .yearly: monthDays.isEmpty
            }
        guard isFitting else { throw Self.unusable("the calendar has no such recurrence") }
    }

    private static func end(_ rule: RecurrenceRule, start: EventTime, zone: TimeZone) -> End {
        if let count = rule.count { return .count(count) }
        guard let until = rule.until else { return .never }
        let seconds = until.wall.seconds
        switch until.clock {
        case .utc: return .until(Date(timeIntervalSince1970: Double(seconds)))
        case .day:
            let begin = WholeDay.begin(seconds.flooredDivision(by: WallTime.daySeconds).quotient, in: zone)
            // The whole last day counts, also for a time of day on it.
            return .until(begin.addingTimeInterval(start.isAllDay ? 0 : Double(WallTime.daySeconds - 1)))
        case .floating, .zone:
            let day = seconds.flooredDivision(by: WallTime.daySeconds)
            return .until(WholeDay.begin(day.quotient, in: zone).addingTimeInterval(Double(day.rest)))
        }
    }

    private static func unusable(_ message: String) -> AssistantError {
        AssistantError(
            .unusableRecurrence, message,
            context: ErrorContext(field: "recurrence", expected: "a rule such as FREQ=WEEKLY;BYDAY=MO,TH"))
    }
}
