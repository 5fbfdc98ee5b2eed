import Foundation

/// The offsets of a zone by the rule that the database's files end with: `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX).
struct YearlyZoneRule: Sendable {
    /// A day of each year, and the seconds after its midnight, which may be negative or on another day.
    struct Day: Sendable, Hashable {
        let month: Int
        /// The ordinal of the weekday; 5 is the last one.
        let week: Int
        /// 0 for Monday.
        let weekday: Int
        let seconds: Int

        /// The time on the clock before the change.
        func wall(in year: Int) -> WallTime {
            let length = WallTime.days(inMonth: month, of: year)
            let start = WallTime(year: year, month: month, day: 1)
            let first = 1 + (weekday - start.weekday + 7) % 7
            var day = first + (week - 1) * 7
            while day > length { day -= 7 }
            return WallTime(year: year, month: month, day: day) + seconds
        }
    }

    let standard: SystemZone.Kind
    let daylight: (kind: SystemZone.Kind, start: Day, end: Day)?

    /// Reads a rule; `nil` for one of another form.
    init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 1 || parts.count == 3 else { return nil }
        var rest = parts[0][...]
        guard let name = Self.name(&rest), let west = Self.time(&rest) else { return nil }
        standard = .init(offset: -west, isDaylight: false, name: name)
        guard parts.count == 3 else {
            guard rest.isEmpty else { return nil }
            daylight = nil
            return
        }
        guard let summer = Self.name(&rest), let start = Self.day(parts[1]), let end = Self.day(parts[2]) else {
            return nil
        }
        let offset = rest.isEmpty ? 3600 - west : Self.time(&rest).map { -$0 }
        guard let offset, rest.isEmpty else { return nil }
        daylight = (.init(offset: offset, isDaylight: offset > -west, name: summer), start, end)
    }

    /// A name of letters, or of other characters between `<` and `>`.
    private static func name(_ rest: inout Substring) -> String? {
        if rest.first == "<" {
            guard let end = rest.firstIndex(of: ">") else { return nil }
            defer { rest = rest[rest.index(after: end)...] }
            return String(rest[..<end].dropFirst())
        }
        let name = rest.prefix { $0.isASCII && $0.isLetter }
        rest = rest.dropFirst(name.count)
        return name.count >= 3 ? String(name) : nil
    }

    /// A time such as `-1:30`, in seconds.
    private static func time(_ rest: inout Substring) -> Int? {
        let text = rest.prefix { $0.isASCII && ($0.isNumber || "+-:".contains($0)) }
        rest = rest.dropFirst(text.count)
        let parts = text.drop { "+-".contains($0) }.split(separator: ":").map { Int($0) ?? -1 }
        guard (1...3).contains(parts.count), parts.allSatisfy({ (0...167).contains($0) }) else { return nil }
        let seconds = zip(parts, [3600, 60, 1]).reduce(0) { $0 + $1.0 * $1.1 }
        return text.first == "-" ? -seconds : seconds
    }

    /// A day such as `M3.5.0/2`.
    private static func day(_ text: Substring) -> Day? {
        let sides = text.split(separator: "/", maxSplits: 1)
        guard let date = sides.first, date.first == "M" else { return nil }
        let numbers = date.dropFirst().split(separator: ".").map { Int($0) ?? -1 }
        guard numbers.count == 3, (1...12).contains(numbers[0]), (1...5).contains(numbers[1]),
            (0...6).contains(numbers[2])
        else { return nil }
        var rest = sides.count == 2 ? sides[1] : "2"
        guard let seconds = time(&rest), rest.isEmpty else { return nil }
        return Day(month: numbers[0], week: numbers[1], weekday: (numbers[2] + 6) % 7, seconds: seconds)
    }

    /// The seconds east of UTC at a moment.
    func offset(at moment: Int) -> Int {
        guard let daylight else { return standard.offset }
        let year = WallTime(seconds: moment + standard.offset).fields.year
        let start = daylight.start.wall(in: year).seconds - standard.offset
        let end = daylight.end.wall(in: year).seconds - daylight.kind.offset
        let isDaylight = start < end ? start <= moment && moment < end : moment >= start || moment < end
        return isDaylight ? daylight.kind.offset : standard.offset
    }

    /// The changes of a year in order.
    func changes(in year: Int) -> [SystemZone.Change] {
        guard let daylight else { return [] }
        return [
            .init(moment: daylight.start.wall(in: year).seconds - standard.offset, kind: daylight.kind),
            .init(moment: daylight.end.wall(in: year).seconds - daylight.kind.offset, kind: standard),
        ].sorted { $0.moment < $1.moment }
    }
}

extension YearlyZoneRule.Day {
    /// The RRULE of the day's changes; `nil` if none says it.
    var recurrence: String? {
        let shift = Int((Double(seconds) / Double(WallTime.daySeconds)).rounded(.down))
        let name = RecurrenceRule.weekdays[(weekday + shift + 7) % 7]
        if shift == 0 { return "FREQ=YEARLY;BYMONTH=\(month);BYDAY=\(week == 5 ? -1 : week)\(name)" }
        // Such as the Saturday after the fourth Thursday.
        let last = WallTime.days(inMonth: month, of: 2001)
        let first = (week == 5 ? last - 6 : week * 7 - 6) + shift
        guard month != 2, first >= 1, first + 6 <= last else { return nil }
        let days = (first...(first + 6)).map(String.init).joined(separator: ",")
        return "FREQ=YEARLY;BYMONTH=\(month);BYDAY=\(name);BYMONTHDAY=\(days)"
    }
}
