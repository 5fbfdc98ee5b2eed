import Foundation

/// How often a habit is meant to be done.
public enum HabitFrequency: String, Sendable, Hashable, Codable, CaseIterable {
    case daily, weekly
}

/// A day of the calendar, in the user's own time zone: `2026-11-24`.
public struct CalendarDay: Sendable, Hashable, Codable, Comparable, CustomStringConvertible {
    public let year: Int
    public let month: Int
    public let day: Int

    /// A day; `nil` for one that the Gregorian calendar does not have, or before 1900 or after 9999.
    public init?(year: Int, month: Int, day: Int) {
        guard (1900...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[month - 1] else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    public static func < (left: CalendarDay, right: CalendarDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// The form of ISO 8601.
    public var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }
}

/// A habit with the days on which it was done.
public struct Habit: Sendable, Hashable, Identifiable, Codable {
    public var id: String
    public var name: String
    public var frequency: HabitFrequency
    public var created: Date
    /// The amount by day.
    public var log: [CalendarDay: Double]

    public init(
        id: String, name: String, frequency: HabitFrequency, created: Date, log: [CalendarDay: Double] = [:]
    ) {
        self.id = id
        self.name = name
        self.frequency = frequency
        self.created = created
        self.log = log
    }
}

/// The habits of the user.
public protocol HabitStore: RecordStore {
    /// All habits by name.
    func habits() async throws -> [Habit]

    /// The habit with a name, without regard to accents and case.
    func habit(named name: String) async throws -> Habit?

    /// The change that defines a habit, or gives one of the same name another frequency.
    /// - Throws: `unusable-payload` without a name.
    func definition(name: String, frequency: HabitFrequency, id: String, at date: Date) async throws -> RecordChange

    /// The change that logs a habit on a day; amounts of one day add up.
    /// - Throws: `no-such-record`, `unusable-payload`.
    func logging(_ name: String, on day: CalendarDay, amount: Double) async throws -> RecordChange

    /// The change that removes a habit with its log.
    /// - Throws: `no-such-record`.
    func removal(of id: String) async throws -> RecordChange
}
