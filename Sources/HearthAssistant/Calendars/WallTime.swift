import Foundation

/// A time on a clock on the wall: a date and a time of day without a zone, in the Gregorian calendar.
package struct WallTime: Sendable, Hashable, Comparable {
    package static let daySeconds = 86_400

    /// The seconds since the midnight of 1970-01-01 on the same clock, every day counted as 24 hours.
    package var seconds: Int

    package init(seconds: Int) { self.seconds = seconds }

    package init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        seconds =
            Self.dayNumber(year: year, month: month, day: day) * Self.daySeconds + hour * 3600 + minute * 60 + second
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
        let days = dayNumber
        let rest = seconds - days * Self.daySeconds
        let date = Self.date(ofDay: days)
        return Fields(
            year: date.year, month: date.month, day: date.day, hour: rest / 3600, minute: rest / 60 % 60,
            second: rest % 60)
    }

    /// The days since 1970-01-01.
    package var dayNumber: Int {
        seconds >= 0 ? seconds / Self.daySeconds : -((-seconds + Self.daySeconds - 1) / Self.daySeconds)
    }

    /// The midnight of the same day.
    package var midnight: WallTime { WallTime(seconds: dayNumber * Self.daySeconds) }

    /// The day of the week, 0 for Monday.
    package var weekday: Int {
        let remainder = (dayNumber + 3) % 7
        return remainder < 0 ? remainder + 7 : remainder
    }

    /// The number of days of a month.
    package static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    package static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    package static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }

    package static func + (time: Self, seconds: Int) -> WallTime { WallTime(seconds: time.seconds + seconds) }

    // Counts years from March, so that the leap day is the last of a year, and days in cycles of 400 years.
    private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let cycle = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfCycle = shifted - cycle * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
        return cycle * 146_097 + dayOfCycle - 719_468
    }

    private static func date(ofDay number: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let cycle = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfCycle = shifted - cycle * 146_097
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}

extension WallTime {
    /// The date as in iCalendar: `20261124`.
    package var dateText: String {
        let fields = fields
        return Self.padded(fields.year, 4) + Self.padded(fields.month, 2) + Self.padded(fields.day, 2)
    }

    /// The date and time as in iCalendar: `20261124T090000`.
    package var text: String {
        let fields = fields
        return dateText + "T" + Self.padded(fields.hour, 2) + Self.padded(fields.minute, 2)
            + Self.padded(fields.second, 2)
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
        guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8), year >= 1,
            (1...12).contains(month), day >= 1, day <= Self.days(inMonth: month, of: year)
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

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(max(0, number))
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
