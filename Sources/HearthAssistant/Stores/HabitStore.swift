import Foundation

/// How often a habit is meant to be done.
public enum HabitFrequency: String, Sendable, Hashable, Codable, CaseIterable {
    case daily, weekly
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
