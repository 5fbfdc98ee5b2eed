import Foundation
import HearthAssistant
import HearthBase
import HearthInference

/// Prints an answer during its generation.
struct AnswerPrinter: Sendable {
    let console: Console
    let format: EventFormat
    /// The model's name in the facts line.
    let model: String
    /// The name of the model that gives the current answer, if that changes.
    var answering: Locked<String>?
    /// Whether the text is Markdown, which a terminal paints.
    var paints = false

    /// Takes the action blocks of an answer at its end, before its facts are printed.
    typealias BlockTaker = @Sendable ([ScannedBlock], FinishReason) async throws -> Void

    /// Prints all events.
    /// - Parameters:
    ///   - tags: the offered actions; blocks of these and of others are hidden from the text. `nil` hides nothing.
    ///   - take: takes these blocks.
    /// - Returns: why the answer ended; `nil` without an end.
    /// - Throws: errors of the stream; `CancellationError`.
    @discardableResult
    func print(
        _ events: some AsyncSequence<GenerationEvent, any Error>, hiding tags: [ActionTag]? = nil,
        take: BlockTaker = { _, _ in }
    ) async throws -> FinishReason? {
        var page = Page(
            bar: PhaseBar(console), scanner: BlockScanner(tags: tags ?? [], hidesOthers: tags != nil))
        var reason: FinishReason?
        do {
            for try await event in events {
                switch event {
                case .text(let piece):
                    let shown = page.scanner.append(piece)
                    if !shown.isEmpty { try show(.text(shown), on: &page) }
                case .finish(let summary):
                    try await end(&page, summary.reason, take)
                    try show(event, on: &page)
                    console.say(
                        FactsLine.text(
                            model: answering?.withLock { $0 } ?? model, summary.reason, summary.usage, summary.timings))
                    reason = summary.reason
                default: try show(event, on: &page)
                }
            }
            return reason
        } catch {
            console.showBar(nil)
            // End the text of a partial answer; if that fails too, throw the first error.
            if !(error is OutputClosed) { try? await end(&page, .interrupted, take) }
            throw error
        }
    }

    /// Ends the text, and hands its blocks over.
    private func end(_ page: inout Page, _ reason: FinishReason, _ take: BlockTaker) async throws {
        let (rest, blocks) = page.scanner.finish()
        page.scanner = BlockScanner(tags: [])
        if !rest.isEmpty { try show(.text(rest), on: &page) }
        try endView(&page)
        if page.isLineOpen, format == .text { try console.write("\n") }
        page.isLineOpen = false
        if !blocks.isEmpty { try await take(blocks, reason) }
    }

    private func show(_ event: GenerationEvent, on page: inout Page) throws {
        switch format {
        case .json: try emit(event)
        case .text: try write(event, on: &page)
        }
    }

    /// The state of the output's last line.
    private struct Page {
        /// Whether the last line has text.
        var isLineOpen = false
        /// Whether the last text is thinking.
        var isAside = false
        var bar: PhaseBar
        var scanner: BlockScanner
        /// The painted text.
        var view: MarkdownView?
    }

    /// Paints a piece of the answer; `false` where plain text is written.
    private func paint(_ piece: String, on page: inout Page) throws -> Bool {
        guard paints, let window = console.window else { return false }
        console.showBar(nil)
        var view = page.view ?? MarkdownView(hasLinks: console.hasLinks)
        let text = view.append(piece, in: window)
        page.view = view
        try console.write(text)
        page.isAside = false
        return true
    }

    private func endView(_ page: inout Page) throws {
        guard var view = page.view else { return }
        page.view = nil
        if let window = console.window { try console.write(view.finish(in: window)) }
    }

    private func write(_ event: GenerationEvent, on page: inout Page) throws {
        switch event {
        case .truncated(let dropped):
            console.say(
                dropped == 1
                    ? "(the oldest message no longer fits the context and is left out)"
                    : "(the \(dropped) oldest messages no longer fit the context and are left out)")
        case .picturesLeftOut(let count):
            console.say(
                count == 1
                    ? "(this model gets no pictures: the picture is left out)"
                    : "(this model gets no pictures: the \(count) pictures are left out)")
        case .thinking(let piece):
            guard console.output.isTerminal else { break }
            if !page.isAside {
                console.showBar(nil)
                // Without dimmed text, a word marks the thinking.
                if !console.canDim { try console.writeAside("(thinking) ") }
            }
            try console.writeAside(piece)
            (page.isLineOpen, page.isAside) = (piece.unicodeScalars.last != "\n", true)
        case .phase(let phase): page.bar.show(phase, model: model)
        case .text(let piece):
            if page.isAside {
                try console.write(page.isLineOpen ? "\n\n" : "\n")
                page.isLineOpen = false
            }
            if try paint(piece, on: &page) { break }
            if !page.isLineOpen { console.showBar(nil) }
            try console.write(console.output.isTerminal ? TerminalText.sanitised(piece) : piece)
            (page.isLineOpen, page.isAside) = (piece.unicodeScalars.last != "\n", false)
        case .token, .toolCall, .toolResult, .finish: break
        }
    }

    private func emit(_ event: GenerationEvent) throws {
        switch event {
        case .phase(let phase): try console.emit(ChatEvent.phase(phase))
        case .truncated(let dropped): try console.emit(ChatEvent.truncated(dropped: dropped))
        case .picturesLeftOut(let count): try console.emit(ChatEvent.picturesLeftOut(count: count))
        case .thinking(let piece): try console.emitPiece("thinking", delta: piece)
        case .text(let piece): try console.emitPiece("text", delta: piece)
        // Chat offers no tools and asks for no reports of tokens.
        case .token, .toolCall, .toolResult: break
        case .finish(let summary): try console.emit("finish", summary)
        }
    }
}

/// The line with the facts of an answer.
enum FactsLine {
    static func text(model: String, _ facts: AnswerFacts) -> String {
        text(model: model, facts.finish, facts.usage, facts.timings)
    }

    static func text(
        model: String, _ reason: FinishReason, _ usage: TokenUsage, _ timings: GenerationTimings
    ) -> String {
        // A broken connection takes the server's counts with it.
        guard reason != .interrupted || usage.generatedTokens > 0 else {
            return "\(TerminalText.singleLine(model)): ended by \(reason.rawValue)"
        }
        let facts = [
            "\(usage.promptTokens) prompt tokens", "\(usage.cachedTokens) cached",
            "\(usage.generatedTokens) generated", String(format: "first token after %.2f s", timings.firstTokenSeconds),
            String(format: "%.1f tokens/s", timings.decodeTokensPerSecond), "ended by \(reason.rawValue)",
        ]
        return "\(TerminalText.singleLine(model)): \(facts.joined(separator: ", "))"
    }
}
