import Foundation
import HearthBase

/// The records of a habit, by the collection of their changes.
///
/// | collection | id | bytes |
/// | --- | --- | --- |
/// | `definition` | the habit's id | JSON with id, name, frequency, created |
/// | `day` | the habit's id, `/` and the day | the amount as a JSON number |
/// | `whole` | the habit's id | JSON of the definition and `log` |
///
/// So undoing one day does not touch the others, and the removal of a habit can bring back its log.
enum HabitRecord: String {
    case definition, day, whole

    /// The id of a day's record.
    static func id(_ habit: String, _ day: CalendarDay) -> String { "\(habit)/\(day)" }

    /// The habit and day of a day's record.
    /// - Throws: `unusable-record`.
    static func day(_ id: String) throws -> (habit: String, day: CalendarDay) {
        guard let separator = id.lastIndex(of: "/"), let day = CalendarDay(String(id[id.index(after: separator)...]))
        else {
            throw AssistantError(.unusableRecord, "the change names no day of a habit")
        }
        return (String(id[..<separator]), day)
    }

    /// The bytes of an amount: the shortest digits that are the same number.
    static func data(_ amount: Double) -> Data { Data(digits(amount).utf8) }

    static func digits(_ amount: Double) -> String {
        amount == amount.rounded() && abs(amount) < 1e15 ? String(Int(amount)) : String(amount)
    }

    /// Reads an amount.
    /// - Throws: `unusable-record`.
    static func amount(_ data: Data) throws -> Double {
        guard let amount = Double(String(decoding: data, as: UTF8.self)), amount.isFinite, amount > 0 else {
            throw AssistantError(.unusableRecord, "the change holds no amount")
        }
        return amount
    }

    /// The bytes of a definition, or of the whole habit.
    func data(_ habit: Habit) -> Data { Self.json(habit, withLog: self == .whole).data }

    static func json(_ habit: Habit, withLog: Bool) -> JSONValue {
        var members: JSONMembers = [
            "created": .integer(Timestamp(habit.created).milliseconds), "frequency": .string(habit.frequency.rawValue),
            "id": .string(habit.id), "name": .string(habit.name),
        ]
        if let source = habit.source { members["source"] = .string(source) }
        if withLog {
            members["log"] = .object(
                JSONMembers(habit.log.map { ($0.key.description, .number(digits($0.value))) }))
        }
        return .object(members)
    }

    /// A habit as it is written.
    struct Fields: Decodable {
        var id: String
        var name: String
        var frequency: HabitFrequency
        var created: Int64
        var log: [CalendarDay: Double]?
        var source: String?

        var habit: Habit {
            Habit(
                id: id, name: name, frequency: frequency, created: Timestamp(milliseconds: created).date,
                log: (log ?? [:]).filter { $0.value.isFinite && $0.value > 0 }, source: source)
        }
    }

    /// Reads a definition or a whole habit.
    /// - Throws: `unusable-record`.
    static func habit(_ data: Data, id: String) throws -> Habit {
        let fields = try RecordJSON.value(Fields.self, data, or: "the change holds no habit")
        guard fields.id == id else { throw AssistantError(.unusableRecord, "the habit has another id") }
        return fields.habit
    }
}
