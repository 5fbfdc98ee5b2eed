import Foundation
import HearthAssistant
import HearthBase

/// Whole days: Hearth's records have them as midnights of UTC, frameworks of the system as midnights of the device.
enum WholeDay {
    /// The number of the day, counted from 1 January 1970, that calendars of a zone show at a moment.
    static func number(of date: Date, in zone: TimeZone) -> Int {
        let local = date.timeIntervalSince1970 + Double(zone.secondsFromGMT(for: date))
        return Int((local / 86_400).rounded(.down))
    }

    /// The number of a record's day.
    static func number(of time: EventTime, in zone: TimeZone) -> Int {
        time.isAllDay ? Int((time.date.timeIntervalSince1970 / 86_400).rounded(.down)) : number(of: time.date, in: zone)
    }

    /// The moment at which a day begins in a zone; after a gap at midnight, the end of the gap.
    static func begin(_ number: Int, in zone: TimeZone) -> Date {
        let local = Double(number) * 86_400
        for day in [-86_400.0, 86_400] {
            let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: local + day))
            let date = Date(timeIntervalSince1970: local - Double(offset))
            if zone.secondsFromGMT(for: date) == offset { return date }
        }
        let before = zone.secondsFromGMT(for: Date(timeIntervalSince1970: local - 86_400))
        return Date(timeIntervalSince1970: local - Double(before))
    }

    /// The time of a record for a day.
    static func time(_ number: Int) -> EventTime {
        EventTime(Date(timeIntervalSince1970: Double(number) * 86_400), isAllDay: true)
    }
}
