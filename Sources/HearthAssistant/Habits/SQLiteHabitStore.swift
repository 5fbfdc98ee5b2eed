import Foundation
import HearthBase
import HearthDatabase

/// Habits in the assistant's database.
package struct SQLiteHabitStore: ByteStore {
    private let database: Database
    private let time: TimeSource

    /// Keeps habits in a database that ``AssistantDatabase`` opened.
    package init(_ database: Database, time: TimeSource = .system) {
        self.database = database
        self.time = time
    }

    package func records(matching words: String, limit: Int) async throws -> [Habit] {
        let words = SearchText.tokens(of: words, limit: 40).map(\.text)
        let habits = try await database.read { connection in
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
        return habits.filter { habit in words.allSatisfy { SearchText.folded(habit.name).contains($0) } }
            .prefix(max(0, limit)).map(\.self)
    }

    /// The habit with an id.
    package func record(_ id: String) async throws -> Habit? {
        try await database.read { try StoredHabit.find(id, $0)?.habit }
    }

    /// The change of a habit: of its definition, of one day, or of the whole. A new one with a known name gives the known one
    /// its frequency and its days.
    package func change(of id: String, to habit: Habit?) async throws -> RecordChange {
        var known = try await record(id)
        guard var habit else {
            guard let known else {
                throw AssistantError(.noSuchRecord, "no habit has this id", context: .init(field: "id"))
            }
            return Self.change(.whole, id, known, nil)
        }
        habit.id = id
        habit.name = habit.name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !habit.name.isEmpty, habit.name.count <= 200 else {
            throw AssistantError(
                .unusablePayload, "the habit has no name of at most 200 characters", context: .init(field: "name"))
        }
        // The mark stays, also when the user changes the name.
        if let source = known?.source { habit.source = source }
        habit.log = habit.log.filter { $0.value.isFinite && $0.value > 0 }
        if known == nil, let namesake = try await self.habit(named: habit.name) {
            habit = namesake.adding(habit)
            known = namesake
            return Self.change(habit.log == namesake.log ? .definition : .whole, namesake.id, namesake, habit)
        }
        let old = known?.log ?? [:]
        let days = Set(habit.log.keys).union(old.keys).filter { habit.log[$0] != old[$0] }
        if days.isEmpty { return Self.change(.definition, id, known, habit) }
        guard let day = days.first, days.count == 1, let known,
            HabitRecord.definition.data(known) == HabitRecord.definition.data(habit)
        else { return Self.change(.whole, id, known, habit) }
        return RecordChange(
            store: .habits, collection: HabitRecord.day.rawValue, id: HabitRecord.id(id, day),
            before: old[day].map { HabitRecord.data($0) }, after: habit.log[day].map { HabitRecord.data($0) })
    }

    private static func change(_ record: HabitRecord, _ id: String, _ before: Habit?, _ after: Habit?) -> RecordChange {
        RecordChange(
            store: .habits, collection: record.rawValue, id: id, before: before.map { record.data($0) },
            after: after.map { record.data($0) })
    }

    package func marked(_ change: RecordChange, from source: String) async throws -> RecordChange {
        let kind = try Self.kind(of: change)
        guard kind != .day, let after = change.after else { return change }
        var habit = try HabitRecord.habit(after, id: change.id)
        let before = try change.before.map { try HabitRecord.habit($0, id: change.id) }
        guard before?.name != habit.name else { return change }
        habit.source = source
        var change = change
        change.after = kind.data(habit)
        return change
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

    /// The changes that import habits as JSON or CSV. A habit of a known id or name gets the frequency and the days of the
    /// given one; its other days stay, so that importing the same file again changes nothing.
    package func importing(_ data: Data) async throws -> RecordImportPlan {
        let isJSON = data.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
        let habits =
            isJSON
            ? try HabitFiles.habits(json: data)
            : try HabitFiles.habits(csv: String(decoding: data, as: UTF8.self), created: time.now)
        var merged: [Habit] = []
        for habit in habits {
            if let place = merged.firstIndex(where: { $0.isSame(as: habit) }) {
                merged[place] = merged[place].adding(habit)
            } else {
                merged.append(habit)
            }
        }
        let all = try await records(matching: "", limit: .max)
        var changes: [RecordChange] = []
        for habit in merged {
            let known = all.first { $0.id == habit.id } ?? all.first { $0.isSame(as: habit) }
            changes.append(try await change(of: known?.id ?? habit.id, to: known?.adding(habit) ?? habit))
        }
        return RecordImportPlan(changes)
    }

    package func exported() async throws -> Data { HabitFiles.json(try await records(matching: "", limit: .max)) }
}

extension SQLiteHabitStore {
    private static func kind(of change: RecordChange) throws -> HabitRecord {
        guard let kind = HabitRecord(rawValue: change.collection) else {
            throw AssistantError(.unusableRecord, "the change names no record of a habit")
        }
        return kind
    }

    private static func state(of change: RecordChange, _ connection: Connection) throws -> RecordState {
        switch try kind(of: change) {
        case .day:
            let (id, day) = try HabitRecord.day(change.id)
            return change.state(of: try StoredHabit.amount(of: id, on: day, connection).map { HabitRecord.data($0) })
        case let kind: return change.state(of: try StoredHabit.find(change.id, connection).map { kind.data($0.habit) })
        }
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
