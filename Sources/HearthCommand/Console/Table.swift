/// A table of text with aligned columns.
struct Table: Sendable {
    enum Alignment: Sendable { case left, right }

    let columns: [(title: String, alignment: Alignment)]
    var rows: [[String]] = []

    init(_ columns: (String, Alignment)...) { self.init(columns: columns) }

    init(columns: [(String, Alignment)]) { self.columns = columns.map { (title: $0.0, alignment: $0.1) } }

    mutating func add(_ cells: String...) { add(cells: cells) }

    mutating func add(cells: [String]) { rows.append(cells.map(TerminalText.singleLine)) }

    /// The lines, with two spaces between columns and none at the end. Cells are never truncated.
    var lines: [String] {
        let all = [columns.map(\.title)] + rows
        let widths = columns.indices.map { column in all.map { TerminalText.columns(of: $0[column]) }.max() ?? 0 }
        return all.map { cells in
            var line = ""
            for (index, cell) in cells.enumerated() {
                if index > 0 { line += "  " }
                let isLast = index == cells.count - 1
                switch columns[index].alignment {
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
