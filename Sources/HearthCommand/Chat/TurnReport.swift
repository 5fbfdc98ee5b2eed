import HearthAssistant
import HearthInference

/// Writes the events of a turn for programs: the visible text on the output and cards on stderr, or all of it as JSON.
struct TurnReport: Sendable {
    let console: Console
    let format: EventFormat
    private var isLineOpen = false
    /// The cards, as they were last.
    private(set) var cards: [ActionCard] = []
    private(set) var failure: ChatFailure?

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
        for card in cards { for line in CardPainter.plain(card) { console.say(line) } }
        let declined = Set(cards.filter { $0.state == .declined }.map(\.tag.rawValue)).sorted()
        if !declined.isEmpty {
            console.say(
                "Without a terminal nothing is done that needs your yes; --approve \(declined.joined(separator: ",")) gives it."
            )
        }
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
        case .phase(.prefill(let done, let total)):
            try console.emit(PhaseEvent(phase: "prefill", doneTokens: done, totalTokens: total))
        case .phase(.loading): try console.emit(PhaseEvent(phase: "load"))
        case .phase(.connecting): try console.emit(PhaseEvent(phase: "connect"))
        case .phase(.decode): try console.emit(PhaseEvent(phase: "decode"))
        case .thinking(let piece): try console.emitPiece("thinking", delta: piece)
        case .text(let piece): try console.emitPiece("text", delta: piece)
        case .cleared: try console.emit(["event": "cleared"])
        case .card(let card): try console.emit(CardEvent(card: card))
        case .notice(let text): try console.emit(["event": "notice", "text": text])
        case .finished(let message): if let facts = message.facts { try console.emit(FinishEvent(facts)) }
        case .started, .thinkingEnded, .failed, .removed: break
        }
    }
}

/// A card of an action, new or changed.
struct CardEvent: Encodable {
    var event = "card"
    let card: ActionCard
}
