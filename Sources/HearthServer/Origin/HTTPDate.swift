#if Server
    /// A moment as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    struct HTTPDate: Sendable, Hashable {
        let secondsSince1970: Int64

        /// The fixed-length form. Written here because a formatter would bring a locale, a lock and a megabyte.
        var text: String {
            let days = secondsSince1970.flooredQuotient(86_400)
            let seconds = secondsSince1970 - days * 86_400
            let (year, month, day) = Self.civil(days)
            let weekday = Int((days + 4) - (days + 4).flooredQuotient(7) * 7)
            let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { Self.digits($0, 2) }.joined(
                separator: ":")
            return "\(Self.weekdays[weekday]), \(Self.digits(day, 2)) \(Self.months[Int(month) - 1]) "
                + "\(Self.digits(year, 4)) \(time) GMT"
        }

        private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        private static let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]

        /// Year, month (1-12) and day of a day counted from 1 January 1970, by counting whole eras of 400 years from
        /// 1 March of the year 0.
        private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
            let shifted = days + 719_468
            let era = shifted.flooredQuotient(146_097)
            let dayOfEra = shifted - era * 146_097
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let shiftedMonth = (5 * dayOfYear + 2) / 153
            let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
            let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
            return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
        }

        private static func digits(_ number: Int64, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
    }

    extension Int64 {
        /// The quotient rounded towards minus infinity.
        fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 {
            let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
            return remainder < 0 ? quotient - 1 : quotient
        }
    }
#endif
