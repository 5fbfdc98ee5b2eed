/// Paints tables with aligned columns; columns share the width, and cells are broken where they do not fit.
struct TablePainter: Sendable {
    let width: Int

    /// The columns between two cells.
    private static let gap = 3
    /// The least columns of a cell; a table that needs more is painted row by row.
    private static let narrowest = 4

    /// The lines of a table.
    func lines(_ table: MarkdownTable) -> [StyledLine] {
        let widths = widths(table)
        guard let widths else { return records(table) }
        var lines: [StyledLine] = []
        for (index, row) in table.rows.enumerated() {
            lines += self.lines(of: row, widths, table.alignments, isHeader: index == 0)
            if index == 0 {
                let rule = widths.map { String(repeating: "─", count: $0) }.joined(separator: "─┼─")
                lines.append(StyledLine([StyledRun(rule, .frame)]))
            }
        }
        return lines
    }

    /// The columns of each column; `nil` where they do not fit beside each other.
    private func widths(_ table: MarkdownTable) -> [Int]? {
        let columns = table.alignments.count
        guard columns > 0 else { return nil }
        let room = width - Self.gap * (columns - 1)
        var natural = Array(repeating: 1, count: columns)
        for row in table.rows {
            for (index, cell) in row.prefix(columns).enumerated() {
                natural[index] = max(natural[index], StyledLine(cell).width)
            }
        }
        guard natural.reduce(0, +) > room else { return natural }
        guard room >= Self.narrowest * columns else { return nil }
        // Narrow columns keep their width; the others share what remains.
        var widths = natural
        var (open, rest) = (Array(natural.indices), room)
        while !open.isEmpty {
            let share = rest / open.count
            let fitting = open.filter { natural[$0] <= share }
            guard !fitting.isEmpty else {
                for (place, index) in open.enumerated() { widths[index] = share + (place < rest % open.count ? 1 : 0) }
                break
            }
            rest -= fitting.reduce(0) { $0 + natural[$1] }
            open.removeAll { natural[$0] <= share }
        }
        return widths
    }

    private func lines(
        of row: [[StyledRun]], _ widths: [Int], _ alignments: [MarkdownTable.Alignment], isHeader: Bool
    ) -> [StyledLine] {
        let cells = widths.indices.map { index in
            let runs = isHeader ? row[index].map(Self.bold) : row[index]
            return TextBreaker(width: widths[index]).lines(runs)
        }
        let height = cells.map(\.count).max() ?? 0
        return (0..<height).map { number in
            var line = StyledLine()
            for (index, cell) in cells.enumerated() {
                if index > 0 { line.runs.append(StyledRun(" │ ", .frame)) }
                let content = number < cell.count ? cell[number] : StyledLine()
                let fill = max(0, widths[index] - content.width)
                let before =
                    switch alignments[index] {
                    case .left: 0
                    case .center: fill / 2
                    case .right: fill
                    }
                if before > 0 { line.runs.append(StyledRun(String(repeating: " ", count: before), [.drawn])) }
                line.runs += content.runs
                let isLast = index == cells.count - 1
                if fill > before, !isLast {
                    line.runs.append(StyledRun(String(repeating: " ", count: fill - before), [.drawn]))
                }
            }
            return line
        }
    }

    /// A table that is too wide: a line for each cell, with the header of its column.
    private func records(_ table: MarkdownTable) -> [StyledLine] {
        guard let header = table.rows.first else { return [] }
        let breaker = TextBreaker(width: width)
        var lines = breaker.lines(
            header.map { $0.map(Self.bold) }.joined(separator: [StyledRun(", ", .frame)]).map { $0 })
        for row in table.rows.dropFirst() {
            lines.append(StyledLine([StyledRun(String(repeating: "─", count: max(1, width)), .frame)]))
            for (index, cell) in row.enumerated() {
                let name = index < header.count ? StyledLine(header[index]).text : ""
                lines += breaker.lines([StyledRun("\(name): ", .frame)] + cell)
            }
        }
        return lines
    }

    private static func bold(_ run: StyledRun) -> StyledRun {
        var run = run
        run.style.traits.insert(.bold)
        return run
    }
}
