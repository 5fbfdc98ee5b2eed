import Foundation
import HearthBase

/// A time on a clock on the wall: a date and a time of day without a zone, in the Gregorian calendar.
package struct WallTime: Sendable, Hashable, Comparable {
    package static let daySeconds = 86_400

    /// The seconds since the midnight of 1970-01-01 on the same clock, every day counted as 24 hours.
    package var seconds: Int

    package init(seconds: Int) { self.seconds = seconds }

    package init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        // `CivilDate` ends in 9999; all spans of 400 years have as many days.
        let (cycles, yearOfCycle) = year.flooredDivision(by: 400)
        let days = CivilDate.days(year: yearOfCycle + 400, month: month, day: day) ?? 0
        seconds = (days + (cycles - 1) * 146_097) * Self.daySeconds + hour * 3600 + minute * 60 + second
    }

    /// The fields of a date and time.
    package struct Fields: Sendable, Hashable {
        package var year: Int
        package var month: Int
        package var day: Int
        package var hour: Int
        package var minute: Int
        package var second: Int
    }

    /// The date and time of day.
    package var fields: Fields {
        let (days, rest) = seconds.flooredDivision(by: Self.daySeconds)
        let date = CivilDate(daysSince1970: days)
        return Fields(
            year: date.year, month: date.month, day: date.day, hour: rest / 3600, minute: rest / 60 % 60,
            second: rest % 60)
    }

    /// The days since 1970-01-01.
    package var dayNumber: Int { seconds.flooredDivision(by: Self.daySeconds).quotient }

    /// The midnight of the same day.
    package var midnight: WallTime { WallTime(seconds: dayNumber * Self.daySeconds) }

    /// The day of the week, 0 for Monday.
    package var weekday: Int { (dayNumber + 3).flooredDivision(by: 7).rest }

    /// The number of days of a month.
    package static func days(inMonth month: Int, of year: Int) -> Int {
        [31, 30, 29].first { CivilDate.days(year: year, month: month, day: $0) != nil } ?? 28
    }

    package static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }

    package static func + (time: Self, seconds: Int) -> WallTime { WallTime(seconds: time.seconds + seconds) }
}

extension WallTime {
    /// The date as in iCalendar: `20261124`.
    package var dateText: String {
        let fields = fields
        return String(format: "%04d%02d%02d", max(0, fields.year), fields.month, fields.day)
    }

    /// The date and time as in iCalendar: `20261124T090000`.
    package var text: String {
        let fields = fields
        return dateText + String(format: "T%02d%02d%02d", fields.hour, fields.minute, fields.second)
    }

    /// Reads `20261124` or `20261124T090000`; `nil` for other text, and for days that the calendar does not have.
    package init?(text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count == 8 || (digits.count == 15 && digits[8] == UInt8(ascii: "T")) else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for digit in digits[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                value = value * 10 + Int(digit - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8),
            CivilDate.days(year: year, month: month, day: day) != nil
        else { return nil }
        guard digits.count == 15 else {
            self.init(year: year, month: month, day: day)
            return
        }
        guard let hour = number(9..<11), let minute = number(11..<13), let second = number(13..<15), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        self.init(year: year, month: month, day: day, hour: hour, minute: minute, second: min(second, 59))
    }
}
