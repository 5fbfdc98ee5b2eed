import Foundation

/// A moment in whole milliseconds since 1970, as notes, habits and exports keep it.
package struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The millisecond of a date, between the years 1 and 9999.
    package init(_ date: Date) {
        let bounded = min(max(date.timeIntervalSince1970, Self.first), Self.last)
        milliseconds = Int64((bounded * 1000).rounded())
    }

    private static let first = -62_135_596_800.0
    private static let last = 253_402_300_799.999

    package var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// The form of ISO 8601 in UTC: `2026-11-24T09:30:00.250Z`.
    package var description: String {
        let (seconds, rest) = milliseconds.flooredDivision(by: 1000)
        let (days, time) = seconds.flooredDivision(by: 86_400)
        let day = CivilDate(daysSince1970: Int(days))
        return String(
            format: "%04ld-%02ld-%02ldT%02ld:%02ld:%02ld.%03ldZ", day.year, day.month, day.day, Int(time / 3600),
            Int(time / 60 % 60), Int(time % 60), Int(rest))
    }

    /// Reads the form of ``description``, with or without the fraction and in any offset; `nil` for other text.
    package init?(_ text: String) {
        let pattern = /(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,3})\d*)?([Zz]|[+-]\d\d:\d\d)/
        guard let match = text.wholeMatch(of: pattern),
            let year = Int(match.1), let month = Int(match.2), let day = Int(match.3), let hour = Int64(match.4),
            let minute = Int64(match.5), let second = Int64(match.6), hour < 24, minute < 60, second < 60,
            let days = CivilDate.days(year: year, month: month, day: day)
        else { return nil }
        var offset: Int64 = 0
        if match.8.count == 6, let hours = Int64(match.8.dropFirst().prefix(2)), let minutes = Int64(match.8.suffix(2))
        {
            guard hours < 24, minutes < 60 else { return nil }
            offset = (hours * 60 + minutes) * (match.8.hasPrefix("-") ? -60 : 60)
        }
        let fraction = match.7.map { $0 + String(repeating: "0", count: 3 - $0.count) } ?? "0"
        let seconds = Int64(days) * 86_400 + hour * 3600 + minute * 60 + second - offset
        milliseconds = seconds * 1000 + (Int64(fraction) ?? 0)
    }
}

extension BinaryInteger {
    /// The quotient rounded down and the rest, which is never negative for a positive divisor.
    package func flooredDivision(by divisor: Self) -> (quotient: Self, rest: Self) {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }
}

/// A day of the proleptic Gregorian calendar.
package struct CivilDate: Sendable, Hashable {
    package let year: Int
    package let month: Int
    package let day: Int

    /// The day with a number, counted from 1 January 1970.
    ///
    /// The year is counted from March, so that the leap day is its last; 146,097 days are 400 years.
    package init(daysSince1970 number: Int) {
        let (era, dayOfEra) = (number + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The number of a day, counted from 1 January 1970; `nil` for a day that does not exist.
    package static func days(year: Int, month: Int, day: Int) -> Int? {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).flooredDivision(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let number = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        let date = CivilDate(daysSince1970: number)
        return date.month == month && date.day == day ? number : nil
    }
}
