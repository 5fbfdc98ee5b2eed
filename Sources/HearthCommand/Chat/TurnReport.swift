import HearthAssistant
import HearthBase
import HearthInference

/// Writes the events of a turn for programs: the visible text on the output and cards on stderr, or all of it as JSON.
struct TurnReport: Sendable {
    let console: Console
    let format: EventFormat
    private var isLineOpen = false
    /// The cards, as they were last.
    private(set) var cards: [ActionCard] = []
    private(set) var failure: FailureBody?

    init(console: Console, format: EventFormat) {
        self.console = console
        self.format = format
    }

    /// Writes an event.
    /// - Throws: ``OutputClosed``, `FileError`.
    mutating func write(_ event: ChatEvent) throws {
        if case .card(let card) = event {
            guard !cards.contains(card) else { return }
            cards.removeAll { $0.id == card.id }
            cards.append(card)
        }
        if case .failed(let failure) = event { self.failure = failure }
        switch format {
        case .json: try emit(event)
        case .text: try print(event)
        }
    }

    /// Ends the text, and lists the cards.
    mutating func end() throws {
        guard format == .text else { return }
        if isLineOpen { try console.write("\n") }
        isLineOpen = false
        console.list(cards, unapproved: cards.filter { $0.state == .declined })
    }

    private mutating func print(_ event: ChatEvent) throws {
        switch event {
        case .text(let piece):
            try console.write(console.output.isTerminal ? TerminalText.sanitised(piece) : piece)
            isLineOpen = piece.unicodeScalars.last != "\n"
        case .notice(let text): console.say("(\(TerminalText.singleLine(text)))")
        case .cleared:
            // What was written stays in a pipe; the answer begins anew on a line of its own.
            if isLineOpen { try console.write("\n\n") }
            isLineOpen = false
        default: break
        }
    }

    private func emit(_ event: ChatEvent) throws {
        switch event {
        case .thinking(let piece), .text(let piece): try console.emitPiece(event.name, delta: piece)
        case .finished(let message) where message.facts == nil: break
        // The command's last event reports a failure.
        case .started, .thinkingEnded, .failed, .removed: break
        default: try console.emit(event)
        }
    }
}
