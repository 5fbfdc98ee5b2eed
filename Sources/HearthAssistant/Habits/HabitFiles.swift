import Foundation
import HearthBase

/// Habits as JSON and CSV.
package enum HabitFiles {
    /// A JSON document with all that is kept of habits.
    package static func json(_ habits: [Habit]) -> Data {
        JSONValue.object([
            "version": .integer(1), "habits": .array(habits.map { HabitRecord.json($0, withLog: true) }),
        ]).data
    }

    /// Reads a document of ``json(_:)``.
    /// - Throws: `unusable-record`.
    package static func habits(json data: Data) throws -> [Habit] {
        struct Contents: Decodable {
            var version: Int
            var habits: [HabitRecord.Fields]
        }
        let document = try RecordJSON.value(Contents.self, data, or: "the file holds no habits")
        guard document.version == 1 else {
            throw AssistantError(
                .unusableRecord, "the file of habits has a version that this program does not read",
                context: .init(expected: "1", found: "\(document.version)"))
        }
        return document.habits.map(\.habit)
    }

    /// A table with a row for each day, for spreadsheets: RFC 4180 with a heading.
    package static func csv(_ habits: [Habit]) -> String {
        var text = "habit,frequency,day,amount\r\n"
        for habit in habits {
            let beginning = "\(cell(habit.name)),\(habit.frequency.rawValue)"
            // A habit that was never done has one row without a day.
            if habit.log.isEmpty { text += "\(beginning),,\r\n" }
            for (day, amount) in habit.log.sorted(by: { $0.key < $1.key }) {
                text += "\(beginning),\(day),\(HabitRecord.digits(amount))\r\n"
            }
        }
        return text
    }

    private static func cell(_ text: String) -> String {
        let needsQuotes = text.unicodeScalars.contains { ",\"\r\n".unicodeScalars.contains($0) }
        return needsQuotes ? "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\"" : text
    }

    /// Reads a table of ``csv(_:)``. Its habits get ids of their names.
    /// - Parameter date: the date of their creation.
    /// - Throws: `unusable-record`, which names the row.
    package static func habits(csv text: String, created date: Date) throws -> [Habit] {
        let rows = try CSVTable.rows(of: text)
        guard let heading = rows.first, heading.map({ $0.lowercased() }) == ["habit", "frequency", "day", "amount"]
        else {
            throw AssistantError(
                .unusableRecord, "the table of habits has another heading",
                context: .init(expected: "habit,frequency,day,amount"))
        }
        var habits: [Habit] = []
        var positions: [String: Int] = [:]
        for (index, row) in rows.enumerated().dropFirst() where row != [""] {
            guard row.count == 4, !row[0].isEmpty, let frequency = HabitFrequency(rawValue: row[1]) else {
                throw unusable(row: index + 1)
            }
            let position = positions[row[0]] ?? habits.count
            if position == habits.count {
                let id = String(SHA256Digest(hashing: Array("habit \(row[0])".utf8)).hex.prefix(32))
                habits.append(Habit(id: id, name: row[0], frequency: frequency, created: date))
                positions[row[0]] = position
            }
            if row[2].isEmpty && row[3].isEmpty { continue }
            guard let day = CalendarDay(row[2]), let amount = Double(row[3]), amount.isFinite, amount > 0 else {
                throw unusable(row: index + 1)
            }
            habits[position].log[day] = amount
        }
        return habits
    }

    private static func unusable(row: Int) -> AssistantError {
        AssistantError(
            .unusableRecord, "row \(row) of the table is no day of a habit", context: .init(field: "row \(row)"))
    }
}

/// A table of RFC 4180.
enum CSVTable {
    /// The rows with their cells. A line may end in `\r\n` or `\n`.
    /// - Throws: `unusable-record` for quotation marks that do not end.
    static func rows(of text: String) throws -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var cell: [UInt8] = []
        var isQuoted = false
        let bytes = Array(text.utf8)
        var index = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0

        func endCell() {
            row.append(String(decoding: cell, as: UTF8.self))
            cell = []
        }
        func endRow() {
            endCell()
            rows.append(row)
            row = []
        }

        while index < bytes.count {
            let byte = bytes[index]
            let next = index + 1 < bytes.count ? bytes[index + 1] : nil
            index += 1
            switch byte {
            case UInt8(ascii: "\"") where isQuoted && next == byte:
                cell.append(byte)
                index += 1
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted: endCell()
            case UInt8(ascii: "\r") where !isQuoted && next == UInt8(ascii: "\n"): break
            case UInt8(ascii: "\n") where !isQuoted: endRow()
            default: cell.append(byte)
            }
        }
        guard !isQuoted else {
            throw AssistantError(.unusableRecord, "quotation marks of the table do not end")
        }
        if !cell.isEmpty || !row.isEmpty { endRow() }
        return rows
    }
}
