import HearthBase

/// A choice between JSON for programs and text for people.
protocol OutputFormat { var isJSON: Bool { get } }

extension ListingFormat: OutputFormat { var isJSON: Bool { self == .json } }
extension EventFormat: OutputFormat { var isJSON: Bool { self == .json } }

extension Console {
    /// Prints a table with a row for each value.
    func print<Row>(_ rows: [Row], _ columns: [Column<Row>]) throws {
        for line in columns.lines(of: rows) { try print(line) }
    }

    /// Prints a table; where the terminal is too narrow for it, the facts of each row below each other.
    func printFitting<Row>(_ rows: [Row], _ columns: [Column<Row>]) throws {
        let lines = columns.lines(of: rows)
        guard let width = output.width, lines.contains(where: { TerminalText.columns(of: $0) > width }) else {
            for line in lines { try print(line) }
            return
        }
        for row in rows {
            for (index, column) in columns.enumerated() {
                let text = TerminalText.singleLine(column.text(row))
                let fact = index == 0 ? text : "\(column.title.lowercased()) \(text)"
                for line in TerminalText.wrapped(fact, to: width, first: index == 0 ? 0 : 2, hanging: 4) {
                    try print(index == 0 ? line : line.hasPrefix(" ") ? line : "  " + line)
                }
            }
        }
    }

    /// Prints a listing: a document for programs, a table or a sentence for people.
    func list<Row>(
        _ rows: [Row], _ format: ListingFormat, json: @autoclosure () throws -> String, empty: String,
        _ columns: [Column<Row>]
    ) throws {
        if format.isJSON { return try print(json()) }
        if rows.isEmpty { say(empty) } else { try print(rows, columns) }
    }

    /// Prints names with their values, below each other.
    func print(_ facts: [(String, String)]) throws {
        let width = facts.map { TerminalText.columns(of: $0.0) }.max() ?? 0
        for (name, value) in facts {
            try print("\(TerminalText.padded(name, to: width))  \(TerminalText.singleLine(value))")
        }
    }

    /// Prints a report: an object for programs, lines for people.
    func print(_ report: some Encodable, _ format: some OutputFormat, _ lines: @autoclosure () throws -> [String])
        throws
    {
        if format.isJSON { return try print(JSON.pretty(report)) }
        for line in try lines() { try print(line) }
    }
}
