import Foundation
import HearthBase

/// How often a habit is meant to be done.
public enum HabitFrequency: String, Sendable, Hashable, Codable, CaseIterable {
    case daily, weekly
}

/// A habit with the days on which it was done.
public struct Habit: UserRecord {
    public static var kind: StoreKind { .habits }
    public static var empty: Self { Self(name: "") }

    public var id: String
    public var name: String
    public var frequency: HabitFrequency
    public var created: Date
    /// The amount by day.
    public var log: [CalendarDay: Double]
    /// Where its texts are from if others wrote them, such as `calendar team`; `nil` for the user's own.
    public var source: String?

    public init(
        id: String = "", name: String, frequency: HabitFrequency = .daily, created: Date = .distantPast,
        log: [CalendarDay: Double] = [:], source: String? = nil
    ) {
        self.id = id
        self.name = name
        self.frequency = frequency
        self.created = created
        self.log = log
        self.source = source
    }

    public var displayName: String { name }

    public mutating func stamp(_ date: Date, isNew: Bool) { if isNew { created = date } }
}

/// The habits of the user, by name.
public typealias HabitStore = RecordStore<Habit>

extension RecordStore<Habit> {
    /// The habit with a name, without regard to accents and case.
    package func habit(named name: String) async throws -> Habit? {
        let wanted = Habit.folded(name)
        return try await records(matching: "", limit: .max).first { Habit.folded($0.name) == wanted }
    }

    /// The change that defines a habit, or gives one of the same name another frequency.
    /// - Throws: `unusable-payload` without a name.
    package func definition(
        name: String, frequency: HabitFrequency, id: String, at date: Date
    ) async throws -> RecordChange {
        var habit = try await habit(named: name) ?? Habit(id: id, name: name, created: date)
        habit.frequency = frequency
        return try await bytes.change(of: habit.id, to: habit)
    }

    /// The change that logs a habit on a day; amounts of one day add up.
    /// - Throws: `no-such-record`, `unusable-payload`.
    package func logging(_ name: String, on day: CalendarDay, amount: Double) async throws -> RecordChange {
        guard var habit = try await habit(named: name) else {
            throw AssistantError(
                .noSuchRecord, "no habit has this name",
                context: .init(field: "name", remedy: "Define it first, or list the habits."))
        }
        try habit.add(amount, on: day)
        return try await bytes.change(of: habit.id, to: habit)
    }
}

extension Habit {
    /// A name without case, accents and punctuation; a name of emoji alone stays as it is.
    static func folded(_ name: String) -> String {
        let folded = SearchText.folded(name)
        return folded.isEmpty ? name : folded
    }

    /// Adds an amount to a day; a sum of zero or less removes the day.
    /// - Throws: ``AssistantError`` with `unusable-payload`.
    public mutating func add(_ amount: Double, on day: CalendarDay) throws {
        let sum = (log[day] ?? 0) + amount
        guard amount.isFinite, amount != 0, abs(amount) <= 1e9, sum > 0 || log[day] != nil else {
            throw AssistantError(
                .unusablePayload, "the amount is no number above zero", context: .init(field: "amount"))
        }
        log[day] = sum > 0 ? sum : nil
    }
}
