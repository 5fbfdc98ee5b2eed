/// Splits Markdown that arrives in pieces into finished top-level blocks and the open end.
///
/// A finished block never changes, except where a link is defined later. Blocks longer than ``longest`` are cut, so that
/// the work for a piece is bounded.
struct MarkdownStream: Sendable {
    /// New blocks since the last piece.
    struct Change: Sendable, Hashable {
        /// Blocks that do not change any more.
        var finished: [MarkdownBlock] = []
        /// The blocks of the open end.
        var open: [MarkdownBlock] = []
        /// Whether the first finished or open block continues the block before, so that no blank line is between them.
        var continues = false
    }

    /// The most bytes of an open block.
    static let longest = 16 << 10

    /// The text after the finished blocks.
    private(set) var source = ""
    private var definitions = LinkDefinitions()
    /// Whether the open end continues a block that was cut.
    private var continues = false
    /// The bytes since the open end was read last.
    private var unread = 0
    private var hasNewLine = false
    private var open: [MarkdownBlock] = []

    /// Takes the next piece, without control characters.
    mutating func append(_ piece: String) -> Change {
        var change = Change(continues: continues)
        var rest = TerminalText.sanitised(piece)[...]
        while !rest.isEmpty {
            let room = max(1, Self.longest - source.utf8.count)
            let part = rest.prefix(bytes: room)
            rest = rest[part.endIndex...]
            source += part
            unread += part.utf8.count
            hasNewLine = hasNewLine || part.utf8.contains(UInt8(ascii: "\n"))
            if !rest.isEmpty || isDue { read(into: &change) }
        }
        change.open = open
        return change
    }

    /// Takes the end of the text.
    mutating func finish() -> Change {
        var change = Change(continues: continues)
        change.finished = blocks(source)
        self = MarkdownStream()
        return change
    }

    /// Whether enough has come to read the open end again: at most 256 times while it doubles.
    private var isDue: Bool { hasNewLine || unread > source.utf8.count / 256 }

    private mutating func read(into change: inout Change) {
        if hasNewLine { finishBlocks(into: &change) }
        while source.utf8.count >= Self.longest {
            let cut = MarkdownCut(source, blocks: blocks(source))
            change.finished += cut.finished
            definitions.collect(from: String(source[...].prefix(bytes: Self.longest)))
            (source, continues) = (cut.rest, cut.continues)
        }
        open = blocks(source.withoutUndecidedLine)
        (unread, hasNewLine) = (0, false)
    }

    /// Finishes the blocks before the last one of the complete lines.
    private mutating func finishBlocks(into change: inout Change) {
        guard let end = source.utf8.lastIndex(of: UInt8(ascii: "\n")) else { return }
        let complete = source[...end]
        let blocks = blocks(String(complete))
        guard blocks.count > 1, let last = blocks.last, last.line > 0 else { return }
        let cut = source[...].startOfLine(last.line)
        change.finished += blocks.dropLast()
        definitions.collect(from: String(source[..<cut]))
        source = String(source[cut...])
        continues = false
    }

    /// The blocks of a text, with the links that were defined before; their lines are those of the text.
    private func blocks(_ text: String) -> [MarkdownBlock] {
        let before = definitions.text
        guard !before.isEmpty else { return MarkdownParser.blocks(text) }
        let count = before.utf8.count { $0 == UInt8(ascii: "\n") }
        return MarkdownParser.blocks(before + text).map { $0.moved(by: -count) }
    }
}

extension MarkdownBlock {
    /// The block with other line numbers, of its items too.
    fileprivate func moved(by count: Int) -> MarkdownBlock {
        var block = self
        block.line += count
        if case .list(var list) = block.kind {
            for index in list.items.indices { list.items[index].line += count }
            block.kind = .list(list)
        }
        return block
    }
}

extension String {
    /// The text without a last line of marks alone, such as `3.` or `|`, which mean something else than their text once more of
    /// the line is complete.
    fileprivate var withoutUndecidedLine: String {
        let start = utf8.lastIndex(of: UInt8(ascii: "\n")).map { utf8.index(after: $0) } ?? startIndex
        let line = self[start...].utf8
        guard !line.isEmpty, line.count < 12 else { return self }
        let marks = "-*+>#`~|:=_.)([]0123456789 \t".utf8
        return line.allSatisfy { marks.contains($0) } ? String(self[..<start]) : self
    }
}

extension Substring {
    /// The beginning of at most so many bytes, at least one character long.
    func prefix(bytes limit: Int) -> Substring {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        // Not within a scalar.
        while end > startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return end == startIndex ? prefix(1) : self[..<end]
    }

    /// The index at which a line begins, counted from 0.
    func startOfLine(_ number: Int) -> Index {
        var place = startIndex
        for _ in 0..<number {
            guard let end = self[place...].utf8.firstIndex(of: UInt8(ascii: "\n")) else { return endIndex }
            place = utf8.index(after: end)
        }
        return place
    }
}
