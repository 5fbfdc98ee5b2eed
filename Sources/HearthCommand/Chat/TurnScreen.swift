import Foundation
import HearthAssistant
import HearthBase
import HearthInference

/// Shows the events of a turn at a terminal: text as painted Markdown, thinking folded, cards as boxes.
struct TurnScreen: Sendable {
    let console: Console
    /// Whether the thinking itself is shown.
    let showsThinking: Bool
    /// The name of the model that answers.
    let model: @Sendable () -> String
    let time: TimeSource
    /// Whether any text of the answer was shown.
    private(set) var hasText = false
    /// The cards as they were shown last, by id.
    private var cards: [String: ActionCard] = [:]
    private var view: MarkdownView?
    /// Whether the last line is not ended, without a view.
    private var isLineOpen = false
    private var bar: PhaseBar
    private var thinking: Stopwatch?
    private var shownSeconds = -1

    init(
        console: Console, showsThinking: Bool, time: TimeSource,
        model: @escaping @Sendable () -> String
    ) {
        self.console = console
        self.showsThinking = showsThinking
        self.model = model
        self.time = time
        bar = PhaseBar(console)
    }

    /// Shows an event.
    /// - Parameter number: the number of a card.
    /// - Throws: ``OutputClosed``, `FileError`.
    mutating func show(_ event: ChatEvent, number: Int? = nil) throws {
        switch event {
        // An answer that goes on is shown whole, so that its Markdown is.
        case .started(_, let answer): if !answer.content.isEmpty { try write(answer.content) }
        case .finished: break
        case .phase(let phase): bar.show(phase, model: model())
        case .thinking(let piece): try think(piece)
        case .thinkingEnded: try endThinking()
        case .text(let piece): try write(piece)
        case .cleared:
            try endText()
            try aside("(searched; this is what the results say:)")
        case .card(let card): try show(card, number)
        case .notice(let text):
            try endText()
            console.complain("(\(TerminalText.singleLine(text)))")
        case .truncated, .picturesLeftOut: break
        case .failed(let failure):
            try endText()
            for line in FailureRenderer(failure).lines { console.complain(line) }
            if failure.needsModel { console.complain("  `hearth models` shows models to download.") }
        case .removed: try endText()
        }
    }

    /// Ends the text that is open.
    mutating func end() throws {
        try endThinking()
        try endText()
        console.showBar(nil)
    }

    // MARK: Text

    private mutating func write(_ piece: String) throws {
        try endThinking()
        console.showBar(nil)
        hasText = true
        guard let window = console.window else {
            try console.write(TerminalText.sanitised(piece))
            isLineOpen = piece.unicodeScalars.last != "\n"
            return
        }
        var view = view ?? MarkdownView(hasLinks: console.hasLinks)
        let text = view.append(piece, in: window)
        self.view = view
        try console.write(text)
    }

    private mutating func endText() throws {
        console.showBar(nil)
        if var view, let window = console.window {
            self.view = nil
            try console.write(view.finish(in: window))
        }
        view = nil
        if isLineOpen { try console.write("\n") }
        isLineOpen = false
    }

    // MARK: Thinking

    private mutating func think(_ piece: String) throws {
        if thinking == nil {
            thinking = time.stopwatch()
            shownSeconds = -1
            if showsThinking { console.showBar(nil) }
        }
        if showsThinking {
            try console.writeAside(piece)
            isLineOpen = piece.unicodeScalars.last != "\n"
            return
        }
        let seconds = thinking.map { Int($0.elapsed.components.seconds) } ?? 0
        guard seconds != shownSeconds else { return }
        shownSeconds = seconds
        console.showBar(seconds > 0 ? "thinking… \(seconds) s" : "thinking…")
    }

    private mutating func endThinking() throws {
        guard let watch = thinking else { return }
        thinking = nil
        console.showBar(nil)
        if showsThinking {
            try console.write(isLineOpen ? "\n\n" : "\n")
            isLineOpen = false
        } else {
            let seconds = Double(watch.elapsed.components.seconds) + Double(watch.elapsed.components.attoseconds) / 1e18
            try aside(String(format: "(thought for %.1f s)", seconds))
        }
    }

    private func aside(_ text: String) throws { try console.writeAside(text + "\n") }

    // MARK: Cards

    private mutating func show(_ card: ActionCard, _ number: Int?) throws {
        let before = cards.updateValue(card, forKey: card.id)
        guard before != card else { return }
        try endThinking()
        try endText()
        if let before, before.state == .proposed, card.state != .proposed, card.items.isEmpty, before.note == card.note
        {
            // The values are on the screen already.
            return try aside(card.outcome(undo: number.map { "/undo \($0)" } ?? "`hearth undo`"))
        }
        guard let text = console.painted(card, number: number) else {
            for line in CardPainter.plain(card, number: number) { try console.print(line) }
            return
        }
        try console.write((hasText ? "\n" : "") + text)
    }
}
