import Foundation

/// A date in HTTP: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
struct HTTPDate: Sendable, Hashable {
    let secondsSince1970: Int64

    /// The fixed-length form. A formatter of Foundation would need a locale and a lock.
    var text: String {
        var seconds = time_t(secondsSince1970)
        var date = tm()
        gmtime_r(&seconds, &date)
        let (day, month) = (Self.weekdays[Int(date.tm_wday)], Self.months[Int(date.tm_mon)])
        let numbers = [date.tm_mday, date.tm_year + 1900, date.tm_hour, date.tm_min, date.tm_sec].map { number in
            number < 10 ? "0\(number)" : "\(number)"
        }
        return "\(day), \(numbers[0]) \(month) \(numbers[1]) \(numbers[2...].joined(separator: ":")) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
