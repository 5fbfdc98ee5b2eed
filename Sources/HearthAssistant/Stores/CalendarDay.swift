import Foundation
import HearthBase

/// A day of the calendar, in the user's own time zone: `2026-11-24`.
public struct CalendarDay: Sendable, Hashable, Comparable, CustomStringConvertible {
    public let year: Int
    public let month: Int
    public let day: Int

    /// A day; `nil` for one that the Gregorian calendar does not have, or before 1900 or after 9999.
    public init?(year: Int, month: Int, day: Int) {
        guard (1900...9999).contains(year), CivilDate.days(year: year, month: month, day: day) != nil else {
            return nil
        }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The day that the calendars of a time zone show at a moment; the first or last day for a moment outside 1900 to 9999.
    public init(of date: Date, in timeZone: TimeZone) {
        let local = date.timeIntervalSince1970 + Double(timeZone.secondsFromGMT(for: date))
        self.init(number: Int(min(max(local / 86_400, -1e6), 1e7).rounded(.down)))
    }

    /// Reads the form of ISO 8601, `2026-11-24`; `nil` for other text.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], parts.joined().allSatisfy({ (48...57).contains($0) }),
            let year = Int(Substring(parts[0])), let month = Int(Substring(parts[1])),
            let day = Int(Substring(parts[2]))
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// The day with a number, within 1900 to 9999.
    package init(number: Int) {
        // 1 January 1900 and 31 December 9999.
        let date = CivilDate(daysSince1970: min(max(number, -25_567), 2_932_896))
        (year, month, day) = (date.year, date.month, date.day)
    }

    /// The day's number, counted from 1 January 1970.
    package var number: Int { CivilDate.days(year: year, month: month, day: day) ?? 0 }

    /// The number of the day's week, which begins on Monday.
    package var week: Int {
        // 1 January 1970 was a Thursday.
        (number + 3).flooredDivision(by: 7).quotient
    }

    /// The day after a number of days, or before for a negative one.
    package func advanced(by days: Int) -> CalendarDay { CalendarDay(number: number + days) }

    public static func < (left: CalendarDay, right: CalendarDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// The form of ISO 8601.
    public var description: String { String(format: "%04d-%02d-%02d", year, month, day) }
}

extension CalendarDay: Codable, CodingKeyRepresentable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let day = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a day such as 2026-11-24")
        }
        self = day
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    public var codingKey: any CodingKey { Key(stringValue: description) }

    public init?(codingKey: some CodingKey) { self.init(codingKey.stringValue) }
}
