/// Paints blocks of Markdown as lines of a terminal.
struct MarkdownPainter: Sendable, Hashable {
    /// The columns of a line.
    var width: Int
    /// Whether the terminal makes links, so that their addresses need not be shown.
    var hasLinks = false

    /// The columns that remain for text at any depth.
    private static let narrowest = 16

    /// The lines of top-level blocks, with a blank line between them.
    func lines(_ blocks: [MarkdownBlock]) -> [StyledLine] {
        var lines: [StyledLine] = []
        for (index, block) in blocks.enumerated() {
            if index > 0 { lines.append(StyledLine()) }
            lines += self.lines(of: block, lists: 0)
        }
        return lines
    }

    /// - Parameter lists: the lists around the block.
    private func lines(of block: MarkdownBlock, lists: Int) -> [StyledLine] {
        switch block.kind {
        case .paragraph(let runs): return TextBreaker(width: width).lines(shown(runs))
        case .heading(let level, let runs): return heading(level, runs)
        case .code(let text): return code(text)
        case .html(let text): return kept(text, TextStyle(traits: .dim))
        case .rule: return [StyledLine([StyledRun(String(repeating: "─", count: max(1, width)), .frame)])]
        case .quote(let blocks):
            let inner = narrowed(by: 2)
            return inner.nested(blocks, lists: lists).map { line in
                StyledLine([StyledRun("│ ", .frame)] + line.runs)
            }
        case .list(let list): return self.lines(of: list, lists: lists)
        case .table(let table):
            var table = table
            table.rows = table.rows.map { row in row.map(shown) }
            return TablePainter(width: width).lines(table)
        }
    }

    /// The lines of blocks within a quote or an item: blank lines where the source has them.
    private func nested(_ blocks: [MarkdownBlock], lists: Int) -> [StyledLine] {
        var lines: [StyledLine] = []
        for (index, block) in blocks.enumerated() {
            if index > 0, block.isApart { lines.append(StyledLine()) }
            lines += self.lines(of: block, lists: lists)
        }
        return lines
    }

    private func heading(_ level: Int, _ runs: [StyledRun]) -> [StyledLine] {
        let traits: TextStyle.Traits =
            switch level {
            case 1: [.bold, .underlined]
            case 2: [.bold]
            case 3: [.underlined]
            default: [.italic]
            }
        let runs = shown(runs).map { run in
            var run = run
            run.style.traits.formUnion(traits)
            return run
        }
        return TextBreaker(width: width).lines(runs)
    }

    private func code(_ text: String) -> [StyledLine] {
        let inner = narrowed(by: 2)
        return inner.kept(text, TextStyle(traits: .code)).map { line in
            StyledLine([StyledRun("  ", [.drawn])] + line.runs)
        }
    }

    /// The lines of text whose spaces and line ends count.
    private func kept(_ text: String, _ style: TextStyle) -> [StyledLine] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.count > 1, lines.last?.isEmpty == true { lines.removeLast() }
        let breaker = TextBreaker(width: width)
        return lines.flatMap { breaker.hardLines([StyledRun(Self.expandingTabs(String($0)), style)]) }
    }

    private static func expandingTabs(_ line: String) -> String {
        guard line.contains("\t") else { return line }
        var (result, column) = ("", 0)
        for character in line {
            let text = character == "\t" ? String(repeating: " ", count: 4 - column % 4) : String(character)
            result += text
            column += TerminalText.columns(of: text)
        }
        return result
    }

    private func lines(of list: MarkdownList, lists: Int) -> [StyledLine] {
        let last = list.start.map { $0 &+ list.items.count - 1 }
        let numberWidth = last.map { "\($0)\(list.delimiter) ".count }
        let bullets = ["• ", "◦ ", "▪ "]
        var lines: [StyledLine] = []
        for (index, item) in list.items.enumerated() {
            if index > 0, item.isApart { lines.append(StyledLine()) }
            var mark = list.start.map { "\($0 &+ index)\(list.delimiter) " } ?? bullets[min(lists, bullets.count - 1)]
            if let numberWidth { mark = String(repeating: " ", count: max(0, numberWidth - mark.count)) + mark }
            if let isDone = item.isDone { mark = (list.start == nil ? "" : mark) + (isDone ? "☑ " : "☐ ") }
            let indentation = TerminalText.columns(of: mark)
            let inner = narrowed(by: indentation)
            var content = inner.nested(item.blocks, lists: lists + 1)
            if content.isEmpty { content = [StyledLine()] }
            for (number, line) in content.enumerated() {
                let before = number == 0 ? mark : String(repeating: " ", count: indentation)
                lines.append(
                    line.runs.isEmpty && number > 0 ? line : StyledLine([StyledRun(before, [.drawn])] + line.runs))
            }
        }
        return lines
    }

    private func narrowed(by columns: Int) -> MarkdownPainter {
        var painter = self
        painter.width = max(min(Self.narrowest, width), width - columns)
        return painter
    }

    /// The runs as this terminal needs them: without addresses where it makes links.
    private func shown(_ runs: [StyledRun]) -> [StyledRun] {
        hasLinks ? runs.filter { !$0.style.traits.contains(.address) } : runs
    }
}
