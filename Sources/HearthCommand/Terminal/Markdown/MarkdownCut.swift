/// Cuts an open block that is too long into a finished part and a rest that is read like a block of its own.
struct MarkdownCut: Sendable {
    var finished: [MarkdownBlock]
    var rest: String
    /// Whether no blank line belongs between both parts.
    var continues: Bool

    /// - Parameter blocks: those of the source.
    init(_ source: String, blocks: [MarkdownBlock]) {
        let lastLine = source.utf8.lastIndex(of: UInt8(ascii: "\n")).map { source.utf8.index(after: $0) }
        if let last = blocks.last, blocks.count > 1, last.line > 0 {
            // Only the last block is open.
            self.init(blocks.dropLast(), source[source[...].startOfLine(last.line)...], continues: false)
        } else if case .code(let text) = blocks.last?.kind, let lastLine, let fence = Self.fence(source),
            lastLine > fence.endIndex
        {
            // The rest is code too, with the same fence.
            var block = blocks[0]
            let isPartial = lastLine < source.endIndex
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            block.kind = .code(lines.dropLast(isPartial ? 1 : 0).joined(separator: "\n"))
            self.init([block], fence + source[lastLine...], continues: true)
        } else if case .list(var list) = blocks.last?.kind, let item = list.items.popLast(), !list.items.isEmpty {
            var block = blocks[0]
            block.kind = .list(list)
            let rest = source[source[...].startOfLine(item.line)...]
            self.init([block], Self.numbered(rest, list), continues: !item.isApart)
        } else if case .table(var table) = blocks.last?.kind, let lastLine, table.rows.count > 2 {
            // The rest repeats the header.
            let head = source[..<source[...].startOfLine(blocks[0].line + 2)]
            if lastLine < source.endIndex { table.rows.removeLast() }
            var block = blocks[0]
            block.kind = .table(table)
            self.init([block], head + source[lastLine...], continues: false)
        } else {
            let middle = source.utf8.index(source.startIndex, offsetBy: source.utf8.count / 2)
            let place =
                lastLine.flatMap { $0 > middle ? $0 : nil }
                ?? source.utf8.lastIndex(of: UInt8(ascii: " ")).flatMap {
                    $0 > middle ? source.utf8.index(after: $0) : nil
                }
                ?? source.endIndex
            self.init(MarkdownParser.blocks(String(source[..<place])), source[place...], continues: true)
        }
    }

    private init(_ finished: [MarkdownBlock], _ rest: some StringProtocol, continues: Bool) {
        self.finished = finished
        self.rest = String(rest)
        self.continues = continues
    }

    /// The line that opens a block of code; `nil` for indented code.
    private static func fence(_ source: String) -> Substring? {
        guard let end = source.utf8.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = source[...end]
        let mark = line.drop { $0 == " " }
        return mark.hasPrefix("```") || mark.hasPrefix("~~~") ? line : nil
    }

    /// The last item with the number that it has in the whole list.
    private static func numbered(_ rest: Substring, _ list: MarkdownList) -> String {
        guard let start = list.start else { return String(rest) }
        let indentation = rest.prefix { $0 == " " }
        let digits = rest.dropFirst(indentation.count).prefix { $0.isASCII && $0.isNumber }
        let number = String(start &+ list.items.count)
        // Keep the width of the marker, which the lines of the item are indented by.
        let filled = String(repeating: "0", count: max(0, digits.count - number.count)) + number
        return indentation + filled + rest[digits.endIndex...]
    }
}
