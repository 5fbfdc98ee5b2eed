import Foundation
import HearthBase

/// A time as models write it: `2026-11-24T15:00`, with seconds, with `Z` or an offset, or a day alone.
///
/// | written | meaning |
/// | --- | --- |
/// | `2026-11-24` | the whole day |
/// | `2026-11-24T15:00` | that time of day in the zone of the payload, otherwise of the user |
/// | `2026-11-24T15:00Z`, `…+01:00` | that moment |
/// | a time in the gap when clocks go forward | as long after the gap as it is after its beginning: 02:30 is 03:30 |
/// | a time that occurs twice when clocks go back | the first |
package struct PayloadTime: Sendable, Hashable, Codable {
    /// The day, counted from 1 January 1970.
    package let day: Int
    /// The seconds since midnight; `nil` for the whole day.
    package let seconds: Int?
    /// The seconds east of Greenwich; `nil` without an offset.
    package let offset: Int?
    /// The text as written.
    package let text: String

    /// Reads a time; `nil` for other text.
    package init?(_ text: String) {
        let pattern =
            /(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s?([Zz]|[+-]\d\d(?::?\d\d)?)?)?/
        guard let match = text.wholeMatch(of: pattern), let year = Int(match.1), let month = Int(match.2),
            let date = Int(match.3), (1900...9999).contains(year),
            let day = CivilDate.days(year: year, month: month, day: date)
        else { return nil }
        self.text = text
        guard let hour = match.4.flatMap({ Int($0) }), let minute = match.5.flatMap({ Int($0) }) else {
            self.day = day
            seconds = nil
            offset = nil
            return
        }
        let second = match.6.flatMap { Int($0) } ?? 0
        // 24:00 is the midnight at the end of the day.
        guard hour < 24 || hour == 24 && minute == 0 && second == 0, minute < 60, second <= 60 else { return nil }
        self.day = hour == 24 ? day + 1 : day
        seconds = hour == 24 ? 0 : hour * 3600 + minute * 60 + min(second, 59)
        guard let zone = match.7 else {
            offset = nil
            return
        }
        let digits = zone.filter(\.isNumber)
        let hours = Int(digits.prefix(2)) ?? 0
        let minutes = Int(digits.dropFirst(2)) ?? 0
        guard hours <= 14, minutes < 60 else { return nil }
        offset = (hours * 3600 + minutes * 60) * (zone.hasPrefix("-") ? -1 : 1)
    }

    package var isAllDay: Bool { seconds == nil }

    /// The midnight of the day in UTC, as records have whole days.
    package var dayDate: Date { Date(timeIntervalSince1970: Double(day) * 86_400) }

    /// The moment in a zone; for a whole day its beginning there.
    package func date(in zone: TimeZone) -> Date {
        let local = Double(day * 86_400 + (seconds ?? 0))
        if let offset { return Date(timeIntervalSince1970: local - Double(offset)) }
        // The offsets a day before and a day after are those before and after a transition near the time.
        let before = zone.secondsFromGMT(for: Date(timeIntervalSince1970: local - 86_400))
        let after = zone.secondsFromGMT(for: Date(timeIntervalSince1970: local + 86_400))
        let first = Date(timeIntervalSince1970: local - Double(before))
        let second = Date(timeIntervalSince1970: local - Double(after))
        if zone.secondsFromGMT(for: first) == before { return first }
        // In a gap neither offset fits; the one before moves the time behind the gap.
        return zone.secondsFromGMT(for: second) == after ? second : first
    }

    /// The time of a record.
    /// - Parameters:
    ///   - zone: the zone of a time without an offset, and of the record.
    ///   - isAllDay: whether only the day counts.
    package func eventTime(in zone: TimeZone, isAllDay: Bool = false) -> EventTime {
        guard !isAllDay, seconds != nil else { return EventTime(dayDate, isAllDay: true) }
        return EventTime(date(in: zone), timeZone: zone.identifier)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let time = PayloadTime(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "is no time")
        }
        self = time
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
