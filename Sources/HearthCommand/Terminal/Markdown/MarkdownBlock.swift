/// A block of Markdown, ready to be painted.
struct MarkdownBlock: Sendable, Hashable {
    indirect enum Kind: Sendable, Hashable {
        case paragraph([StyledRun])
        case heading(level: Int, [StyledRun])
        case code(String)
        /// Raw HTML, which is shown as text.
        case html(String)
        case quote([MarkdownBlock])
        case list(MarkdownList)
        case table(MarkdownTable)
        case rule
    }

    var kind: Kind
    /// The first line in the source, from 0.
    var line: Int
    /// Whether a blank line stands before the block in the source.
    var isApart: Bool
}

/// A list with its items.
struct MarkdownList: Sendable, Hashable {
    struct Item: Sendable, Hashable {
        var blocks: [MarkdownBlock]
        /// Whether a task is done; `nil` for an item that is no task.
        var isDone: Bool?
        var line: Int
        /// Whether a blank line stands before the item in the source.
        var isApart: Bool
    }

    /// The number of the first item; `nil` for bullets.
    var start: Int?
    /// What follows a number.
    var delimiter: String
    var items: [Item]
}

/// A table whose first row is the header.
struct MarkdownTable: Sendable, Hashable {
    enum Alignment: Sendable, Hashable { case left, center, right }

    var alignments: [Alignment]
    /// The cells by row.
    var rows: [[[StyledRun]]]
}
