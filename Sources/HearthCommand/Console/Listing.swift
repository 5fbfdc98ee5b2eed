import HearthBase

/// A column of a listing.
struct Column<Row> {
    let title: String
    let alignment: Table.Alignment
    let text: (Row) -> String

    static func left(_ title: String, _ text: @escaping (Row) -> String) -> Self {
        Column(title: title, alignment: .left, text: text)
    }

    static func right(_ title: String, _ text: @escaping (Row) -> String) -> Self {
        Column(title: title, alignment: .right, text: text)
    }
}

/// A choice between JSON for programs and text for people.
protocol OutputFormat { var isJSON: Bool { get } }

extension ListingFormat: OutputFormat { var isJSON: Bool { self == .json } }
extension EventFormat: OutputFormat { var isJSON: Bool { self == .json } }

extension Console {
    /// Prints a table with a row for each value.
    func print<Row>(_ rows: [Row], _ columns: [Column<Row>]) throws {
        var table = Table(columns: columns.map { ($0.title, $0.alignment) })
        for row in rows { table.add(cells: columns.map { $0.text(row) }) }
        for line in table.lines { try print(line) }
    }

    /// Prints a listing: objects for programs, a table or a sentence for people.
    func list<Row>(
        _ rows: [Row], _ format: ListingFormat, _ entry: (Row) -> some Encodable, empty: String,
        _ columns: Column<Row>...
    ) throws {
        if format.isJSON { return try print(JSON.pretty(rows.map(entry))) }
        if rows.isEmpty { say(empty) } else { try print(rows, columns) }
    }

    /// Prints a report: an object for programs, lines for people.
    func print(_ report: some Encodable, _ format: some OutputFormat, _ lines: @autoclosure () throws -> [String])
        throws
    {
        if format.isJSON { return try print(JSON.pretty(report)) }
        for line in try lines() { try print(line) }
    }
}
