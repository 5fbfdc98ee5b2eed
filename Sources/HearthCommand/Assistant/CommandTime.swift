import Foundation
import HearthAssistant

/// A time on the command line: as of ISO 8601, or as people say it, such as `tomorrow 9:00`, `friday 18:30`, `9pm` or
/// `in 2 hours`.
struct CommandTime: Sendable, Hashable {
    private enum Form: Sendable, Hashable {
        case written(PayloadTime)
        /// A day after today, with a time of day or without.
        case day(Int, Clock?)
        /// The next day of this name, 0 for Sunday; never today.
        case weekday(Int, Clock?)
        /// The next such time of day.
        case clock(Clock)
        case later(minutes: Int)
    }

    private struct Clock: Sendable, Hashable {
        let hour: Int
        let minute: Int

        /// - Parameter takesHour: whether an hour alone is a time, as after the name of a day.
        init?(_ text: Substring, takesHour: Bool) {
            guard let match = text.wholeMatch(of: /(\d{1,2})(?::(\d\d))?\s*(am|pm)?/), let hour = Int(match.1),
                takesHour || match.2 != nil || match.3 != nil
            else { return nil }
            minute = match.2.flatMap { Int($0) } ?? 0
            switch match.3 {
            case nil: self.hour = hour
            case let half?:
                guard (1...12).contains(hour) else { return nil }
                self.hour = hour % 12 + (half == "pm" ? 12 : 0)
            }
            guard self.hour < 24, minute < 60 else { return nil }
        }

        var text: String { String(format: "%02d:%02d", hour, minute) }
    }

    private let form: Form

    private static let days = ["today": 0, "tomorrow": 1]
    private static let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    /// The most of a unit.
    private static let most = 100_000

    init?(_ word: String) {
        if let time = PayloadTime(word) {
            form = .written(time)
            return
        }
        let text = word.lowercased().trimmingCharacters(in: .whitespaces)
        let name = text.prefix(while: \.isLetter)
        var rest = text.dropFirst(name.count).drop(while: \.isWhitespace)
        if name == "in" {
            guard let form = Self.later(rest) else { return nil }
            self.form = form
            return
        }
        if name.isEmpty {
            guard let clock = Clock(rest, takesHour: false) else { return nil }
            form = .clock(clock)
            return
        }
        if rest.hasPrefix("at ") { rest = rest.dropFirst(3) }
        let clock = Clock(rest, takesHour: true)
        guard rest.isEmpty || clock != nil else { return nil }
        if let days = Self.days[String(name)] {
            form = .day(days, clock)
        } else if let day = Self.weekdays.firstIndex(where: { $0 == name || name.count == 3 && $0.hasPrefix(name) }) {
            form = .weekday(day, clock)
        } else {
            return nil
        }
    }

    /// A time from now on: minutes and hours to the minute, days and weeks as whole days.
    private static func later(_ text: Substring) -> Form? {
        guard let match = text.wholeMatch(of: /(\d{1,6})\s*(minute|min|hour|day|week)s?/), let count = Int(match.1),
            (1...most).contains(count)
        else { return nil }
        switch match.2 {
        case "hour": return .later(minutes: 60 * count)
        case "day": return .day(count, nil)
        case "week": return .day(7 * count, nil)
        default: return .later(minutes: count)
        }
    }

    /// The time of an event, as of a moment.
    func time(now: Date, zone: TimeZone = .current) -> EventTime? {
        if case .later(let minutes) = form { return EventTime(Self.later(now, minutes), timeZone: zone.identifier) }
        return payload(now, zone)?.eventTime(in: zone)
    }

    /// The moment, or the beginning of the day.
    func date(now: Date, zone: TimeZone = .current) -> Date? {
        if case .later(let minutes) = form { return Self.later(now, minutes) }
        return payload(now, zone)?.date(in: zone)
    }

    private static func later(_ now: Date, _ minutes: Int) -> Date {
        let minute = (now.timeIntervalSince1970 / 60).rounded(.down)
        return Date(timeIntervalSince1970: (minute + Double(minutes)) * 60)
    }

    private func payload(_ now: Date, _ zone: TimeZone) -> PayloadTime? {
        let today = CalendarDay(of: now, in: zone)
        func time(_ days: Int, _ clock: Clock?) -> PayloadTime? {
            PayloadTime("\(today.advanced(by: days))" + (clock.map { "T\($0.text)" } ?? ""))
        }
        switch form {
        case .written(let time): return time
        case .later: return nil
        case .day(let days, let clock): return time(days, clock)
        case .weekday(let day, let clock):
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = zone
            let ahead = (day - calendar.component(.weekday, from: now) + 1 + 14) % 7
            return time(ahead == 0 ? 7 : ahead, clock)
        case .clock(let clock):
            guard let first = time(0, clock) else { return nil }
            return first.date(in: zone) > now ? first : time(1, clock)
        }
    }
}

extension ValueKind where Value == CommandTime {
    /// A day or a time.
    static var time: Self {
        ValueKind("a time such as 2026-11-25, '2026-11-25 09:00', 'tomorrow 9:00', friday or 'in 2 hours'") {
            CommandTime($0)
        }
    }
}
