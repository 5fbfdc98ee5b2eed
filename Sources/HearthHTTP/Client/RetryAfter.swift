import Foundation
import HearthBase

/// The header field `Retry-After` (RFC 9110, section 10.2.3): how long to wait before asking a server again.
package enum RetryAfter {
    /// The longest pause that a server can impose; a longer one may come from a wrong clock or bad intent.
    package static let ceiling = Duration.seconds(300)

    /// The pause that a response asks for; `nil` if it asks for none or the field is malformed.
    package static func pause(status: Int, _ text: String?, now: Date) -> Duration? {
        guard status == 429 || status == 503, let text else { return nil }
        let value = text.trimmingCharacters(in: .whitespaces)
        guard !value.isEmpty, value.utf8.count <= 40 else { return nil }
        if let seconds = number(value[...]) { return seconds == 0 ? nil : min(ceiling, .seconds(seconds)) }
        guard let date = date(value) else { return nil }
        let left = date.timeIntervalSince(now)
        return left > 0 ? min(ceiling, .seconds(min(left, ceiling.seconds))) : nil
    }

    /// Reads the three forms of an HTTP date (RFC 9110, section 5.6.7).
    private static func date(_ text: String) -> Date? {
        let words = text.split(separator: " ")
        switch words.count {
        case 6 where words[5] == "GMT" && words[0].hasSuffix(","):  // Sun, 06 Nov 1994 08:49:37 GMT
            guard words[3].count == 4 else { return nil }
            return date(day: words[1], month: words[2], year: number(words[3]), time: words[4])
        case 4 where words[3] == "GMT" && words[0].hasSuffix(","):  // Sunday, 06-Nov-94 08:49:37 GMT
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2].count == 2, let year = number(parts[2]) else { return nil }
            return date(day: parts[0], month: parts[1], year: year + 2000, time: words[2])
        case 5:  // Sun Nov  6 08:49:37 1994
            guard words[4].count == 4 else { return nil }
            return date(day: words[2], month: words[1], year: number(words[4]), time: words[3])
        default: return nil
        }
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func date(day: Substring, month: Substring, year: Int?, time: Substring) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map(number)
        guard let month = months.firstIndex(of: String(month)), let day = number(day), let year, clock.count == 3,
            let hour = clock[0], let minute = clock[1], let second = clock[2], second <= 60
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        // A leap second counts as the last second of its minute.
        let parts = DateComponents(
            year: year, month: month + 1, day: day, hour: hour, minute: minute, second: min(59, second))
        return parts.isValidDate(in: calendar) ? calendar.date(from: parts) : nil
    }

    /// Reads digits only: no sign, no spaces.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }
}
