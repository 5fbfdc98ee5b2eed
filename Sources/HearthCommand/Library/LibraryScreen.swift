import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery

/// The content of `hearth models` at one moment. Has no side effects: it returns the lines for a window's size.
///
/// ```
/// AI Model: 3 models, 1 on this device (* default); asking the origins
///     NAME       SIZE     MEMORY      BADGES       STATE
///  *  The diary  98.4 MB  1.2 GB RAM  Active       downloaded
/// >   The poet   2.0 GB   4.0 GB RAM  Recommended  downloading 42%, 3.2 MB/s, 6 min 10 s left
///
/// poet@1.0.0:q4_1: short poems, in the publisher's words
/// Downloading: 840.0 MB of 2.0 GB
/// origin: it does not answer. Using the list cached on 2026-11-20T08:00:00Z.
/// ↑↓ choose  c Cancel download  r refresh  q leave
/// ```
/// Rows that this device cannot run are dimmed.
struct LibraryScreen: Sendable, Hashable {
    var rows: [LibraryRow] = []
    /// The row that keys apply to.
    var selection: Family?
    /// Whether the sources are being asked.
    var isRefreshing = false
    /// Notices about the whole list.
    var notices: [String] = []
    /// The last line instead of the keys: a question, or the result of the last key.
    var prompt: String?

    /// The columns reserved for the state before other columns are shown.
    private static let stateWidth = 28
    private static let widestName = 32
    private static let sentenceLines = 3

    /// The number of rows visible at once.
    func page(_ size: ScreenSize) -> Int { layout(size).room }

    /// The lines from the top, cut to the window's width.
    func lines(_ size: ScreenSize) -> [String] { drawn(size).lines }

    /// The lines, and the numbers of those of models that this device cannot run.
    func drawn(_ size: ScreenSize) -> (lines: [String], dimmed: Set<Int>) {
        let (above, table, below, room) = layout(size)
        let index = rows.firstIndex { $0.id == selection } ?? 0
        // Scroll by pages, so that the visible rows depend only on the selection.
        let first = room > 0 ? index / room * room : 0
        var lines = above + table.dropFirst(first).prefix(room)
        let last = prompt ?? keys
        let empty = size.lines - lines.count - below.count - 1
        lines += Array(repeating: "", count: max(0, min(empty, 1)))
        let all = lines + below + [last]
        let hidden = max(0, all.count - max(0, size.lines))
        let incompatible = rows.dropFirst(first).prefix(room).enumerated().filter { $0.element.isIncompatible }
        return (
            all.dropFirst(hidden).map { line in
                // Leave the last column free: some terminals wrap after it.
                TerminalText.truncated(TerminalText.singleLine(line), to: max(0, size.columns - 1))
            }, Set(incompatible.map { above.count + $0.offset - hidden }.filter { $0 >= 0 })
        )
    }

    // MARK: Layout

    /// Lays out the parts. A low window drops the least important first: row details, title, header, notices.
    private func layout(_ size: ScreenSize) -> (above: [String], table: [String], below: [String], room: Int) {
        let width = max(1, size.columns - 1)
        let table = table(width)
        var (title, header) = ([title], Array(table.prefix(1)))
        var (detail, notices) = (detail(width), notices.flatMap { Self.wrapped($0, to: width) })
        func room() -> Int { size.lines - 1 - title.count - header.count - detail.count - notices.count }
        let wanted = min(max(rows.count, 1), 3)
        while room() < wanted, !detail.isEmpty { detail.removeLast() }
        while room() < wanted, !title.isEmpty || !header.isEmpty {
            if title.isEmpty { header = [] } else { title = [] }
        }
        while room() < 1, !notices.isEmpty { notices.removeLast() }
        return (title + header, Array(table.dropFirst()), detail + notices, max(0, room()))
    }

    private var title: String {
        let here = rows.count { $0.local != nil }
        let models = rows.count == 1 ? "1 model" : "\(rows.count) models"
        let asking = isRefreshing ? "; asking the origins" : ""
        guard !rows.isEmpty else {
            return isRefreshing ? "Asking the origins" : "No model is here, and none is on offer."
        }
        return "AI Model: \(models), \(here) on this device (\(Column<LibraryRow>.defaultMark) default)\(asking)"
    }

    /// The table with as many columns as fit beside the state. Only names and figures matter, so that the columns
    /// stay the same during a download.
    private func table(_ width: Int) -> [String] {
        let nameWidth = max(8, min(Self.widestName, width / 3))
        let name = Column<LibraryRow>.name(width: nameWidth)
        let choices: [[Column<LibraryRow>]] = [
            [name, .size, .memory, .badges], [name, .size, .memory], [name, .size],
        ]
        let mark = Column<LibraryRow>.mark { $0.id == selection ? "> " : "  " }
        let columns = choices.first { columns in
            let widest = ([mark] + columns).lines(of: rows).map { TerminalText.columns(of: $0) }.max() ?? 0
            return widest + 2 + Self.stateWidth <= width
        }
        return ([mark] + (columns ?? [name]) + [.state]).lines(of: rows)
    }

    /// Details of the selected row: its release and the reason for its state.
    private func detail(_ width: Int) -> [String] {
        guard let row = rows.first(where: { $0.id == selection }) else { return [] }
        let summary = row.model.summary.map { ": \($0)" } ?? ""
        let about = TerminalText.truncated(TerminalText.singleLine("\(row.model.identity)\(summary)"), to: width)
        let bytes = row.reading.map { reading in
            let word = reading.state.word
            return "\(word.prefix(1).uppercased() + word.dropFirst()): \(reading.bytesText)"
        }
        return [about] + [bytes].compactMap(\.self) + (row.detailText.map { Self.wrapped($0, to: width) } ?? [])
    }

    /// Wraps a sentence to the maximum number of lines.
    private static func wrapped(_ sentence: String, to width: Int) -> ArraySlice<String> {
        TerminalText.wrapped(TerminalText.singleLine(sentence), to: width).prefix(sentenceLines)
    }

    /// The keys available now.
    private var keys: String {
        var keys = rows.isEmpty ? [] : ["↑↓ choose"]
        if let row = rows.first(where: { $0.id == selection }) {
            switch row.primaryAction {
            case .download: keys.append("Enter Download Model")
            case .select where !row.isDefault: keys.append("Enter make default")
            case .select, nil: break
            }
            if row.canBeUpdated { keys.append("u update") }
            if row.canBeCancelled { keys.append("c Cancel download") }
            if let previous = row.rollback, row.canBeRolledBack { keys.append("b roll back to \(previous.version)") }
            if row.isUsable { keys.append("x delete") }
        }
        return (keys + ["r refresh", "q leave"]).joined(separator: "  ")
    }
}

extension LibraryRow {
    /// Whether an update can be downloaded.
    var canBeUpdated: Bool { update != nil && isUsable && !download.isActive }

    /// Whether the release before can become live again.
    var canBeRolledBack: Bool { rollback != nil && isUsable && !download.isActive }

    /// Whether this device cannot run the model, which is not here.
    fileprivate var isIncompatible: Bool { if case .incompatible = state { true } else { false } }

    /// Whether there is an active download, or a failed one with partial files.
    var canBeCancelled: Bool {
        if case .failed = download { true } else { download.isActive }
    }
}
