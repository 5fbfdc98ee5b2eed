import Foundation
import HearthAssistant
import HearthBase

/// A record in a list.
protocol ListedRecord: Codable, Sendable {
    /// The name of the list.
    static var list: String { get }
}

extension EventOccurrence: ListedRecord { static var list: String { "occurrences" } }
extension Reminder: ListedRecord { static var list: String { "reminders" } }
extension Note: ListedRecord { static var list: String { "notes" } }
extension Contact: ListedRecord { static var list: String { "contacts" } }
extension ShownHabit: ListedRecord { static var list: String { "habits" } }

extension HabitFrequency: SchemaWord {}

/// Records of one kind.
struct RecordsBody<Record: ListedRecord>: Codable, Sendable {
    var records: [Record]
    /// The number of files that cannot be read, those that imports have kept included.
    var unreadable: Int
    /// The last event before the list.
    var event: String

    private enum CodingKeys: CodingKey {
        case records, unreadable, event

        var stringValue: String {
            switch self {
            case .records: Record.list
            case .unreadable: "unreadable"
            case .event: "event"
            }
        }
    }
}

/// The problems of the records of a kind.
struct RecordProblemsBody: Codable, Sendable {
    var problems: [RecordProblem]
}

/// Some values of a record.
struct RecordValues<Record: UserRecord>: NativeDocument, SchemaDescribed {
    private let members: JSONMembers

    init(_ members: JSONMembers) { self.members = members }

    init(from decoder: any Decoder) throws { throw SchemaMaker.Undescribed(type: "\(Self.self)") }

    /// The schema of the record, in which every value can be absent.
    static func describe(_ maker: SchemaMaker) throws -> (schema: JSONValue, sample: Self) {
        let reference = try maker.schema(of: Record.self)["$ref"]
        var schema = maker.component(reference)?.members ?? [:]
        schema["required"] = nil
        return (.object(schema), Self([:]))
    }

    /// The record with these values; `null` removes one. A new start without an end keeps the length of an event.
    /// - Throws: ``NativeFailure``.
    func applied(to record: Record) throws -> Record {
        var values = try JSONValue(parsing: try RecordJSON.data(record)).members ?? [:]
        values.merge(members)
        if members["start"] != nil, members["end"] == nil { values["end"] = nil }
        do {
            var changed = try JSON.value(Record.self, JSONValue.object(values).data)
            changed.id = record.id
            return changed
        } catch let error as DecodingError {
            throw NativeFailure(error)
        }
    }
}

/// How much of a habit was done on a day.
struct HabitLogOrder: Codable, Sendable {
    /// The day, such as `2026-11-24`; today if it is absent.
    var day: String?
    /// Added to the day's amount; 1 if it is absent, and 0 removes the day.
    var amount: Double?
}
