/// A column of a table.
struct Column<Row> {
    enum Alignment: Sendable { case left, right }

    let title: String
    let alignment: Alignment
    let text: (Row) -> String

    static func left(_ title: String, _ text: @escaping (Row) -> String) -> Self {
        Column(title: title, alignment: .left, text: text)
    }

    static func right(_ title: String, _ text: @escaping (Row) -> String) -> Self {
        Column(title: title, alignment: .right, text: text)
    }
}

extension Array {
    /// The lines of a table, with two spaces between columns and none at the end. Cells are never truncated.
    func lines<Row>(of rows: [Row]) -> [String] where Element == Column<Row> {
        let all = [map(\.title)] + rows.map { row in map { TerminalText.singleLine($0.text(row)) } }
        let widths = indices.map { column in all.map { TerminalText.columns(of: $0[column]) }.max() ?? 0 }
        return all.map { cells in
            var line = ""
            for (index, cell) in cells.enumerated() {
                if index > 0 { line += "  " }
                let isLast = index == cells.count - 1
                switch self[index].alignment {
                case .left: line += isLast ? cell : TerminalText.padded(cell, to: widths[index])
                case .right: line += TerminalText.padded(cell, to: widths[index], atEnd: false)
                }
            }
            return line
        }
    }
}

/// The format of a listing.
enum ListingFormat: String, CaseIterable, Sendable { case table, json }

/// The format of a long command's progress.
enum EventFormat: String, CaseIterable, Sendable { case text, json }
