import HearthBase
import HearthInference

/// Decides one turn: what each piece of an answer does to its message, and which step follows.
///
/// ```
/// answer ──blocks──> acting ──malformed──> repair ──> acting ──> ended
///   │ └─WEB_SEARCH─> deciding ──> searching ──> answer with results ──> acting ──> ended
///   └─stop, time-out, error, length──> shelving ──> ended
/// ```
/// A value: the session performs its effects and reports back.
package struct Turn: Sendable {
    /// One generation of the turn.
    package enum Pass: Sendable, Hashable {
        case answer
        /// The answer with the results of a search.
        case searched
        /// Corrected blocks.
        case repair
        /// The rest of an answer whose connection broke off.
        case continuation
    }

    package enum Event: Sendable {
        case phase(GenerationPhase)
        case thinking(String)
        case text(String)
        /// The model called an action as a tool.
        case call(ScannedBlock)
        case notice(String)
        case ended(GenerationSummary)
        case failed(FailureBody)
        case stopped
        case timedOut
        /// The message was deleted.
        case gone
        /// The search was approved with this query, or `nil` if it was not.
        case decided(ActionCard, query: String?)
        /// The block of the search cannot be used.
        case unusableSearch(reason: String)
        case searched(ActionCard, results: [MessageResult])
        case acted(ActionOutcome)
        case shelved([ActionCard])
    }

    package enum Effect: Sendable, Hashable {
        case show(ChatEvent)
        case generate(Pass)
        case decide(ScannedBlock)
        case search(ActionCard, query: String)
        case act([ScannedBlock])
        case shelve([ScannedBlock])
        /// Ends the running generation.
        case halt
        case end(End)
    }

    /// How a turn ended.
    package enum End: Sendable, Hashable {
        case complete
        /// The partial answer stays.
        case partial
        /// The user stopped the answer before its first word: the empty message is removed.
        case removed
        /// The message was deleted before the end.
        case gone
    }

    private enum State: Hashable {
        case generating(Pass)
        case deciding(others: [ScannedBlock])
        case searching
        case acting
        case shelving
        case ended
    }

    /// The most generations of a turn.
    package static let maximumPasses = 3

    /// The answer.
    package private(set) var message: AssistantMessage
    /// The text of the present pass as the model wrote it.
    package private(set) var raw = ""
    /// The text of the pass before, as the model wrote it.
    package private(set) var written = ""
    /// Why a generation ended, for the actions.
    package private(set) var finish = FinishReason.endOfGeneration
    /// The text that the repair pass asks with.
    package private(set) var complaint = ""
    private var state = State.generating(.answer)
    private var scanner: BlockScanner
    private var calls: [ScannedBlock] = []
    private var passes = 0
    private var hasSearched = false
    private var hasRepaired = false
    /// Whether the next piece is the first one behind an answer that goes on.
    private var isAtJoint = false
    /// Whether the pass only corrects blocks: its text is not shown.
    private var isHidden = false
    private var repairedTags: Set<ActionTag> = []
    /// The raw text of the answer before its repair.
    private var repairedRaw: String?
    private var summary: GenerationSummary?
    private let tags: [ActionTag]
    private let texts: AssistantTexts

    /// A turn that answers into a message.
    package init(_ message: AssistantMessage, tags: [ActionTag], texts: AssistantTexts = AssistantTexts()) {
        self.message = message
        self.tags = tags
        self.texts = texts
        scanner = BlockScanner(tags: tags, hidesOthers: !tags.isEmpty)
    }

    /// Whether the turn has ended.
    package var hasEnded: Bool { state == .ended }

    /// The facts of all generations so far.
    package var facts: GenerationSummary? { summary }

    /// Begins the turn.
    package mutating func begin() -> [Effect] { generate(.answer) }

    /// Begins with the rest of an answer.
    /// - Parameter text: the answer so far as the model wrote it.
    package mutating func resume(after text: String) -> [Effect] {
        message.cards.removeAll { $0.state == .notCarriedOut }
        message.notices.removeAll { texts.endings.contains($0) }
        message.failure = nil
        // Without a word of the answer, it is thought about anew.
        if text.isEmpty { message.thinkingContent = "" }
        let effects = generate(.continuation)
        raw = text
        isAtJoint = true
        message.content = scanner.append(text)
        return effects
    }

    package mutating func handle(_ event: Event) -> [Effect] {
        if case .gone = event, state != .ended {
            state = .ended
            return [.halt, .end(.gone)]
        }
        switch (state, event) {
        case (.ended, _): return []
        case (.generating, .phase(let phase)): return [.show(.phase(phase))]
        case (.generating, .thinking(let piece)):
            message.isThinking = true
            message.thinkingContent += piece
            return [.show(.thinking(piece))]
        case (.generating, .text(let written)):
            let piece = joined(written)
            raw += piece
            return endThinking() + show(scanner.append(piece))
        case (.generating, .call(let block)):
            // The dialect of tools is written as a block, so that later prompts have one dialect.
            raw += "\(block.tag.opening)\(block.payload)]"
            calls.append(block)
            return endThinking()
        case (_, .notice(let text)): return note(text)
        case (.generating(let pass), .ended(let facts)):
            summary = summary?.followed(by: facts) ?? facts
            return ended(pass, facts.reason)
        case (.generating, .failed(let failure)): return failed(failure)
        case (.generating, .timedOut): return cut(.timedOut)
        case (_, .stopped): return stopped()
        case (.deciding(let others), .decided(let card, let query)):
            guard let query else {
                return put(card) + act(others)
            }
            hasSearched = true
            state = .searching
            message.content = ""
            return [.show(.cleared)] + put(card) + [.search(card, query: query)]
        case (.deciding(let others), .unusableSearch(let reason)):
            return note(AssistantTexts.filled(texts.malformed, reason))
                + (repair([(.webSearch, "", reason)], also: others) ?? act(others))
        case (.searching, .searched(let card, let results)):
            message.results = (message.results ?? []) + results
            return put(card) + generate(.searched)
        case (.acting, .acted(let outcome)): return acted(outcome)
        case (.shelving, .shelved(let cards)):
            return cards.flatMap { put($0) } + end(.partial)
        default: return []
        }
    }

    // MARK: Steps

    private mutating func generate(_ pass: Pass) -> [Effect] {
        passes += 1
        isAtJoint = false
        state = .generating(pass)
        isHidden = pass == .repair && !message.content.isEmpty
        scanner = BlockScanner(tags: tags, hidesOthers: !tags.isEmpty)
        calls = []
        (written, raw) = (raw, "")
        return [.generate(pass)]
    }

    private mutating func ended(_ pass: Pass, _ reason: FinishReason) -> [Effect] {
        guard reason.isComplete else { return cut(reason) }
        finish = reason
        let (shown, blocks) = endText()
        if pass == .repair {
            return shown + act(blocks.filter { repairedTags.contains($0.tag) })
        }
        let isSearching = tags.contains(.webSearch)
        let others = blocks.filter { $0.tag != .webSearch || !isSearching }
        guard isSearching, let search = blocks.first(where: { $0.tag == .webSearch }) else {
            return shown + act(others)
        }
        guard !hasSearched else { return shown + note(texts.oneSearch) + act(others) }
        state = .deciding(others: others)
        guard search.isComplete else {
            return shown + handle(.unusableSearch(reason: "\(search.tag) is not closed"))
        }
        return shown + [.decide(search)]
    }

    private mutating func act(_ blocks: [ScannedBlock]) -> [Effect] {
        guard !blocks.isEmpty else { return end(.complete) }
        state = .acting
        return [.act(blocks)]
    }

    private mutating func acted(_ outcome: ActionOutcome) -> [Effect] {
        var effects = outcome.cards.flatMap { put($0) }
        if !outcome.results.isEmpty {
            let results = outcome.results.map { MessageResult(source: $0.outsideSource, text: $0.text) }
            message.results = (message.results ?? []) + results
        }
        for malformed in outcome.malformed {
            effects += note(AssistantTexts.filled(texts.malformed, malformed.reason))
        }
        let flaws = outcome.malformed.map { ($0.block.tag, $0.block.payload, $0.reason) }
        return effects + (repair(flaws) ?? end(.complete))
    }

    /// The pass that corrects blocks; `nil` if there is nothing to correct, or it was tried before.
    private mutating func repair(
        _ flaws: [(tag: ActionTag, payload: String, reason: String)], also others: [ScannedBlock] = []
    ) -> [Effect]? {
        guard !flaws.isEmpty, !hasRepaired, passes < Self.maximumPasses else { return nil }
        hasRepaired = true
        repairedTags = Set(flaws.map(\.tag)).union(others.map(\.tag))
        let lines = flaws.map { "\($0.tag.opening)\($0.payload.prefix(1000))] (\($0.reason))" }
        complaint = AssistantTexts.filled(texts.repair, lines.joined(separator: "\n"))
        repairedRaw = raw
        return generate(.repair)
    }

    private mutating func failed(_ failure: FailureBody) -> [Effect] {
        finish = .interrupted
        message.failure = failure
        message.rawContent = repairedRaw
        let (shown, blocks) = endText()
        return shown + [.show(.failed(failure))] + shelve(blocks)
    }

    /// Ends an answer that is not complete.
    private mutating func cut(_ reason: FinishReason) -> [Effect] {
        finish = reason
        let (shown, blocks) = endText()
        // An answer that the engine could not end has no facts with the reason.
        if reason == .timedOut, summary?.reason != .timedOut {
            message.failure = FailureBody(code: "timed-out", message: texts.timedOut, disposition: .tryLater)
        }
        return shown + (texts.notice(of: reason).map { note($0) } ?? []) + shelve(blocks)
    }

    private mutating func stopped() -> [Effect] {
        switch state {
        case .generating:
            finish = .interrupted
            let (shown, blocks) = endText()
            if !message.isEmpty { message.failure = FailureBody(code: Self.stoppedCode, message: texts.stopped) }
            return shown + [.halt] + shelve(blocks)
        // The approval and the search are cancelled; their results end the turn.
        default: return [.halt]
        }
    }

    private mutating func shelve(_ blocks: [ScannedBlock]) -> [Effect] {
        let complete = blocks.filter(\.isComplete)
        guard !complete.isEmpty else { return end(.partial) }
        state = .shelving
        return [.shelve(complete)]
    }

    private mutating func end(_ end: End) -> [Effect] {
        state = .ended
        (message.isThinking, message.isOpen) = (false, nil)
        let written = repairedRaw.map { $0 + "\n" + raw } ?? raw
        if message.rawContent == nil, written != message.content { message.rawContent = written }
        // The user stopped it before its first word.
        if message.isEmpty, end == .partial, message.notices.isEmpty, message.failure == nil { return [.end(.removed)] }
        return (message.isEmpty && end == .complete ? note(texts.empty) : []) + [.end(end)]
    }

    /// The code of an answer that the user stopped.
    package static let stoppedCode = "stopped"

    // MARK: The message

    /// Ends the text of a pass.
    private mutating func endText() -> (effects: [Effect], blocks: [ScannedBlock]) {
        let (rest, found) = scanner.finish()
        let shown = endThinking() + show(rest)
        // Blocks of a repair have other keys than those of the answer.
        let base = state == .generating(.repair) ? 1000 : 0
        let blocks = (found + calls).enumerated().map { number, block in
            var block = block
            block.index = base + number
            return block
        }
        return (shown, blocks)
    }

    /// A piece without the space that an answer that goes on has already: `One ` and ` two` are `One two`.
    private mutating func joined(_ piece: String) -> String {
        guard isAtJoint, let first = piece.first else { return piece }
        isAtJoint = false
        guard first == " ", raw.last == " ", raw.dropLast().last?.isWhitespace == false else { return piece }
        return String(piece.dropFirst())
    }

    private mutating func endThinking() -> [Effect] {
        guard message.isThinking else { return [] }
        message.isThinking = false
        return [.show(.thinkingEnded)]
    }

    private mutating func show(_ text: String) -> [Effect] {
        guard !text.isEmpty, !isHidden else { return [] }
        message.content += text
        return [.show(.text(text))]
    }

    private mutating func note(_ text: String) -> [Effect] {
        guard !message.notices.contains(text) else { return [] }
        message.notices.append(text)
        return [.show(.notice(text))]
    }

    private mutating func put(_ card: ActionCard) -> [Effect] {
        message.put(card)
        return [.show(.card(card))]
    }
}

extension AssistantMessage {
    /// Adds a card, or replaces the one with its id.
    mutating func put(_ card: ActionCard) {
        if let index = cards.firstIndex(where: { $0.id == card.id }) {
            cards[index] = card
        } else {
            cards.append(card)
        }
    }
}
