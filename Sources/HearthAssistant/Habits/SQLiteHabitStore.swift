import Foundation
import HearthBase
import HearthDatabase

/// Habits in the assistant's database.
package struct SQLiteHabitStore: HabitStore {
    private let database: Database

    /// Keeps habits in a database that ``AssistantDatabase`` opened.
    package init(_ database: Database) { self.database = database }

    package func habits() async throws -> [Habit] {
        try await database.read { connection in
            var logs: [Int: [CalendarDay: Double]] = [:]
            try connection.forEachRow("SELECT habit, day, amount FROM habit_day") { row in
                if let day = CalendarDay(row.text(1)) { logs[row.int(0), default: [:]][day] = row.double(2) }
            }
            return try connection.rows("SELECT \(StoredHabit.columns) FROM habit ORDER BY folded_name") { row in
                var habit = StoredHabit.habit(row)
                habit.log = logs[row.int(0)] ?? [:]
                return habit
            }
        }
    }

    package func habit(named name: String) async throws -> Habit? {
        try await database.read { try StoredHabit.find(named: name, $0)?.habit }
    }

    /// The habit with an id.
    package func habit(_ id: String) async throws -> Habit? {
        try await database.read { try StoredHabit.find(id, $0)?.habit }
    }

    package func definition(
        name: String, frequency: HabitFrequency, id: String, at date: Date
    ) async throws -> RecordChange {
        let name = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !name.isEmpty, name.count <= 200 else {
            throw AssistantError(
                .unusablePayload, "the habit has no name of at most 200 characters", context: .init(field: "name"))
        }
        let known = try await habit(named: name)
        let record = HabitRecord.definition
        var habit = known ?? Habit(id: id, name: name, frequency: frequency, created: date)
        habit.frequency = frequency
        return RecordChange(
            store: .habits, collection: record.rawValue, id: habit.id, before: known.map { record.data($0) },
            after: record.data(habit))
    }

    package func logging(_ name: String, on day: CalendarDay, amount: Double) async throws -> RecordChange {
        guard let habit = try await habit(named: name) else {
            throw AssistantError(
                .noSuchRecord, "no habit has this name",
                context: .init(field: "name", remedy: "Define it first, or list the habits."))
        }
        let before = habit.log[day]
        let after = (before ?? 0) + amount
        guard amount.isFinite, amount != 0, abs(amount) <= 1e9, after > 0 || before != nil else {
            throw AssistantError(
                .unusablePayload, "the amount is no number above zero", context: .init(field: "amount"))
        }
        return RecordChange(
            store: .habits, collection: HabitRecord.day.rawValue, id: HabitRecord.id(habit.id, day),
            before: before.map { HabitRecord.data($0) }, after: after > 0 ? HabitRecord.data(after) : nil)
    }

    package func removal(of id: String) async throws -> RecordChange {
        guard let habit = try await habit(id) else {
            throw AssistantError(.noSuchRecord, "no habit has this id", context: .init(field: "id"))
        }
        let record = HabitRecord.whole
        return RecordChange(
            store: .habits, collection: record.rawValue, id: id, before: record.data(habit), after: nil)
    }

    package func apply(_ change: RecordChange) async throws {
        try await database.write { connection in
            switch try Self.state(of: change, connection) {
            case .after: return
            case .other:
                throw AssistantError(.changedElsewhere, "the habit has changed since it was read")
            case .before: try Self.perform(change, connection)
            }
        }
    }

    package func state(of change: RecordChange) async throws -> RecordState {
        try await database.read { try Self.state(of: change, $0) }
    }

    /// Adds habits, such as those of a file. A habit of a known id or name gets the frequency and the days of the given one;
    /// its other days stay, so that adding the same file again changes nothing.
    /// - Returns: the numbers of added and of known habits.
    package func add(_ habits: [Habit]) async throws -> (added: Int, known: Int) {
        try await database.write { connection in
            var counts = (added: 0, known: 0)
            for habit in habits {
                let known =
                    try StoredHabit.find(habit.id, connection) ?? StoredHabit.find(named: habit.name, connection)
                var merged = known?.habit ?? habit
                merged.frequency = habit.frequency
                merged.log.merge(habit.log.filter { $0.value.isFinite && $0.value > 0 }) { $1 }
                try StoredHabit.save(merged, replacesLog: true, connection)
                if known == nil { counts.added += 1 } else { counts.known += 1 }
            }
            return counts
        }
    }
}

extension SQLiteHabitStore {
    private static func kind(of change: RecordChange) throws -> HabitRecord {
        guard let kind = HabitRecord(rawValue: change.collection) else {
            throw AssistantError(.unusableRecord, "the change names no record of a habit")
        }
        return kind
    }

    private static func state(of change: RecordChange, _ connection: Connection) throws -> RecordState {
        let present: Data?
        switch try kind(of: change) {
        case .day:
            let (id, day) = try HabitRecord.day(change.id)
            present = try StoredHabit.amount(of: id, on: day, connection).map { HabitRecord.data($0) }
        case let kind: present = try StoredHabit.find(change.id, connection).map { kind.data($0.habit) }
        }
        return present == change.after ? .after : present == change.before ? .before : .other
    }

    private static func perform(_ change: RecordChange, _ connection: Connection) throws {
        switch try kind(of: change) {
        case .day:
            let (id, day) = try HabitRecord.day(change.id)
            guard let stored = try StoredHabit.find(id, connection) else {
                throw AssistantError(.changedElsewhere, "the habit has been removed since it was read")
            }
            let amount = try change.after.map { try HabitRecord.amount($0) }
            try StoredHabit.setAmount(amount, of: stored.number, on: day, connection)
        case let kind:
            guard let after = change.after else { return try StoredHabit.remove(change.id, connection) }
            let habit = try HabitRecord.habit(after, id: change.id)
            // Two habits of the same name could not be told apart.
            if let other = try StoredHabit.find(named: habit.name, connection), other.habit.id != habit.id {
                throw AssistantError(.changedElsewhere, "another habit has this name now")
            }
            try StoredHabit.save(habit, replacesLog: kind == .whole, connection)
        }
    }
}
