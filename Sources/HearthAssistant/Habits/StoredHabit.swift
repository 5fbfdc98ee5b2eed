import Foundation
import HearthBase
import HearthDatabase

/// The rows of one habit.
struct StoredHabit {
    static let columns = "number, id, name, frequency, created, source"

    let number: Int
    var habit: Habit

    /// The habit of the present row of a query for ``columns``, without its log.
    static func habit(_ row: borrowing Row) -> Habit {
        Habit(
            id: row.text(1), name: row.text(2), frequency: HabitFrequency(rawValue: row.text(3)) ?? .daily,
            created: Timestamp(milliseconds: Int64(row.int(4))).date, source: row.optionalText(5))
    }

    static func find(_ id: String, _ connection: Connection) throws -> StoredHabit? {
        try first("SELECT \(columns) FROM habit WHERE id = ?1", id, connection)
    }

    static func find(named name: String, _ connection: Connection) throws -> StoredHabit? {
        try first("SELECT \(columns) FROM habit WHERE folded_name = ?1", Habit.folded(name), connection)
    }

    private static func first(_ sql: String, _ value: String, _ connection: Connection) throws -> StoredHabit? {
        guard
            var stored = try connection.first(sql, [.text(value)], { StoredHabit(number: $0.int(0), habit: habit($0)) })
        else { return nil }
        try connection.forEachRow("SELECT day, amount FROM habit_day WHERE habit = ?1", [.int(stored.number)]) { row in
            if let day = CalendarDay(row.text(0)) { stored.habit.log[day] = row.double(1) }
        }
        return stored
    }

    static func amount(of id: String, on day: CalendarDay, _ connection: Connection) throws -> Double? {
        try connection.first(
            """
            SELECT amount FROM habit_day JOIN habit ON habit.number = habit_day.habit
            WHERE habit.id = ?1 AND day = ?2
            """, [.text(id), .text(day.description)]
        ) { $0.double(0) }
    }

    static func setAmount(_ amount: Double?, of habit: Int, on day: CalendarDay, _ connection: Connection) throws {
        let key: [SQLValue] = [.int(habit), .text(day.description)]
        guard let amount else { return try connection.run("DELETE FROM habit_day WHERE habit = ?1 AND day = ?2", key) }
        try connection.run(
            """
            INSERT INTO habit_day(habit, day, amount) VALUES(?1, ?2, ?3)
            ON CONFLICT(habit, day) DO UPDATE SET amount = ?3
            """, key + [.double(amount)])
    }

    static func save(_ habit: Habit, replacesLog: Bool, _ connection: Connection) throws {
        let number = try connection.first(
            """
            INSERT INTO habit(id, name, folded_name, frequency, created, source) VALUES(?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT(id) DO UPDATE
            SET name = ?2, folded_name = ?3, frequency = ?4, created = ?5, source = ?6 RETURNING number
            """,
            [
                .text(habit.id), .text(habit.name), .text(Habit.folded(habit.name)), .text(habit.frequency.rawValue),
                .int(Timestamp(habit.created).milliseconds), SQLValue.text(habit.source),
            ]
        ) { $0.int(0) }
        guard let number, replacesLog else { return }
        try connection.run("DELETE FROM habit_day WHERE habit = ?1", [.int(number)])
        for (day, amount) in habit.log { try setAmount(amount, of: number, on: day, connection) }
    }

    static func remove(_ id: String, _ connection: Connection) throws {
        try connection.run("DELETE FROM habit WHERE id = ?1", [.text(id)])
    }
}

extension Habit {
    func isSame(as other: Habit) -> Bool {
        id == other.id || Habit.folded(name) == Habit.folded(other.name)
    }

    /// The habit with the frequency and the days of another.
    func adding(_ other: Habit) -> Habit {
        var habit = self
        habit.frequency = other.frequency
        habit.log.merge(other.log) { $1 }
        return habit
    }
}
