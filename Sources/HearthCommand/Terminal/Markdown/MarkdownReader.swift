import CMarkdown

/// Reads the blocks of a tree of cmark-gfm.
struct MarkdownReader {
    /// The lines of the source, as UTF-8.
    let lines: [String.UTF8View.SubSequence]

    /// The blocks in a node.
    /// - Parameter depth: the levels of quotes and lists around the node.
    func blocks(in node: OpaquePointer?, depth: Int) -> [MarkdownBlock] {
        var result: [MarkdownBlock] = []
        var child = cmark_node_first_child(node)
        while let block = child {
            if let kind = kind(of: block, depth: depth) {
                let line = Int(cmark_node_get_start_line(block)) - 1
                result.append(MarkdownBlock(kind: kind, line: line, isApart: isApart(line)))
            }
            child = cmark_node_next(block)
        }
        return result
    }

    private func kind(of node: OpaquePointer, depth: Int) -> MarkdownBlock.Kind? {
        switch Self.type(node) {
        case "paragraph": return .paragraph(MarkdownInlines.runs(in: node))
        case "heading":
            return .heading(level: Int(cmark_node_get_heading_level(node)), MarkdownInlines.runs(in: node))
        case "code_block": return .code(Self.literal(node))
        case "html_block": return .html(Self.literal(node))
        case "thematic_break": return .rule
        case "table": return .table(table(node))
        case "block_quote" where depth < MarkdownParser.deepest: return .quote(blocks(in: node, depth: depth + 1))
        case "list" where depth < MarkdownParser.deepest: return .list(list(node, depth: depth + 1))
        case "block_quote", "list": return .paragraph(MarkdownInlines.runs(in: node))
        default: return nil
        }
    }

    private func list(_ node: OpaquePointer, depth: Int) -> MarkdownList {
        let isOrdered = cmark_node_get_list_type(node) == CMARK_ORDERED_LIST
        var list = MarkdownList(
            start: isOrdered ? Int(cmark_node_get_list_start(node)) : nil,
            delimiter: cmark_node_get_list_delim(node) == CMARK_PAREN_DELIM ? ")" : ".", items: [])
        var child = cmark_node_first_child(node)
        while let item = child {
            let line = Int(cmark_node_get_start_line(item)) - 1
            let isTask = Self.type(item) == "tasklist"
            list.items.append(
                MarkdownList.Item(
                    blocks: blocks(in: item, depth: depth),
                    isDone: isTask ? cmark_gfm_extensions_get_tasklist_item_checked(item) : nil, line: line,
                    isApart: isApart(line)))
            child = cmark_node_next(item)
        }
        return list
    }

    private func table(_ node: OpaquePointer) -> MarkdownTable {
        let count = Int(cmark_gfm_extensions_get_table_columns(node))
        var table = MarkdownTable(alignments: Array(repeating: .left, count: count), rows: [])
        if let alignments = cmark_gfm_extensions_get_table_alignments(node) {
            for index in 0..<count {
                switch alignments[index] {
                case UInt8(ascii: "c"): table.alignments[index] = .center
                case UInt8(ascii: "r"): table.alignments[index] = .right
                default: break
                }
            }
        }
        var row = cmark_node_first_child(node)
        while let current = row {
            var cells: [[StyledRun]] = []
            var cell = cmark_node_first_child(current)
            while let content = cell {
                cells.append(MarkdownInlines.runs(in: content))
                cell = cmark_node_next(content)
            }
            while cells.count < count { cells.append([]) }
            table.rows.append(cells)
            row = cmark_node_next(current)
        }
        return table
    }

    /// Whether the line before a line is blank, apart from the marks of quotes.
    private func isApart(_ line: Int) -> Bool {
        guard line > 0, line <= lines.count else { return false }
        return lines[line - 1].allSatisfy {
            $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: ">")
        }
    }

    static func type(_ node: OpaquePointer) -> String {
        cmark_node_get_type_string(node).map { String(cString: $0) } ?? ""
    }

    static func literal(_ node: OpaquePointer) -> String {
        cmark_node_get_literal(node).map { TerminalText.sanitised(String(cString: $0)) } ?? ""
    }
}

/// Reads the text of a block of cmark-gfm as runs; emphasis of any depth needs no recursion.
enum MarkdownInlines {
    /// The runs below a node. A hard line break is a line feed; blocks below the node, where it is nested too deep, are
    /// separated by line feeds.
    static func runs(in node: OpaquePointer) -> [StyledRun] {
        guard let walk = cmark_iter_new(node) else { return [] }
        defer { cmark_iter_free(walk) }
        var text = InlineText()
        while true {
            let event = cmark_iter_next(walk)
            guard event != CMARK_EVENT_DONE else { break }
            guard let current = cmark_iter_get_node(walk), current != node else { continue }
            text.visit(current, isEntry: event == CMARK_EVENT_ENTER)
        }
        return text.runs
    }
}

/// The state of a walk through inline text.
private struct InlineText {
    var runs: [StyledRun] = []
    private var depths: [TextStyle.Traits: Int] = [:]
    private var links: [(address: String, firstRun: Int)] = []

    mutating func visit(_ node: OpaquePointer, isEntry: Bool) {
        switch MarkdownReader.type(node) {
        case "text": append(MarkdownReader.literal(node))
        case "softbreak": append(" ")
        case "linebreak": runs.append(StyledRun("\n"))
        case "code": append(MarkdownReader.literal(node), adding: .code)
        case "html_inline": append(MarkdownReader.literal(node))
        case "emph": count(.italic, isEntry)
        case "strong": count(.bold, isEntry)
        case "strikethrough": count(.struck, isEntry)
        case "link", "image":
            if isEntry {
                links.append((cmark_node_get_url(node).map { String(cString: $0) } ?? "", runs.count))
            } else if let link = links.popLast() {
                close(link)
            }
        case "code_block", "html_block":
            separate()
            append(MarkdownReader.literal(node).replacing("\n", with: " "))
        case "paragraph", "heading", "table_cell": if isEntry { separate() }
        default: break
        }
    }

    private mutating func append(_ text: String, adding more: TextStyle.Traits = []) {
        let text = TerminalText.singleLine(text)
        guard !text.isEmpty else { return }
        var style = TextStyle(traits: more)
        for (trait, depth) in depths where depth > 0 { style.traits.insert(trait) }
        if let address = links.last?.address {
            style.address = address
            style.traits.insert(.underlined)
        }
        if let last = runs.last, last.style == style {
            runs[runs.count - 1].text += text
        } else {
            runs.append(StyledRun(text, style))
        }
    }

    private mutating func count(_ trait: TextStyle.Traits, _ isEntry: Bool) {
        depths[trait, default: 0] += isEntry ? 1 : -1
    }

    private mutating func separate() { if !runs.isEmpty { runs.append(StyledRun("\n")) } }

    /// Adds a mark for the painter, which shows the address where the terminal has no links or the text misleads.
    private mutating func close(_ link: (address: String, firstRun: Int)) {
        guard !link.address.isEmpty else { return }
        let text = runs[min(link.firstRun, runs.count)...].map(\.text).joined()
        guard !LinkAddress.isNamed(link.address, by: text) else { return }
        let misleads = LinkAddress.looksLikeOne(text) || LinkAddress.clickable(link.address) == nil
        runs.append(
            StyledRun(
                " (\(LinkAddress.shown(link.address)))",
                misleads ? [.drawn, .warning] : [.dim, .drawn, .address]))
    }
}
