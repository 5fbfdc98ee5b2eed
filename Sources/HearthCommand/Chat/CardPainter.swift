import HearthAssistant
import HearthBase

/// Paints cards of actions: as boxes at a terminal, as plain lines elsewhere.
struct CardPainter: Sendable {
    /// The columns of a box.
    let width: Int

    private static let widest = 76
    private static let narrowest = 14
    /// Below so many columns the mark of a card's state stands under its values.
    private static let roomForMark = 40

    init(columns: Int) { width = max(Self.narrowest, min(Self.widest, columns - 1)) }

    /// The box of a card.
    /// - Parameter number: the number by which commands name the card; `nil` for none.
    func box(_ card: ActionCard, number: Int? = nil) -> [StyledLine] {
        let inner = width - 4
        var lines = [edge("╭", "╮", title: title(card, number))]
        for line in body(card, inner) {
            let fill = String(repeating: " ", count: max(0, inner - line.width))
            lines.append(
                StyledLine([StyledRun("│ ", .frame)] + line.runs + [StyledRun(fill), StyledRun(" │", .frame)]))
        }
        return lines + [edge("╰", "╯", title: [])]
    }

    private func title(_ card: ActionCard, _ number: Int?) -> [StyledRun] {
        var runs = number.map { [StyledRun("\($0) ", .frame)] } ?? []
        let hasRoom = width >= Self.roomForMark
        let room = hasRoom ? width - 24 : width - 6 - StyledLine(runs).width
        runs.append(StyledRun(TerminalText.truncated(TerminalText.singleLine(card.title), to: room), [.bold]))
        let mark = card.state.mark
        if hasRoom, !mark.text.isEmpty { runs.append(StyledRun("  " + mark.text, mark.traits)) }
        return runs
    }

    private func edge(_ left: String, _ right: String, title: [StyledRun]) -> StyledLine {
        let used = StyledLine(title).width + (title.isEmpty ? 0 : 3)
        let rule = String(repeating: "─", count: max(0, width - 2 - used))
        let start = title.isEmpty ? left : left + "─ "
        let gap = title.isEmpty ? "" : " "
        return StyledLine([StyledRun(start, .frame)] + title + [StyledRun(gap + rule + right, .frame)])
    }

    private func body(_ card: ActionCard, _ inner: Int) -> [StyledLine] {
        let labels = card.fields.map { TerminalText.columns(of: TerminalText.singleLine($0.label)) }.max() ?? 0
        let column = min(labels, inner / 3)
        var lines: [StyledLine] = []
        for field in card.fields {
            let label = TerminalText.truncated(TerminalText.singleLine(field.label), to: column)
            let value = TextBreaker(width: inner - column - 2).lines([StyledRun(Self.text(field.value))])
            for (index, line) in value.enumerated() {
                let before = index == 0 ? TerminalText.padded(label, to: column) : String(repeating: " ", count: column)
                lines.append(StyledLine([StyledRun(before + "  ", .frame)] + line.runs))
            }
            if let source = field.source {
                let indentation = String(repeating: " ", count: column + 2)
                let text = "\(indentation)from \(TerminalText.singleLine(source))"
                lines += TextBreaker(width: inner).lines([StyledRun(text, [.warning])])
            }
        }
        for (index, item) in card.items.enumerated() {
            var runs = [StyledRun("\(index + 1). ", .frame), StyledRun(Self.text(item.title))]
            if !item.detail.isEmpty { runs.append(StyledRun(" – " + Self.text(item.detail), [.dim])) }
            if let url = item.url {
                runs.append(StyledRun(" <\(TerminalText.singleLine(url))>", TextStyle(traits: .dim, address: url)))
            }
            lines += TextBreaker(width: inner).lines(runs)
        }
        if let note = card.note, !note.isEmpty {
            if !lines.isEmpty { lines.append(StyledLine()) }
            let isWarning = card.state == .failed || card.state == .unknown || note.contains("outside")
            lines += TextBreaker(width: inner).lines([StyledRun(Self.text(note), isWarning ? [.warning] : [.dim])])
        }
        if lines.isEmpty { return [StyledLine([StyledRun(card.state.sentence, [.dim])])] }
        let mark = card.state.mark
        return width < Self.roomForMark && !mark.text.isEmpty
            ? lines + [StyledLine([StyledRun(mark.text, mark.traits)])] : lines
    }

    /// A value with its line breaks, at most so long that a card fits a screen.
    private static func text(_ value: String) -> String {
        let lines = TerminalText.sanitised(value).split(separator: "\n", omittingEmptySubsequences: false)
        let shown = lines.prefix(8).map { TerminalText.singleLine(String($0.prefix(400))) }.joined(separator: "\n")
        return lines.count > 8 ? shown + "\n…" : shown
    }

    /// The lines of a card where no box can be drawn.
    static func plain(_ card: ActionCard, number: Int? = nil) -> [String] {
        let start = number.map { "[\($0)] " } ?? ""
        var lines = ["\(start)\(TerminalText.singleLine(card.title)) (\(card.state.sentence))"]
        lines += card.fields.map { field in
            let source = field.source.map { "  (from \(TerminalText.singleLine($0)))" } ?? ""
            return "    \(TerminalText.singleLine(field.label)): \(TerminalText.singleLine(field.value))\(source)"
        }
        lines += card.items.enumerated().map { index, item in
            let detail = item.detail.isEmpty ? "" : " – \(item.detail)"
            let url = item.url.map { " <\($0)>" } ?? ""
            return "    \(index + 1). " + TerminalText.singleLine(item.title + detail + url)
        }
        if let note = card.note, !note.isEmpty { lines.append("    " + TerminalText.singleLine(note)) }
        return lines
    }
}

extension Console {
    /// A card for a window; `nil` where plain text is written.
    func painted(_ card: ActionCard, number: Int? = nil) -> String? {
        guard let window else { return nil }
        let lines = CardPainter(columns: window.columns).box(card, number: number)
        return lines.map { $0.escaped(links: hasLinks) + "\n" }.joined()
    }

    /// Shows a card: painted on the output, or plain among the messages.
    func show(_ card: ActionCard, number: Int? = nil) {
        guard let text = painted(card, number: number) else {
            for line in CardPainter.plain(card, number: number) { complain(line) }
            return
        }
        // A closed output ends the next answer.
        try? write(text)
    }

    /// Lists cards, and says how those that need a yes get one without a terminal.
    func list(_ cards: [ActionCard], unapproved: [ActionCard]) {
        for card in cards { for line in CardPainter.plain(card) { say(line) } }
        let tags = Set(unapproved.map(\.tag.rawValue)).sorted().joined(separator: ",")
        if !tags.isEmpty {
            say("Without a terminal nothing is done that needs your yes; --approve \(tags) gives it.")
        }
    }
}

extension ActionCard {
    /// The state as a sentence, with the words that take the action back.
    func outcome(undo: String) -> String {
        let sentence = state.sentence.prefix(1).uppercased() + state.sentence.dropFirst() + "."
        return canUndo && state == .done ? "\(sentence) \(undo) takes it back." : sentence
    }
}

extension ActionCard.State {
    private var words: (mark: String, traits: TextStyle.Traits, sentence: String) {
        switch self {
        case .proposed: ("", [], "waits for your decision")
        case .done: ("✓ done", [.code], "done")
        case .declined: ("✗ not done", [.dim], "declined")
        case .notCarriedOut: ("not carried out", [.warning], "not carried out")
        case .failed: ("failed", [.warning], "failed")
        case .undone: ("undone", [.dim], "undone")
        case .unknown: ("unknown", [.warning], "unknown whether it happened")
        }
    }

    /// The mark in the frame of a card.
    fileprivate var mark: (text: String, traits: TextStyle.Traits) { (words.mark, words.traits) }
    /// The state in plain words.
    var sentence: String { words.sentence }
}
