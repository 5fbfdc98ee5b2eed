import Foundation

/// A recurrence rule (RFC 5545 3.3.10), read far enough to know whether libical expands it rightly.
package struct RecurrenceRule: Sendable {
    package enum Frequency: String, Sendable, Hashable {
        case secondly = "SECONDLY"
        case minutely = "MINUTELY"
        case hourly = "HOURLY"
        case daily = "DAILY"
        case weekly = "WEEKLY"
        case monthly = "MONTHLY"
        case yearly = "YEARLY"
    }

    /// A day of the week, such as the second Tuesday; `ordinal` is 0 for each.
    package struct Day: Sendable, Hashable {
        package let ordinal: Int
        /// 0 for Monday.
        package let weekday: Int
    }

    package private(set) var frequency = Frequency.daily
    package private(set) var interval = 1
    package private(set) var count: Int?
    package private(set) var until: CalendarTime?
    package private(set) var days: [Day] = []
    package private(set) var months: [Int] = []
    package private(set) var monthDays: [Int] = []
    package private(set) var yearDays: [Int] = []
    package private(set) var positions: [Int] = []
    package private(set) var weekStart = 0
    /// Whether it has parts that libical does not expand rightly, such as BYWEEKNO or RSCALE.
    package private(set) var hasOtherParts = false
    /// The parts in their order.
    package private(set) var parts: [(name: String, value: String)] = []

    package static let weekdays = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

    /// Reads a rule; `nil` if it is not one.
    package init?(_ text: String) {
        guard text.utf8.count <= 2_000 else { return nil }
        for part in text.uppercased().split(separator: ";") {
            let sides = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard sides.count == 2, !sides[1].isEmpty, !parts.contains(where: { $0.name == sides[0] }) else {
                return nil
            }
            parts.append((sides[0], sides[1]))
            guard read(sides[0], sides[1]) else { return nil }
        }
        guard parts.contains(where: { $0.name == "FREQ" }), count == nil || until == nil else { return nil }
    }

    private mutating func read(_ name: String, _ value: String) -> Bool {
        func numbers(_ range: ClosedRange<Int>) -> [Int]? {
            let numbers = value.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
            return numbers.allSatisfy({ $0 != 0 && range.contains(abs($0)) }) ? numbers : nil
        }
        func assign(_ range: ClosedRange<Int>, _ path: WritableKeyPath<Self, [Int]>) -> Bool {
            guard let numbers = numbers(range) else { return false }
            self[keyPath: path] = numbers
            return true
        }
        switch name {
        case "FREQ":
            guard let known = Frequency(rawValue: value) else { return false }
            frequency = known
        case "INTERVAL":
            guard let number = Int(value), (1...10_000).contains(number) else { return false }
            interval = number
        case "COUNT":
            guard let number = Int(value), number >= 1 else { return false }
            count = number
        case "UNTIL":
            until = CalendarTime(value: value, zone: nil)
            return until != nil
        case "WKST":
            guard let day = Self.weekdays.firstIndex(of: value) else { return false }
            weekStart = day
        case "BYDAY":
            for text in value.split(separator: ",", omittingEmptySubsequences: false) {
                guard let day = Self.weekdays.firstIndex(of: String(text.suffix(2))) else { return false }
                let digits = text.dropLast(2)
                guard let ordinal = digits.isEmpty ? 0 : Int(digits), abs(ordinal) <= 53, digits.isEmpty || ordinal != 0
                else { return false }
                days.append(Day(ordinal: ordinal, weekday: day))
            }
        case "BYMONTH":
            guard assign(1...12, \.months) else {
                hasOtherParts = true  // A leap month of another calendar, such as `5L`.
                return value.contains("L")
            }
            return months.allSatisfy { $0 > 0 }
        case "BYMONTHDAY": return assign(1...31, \.monthDays)
        case "BYYEARDAY": return assign(1...366, \.yearDays)
        case "BYSETPOS": return assign(1...366, \.positions)
        default: hasOtherParts = true
        }
        return true
    }

    /// The rule for libical: without its end, which the caller checks.
    var endlessText: String { text(until: nil, count: nil) }

    /// The rule with another end, its other parts as written.
    package func text(until: CalendarTime?, count: Int?) -> String {
        var texts = parts.filter { $0.name != "COUNT" && $0.name != "UNTIL" }.map { "\($0.name)=\($0.value)" }
        if let count { texts.append("COUNT=\(count)") }
        if let until { texts.append("UNTIL=\(until.value)") }
        return texts.joined(separator: ";")
    }
}
