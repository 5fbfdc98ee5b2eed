import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting

extension ChatSession {
    /// The circumstances of the blocks of the running answer.
    private var actionTurn: ActionTurn {
        actionTurn(turn?.message, question: context?.question, messages: context?.messages ?? [])
    }

    private func actionTurn(
        _ answer: AssistantMessage?, question: AssistantMessage?, messages: [ChatMessage]
    ) -> ActionTurn {
        // Of a long conversation a prompt has only the last messages, and these may repeat what was in the first ones.
        let all = self.messages(before: answer) + messages
        // The results of a search or list in the answer itself.
        let found = (answer?.results ?? []).compactMap { result in
            result.source.map { OutsideText(source: $0, text: result.text) }
        }
        var outside: [OutsideText] = []
        let imported = messagesKept.branch.importedTexts
        for text in ChatHistory.outside(in: all) + found + imported where !outside.contains(text) {
            outside.append(text)
        }
        return ActionTurn(
            conversation: id, message: answer?.id ?? "", now: question?.date ?? parts.time.now,
            timeZone: parts.settings.timeZone, locale: parts.settings.locale,
            finish: turn?.finish ?? .endOfGeneration, outside: outside,
            hasOwnData: ChatHistory.hasOwnData(in: all) || answer?.results?.isEmpty == false, isPrivate: isPrivate)
    }

    /// Carries out the blocks of a complete answer.
    func act(_ blocks: [ScannedBlock], _ events: AsyncStream<ChatEvent>.Continuation) async -> ActionOutcome {
        let (runner, turn) = (parts.runner, actionTurn)
        return await working { await runner.run(blocks, in: turn) { events.yield(.card($0)) } }
    }

    /// Makes cards of the blocks of an answer that is not complete.
    func shelve(_ blocks: [ScannedBlock]) async -> [ActionCard] {
        await parts.runner.notCarriedOut(blocks, in: actionTurn)
    }

    /// Asks about a search.
    func decide(_ block: ScannedBlock) async -> Turn.Event {
        let (runner, turn) = (parts.runner, actionTurn)
        return await working {
            do {
                let card = try await runner.decide(block, in: turn)
                return .decided(card, query: card.state == .proposed ? card.query : nil)
            } catch {
                return .unusableSearch(reason: (error as? any HearthFailure)?.message ?? "\(error)")
            }
        }
    }

    /// Searches, or reads the page that the query names.
    func search(_ card: ActionCard, _ query: String) async -> Turn.Event {
        let known = knownAddresses
        let (parts, limit) = (parts, pageLimit)
        return await working {
            do {
                let late = AssistantError(.searchFailed, "the search took too long", disposition: .tryLater)
                return try await within(parts.settings.searchTimeout, of: parts.time, orThrow: late) {
                    try await parts.lookUp(card, query, known: known, pageLimit: limit)
                }
            } catch {
                let failure = FailureBody(turn: error)
                var card = card
                card.state = .failed
                card.note = failure.message
                let text = AssistantTexts.filled(parts.settings.texts.searchFailed, failure.message)
                return .searched(card, results: [MessageResult(text: text)])
            }
        }
    }

    /// The most characters of a page in a prompt.
    private var pageLimit: Int { 6000 }

    /// The addresses of pages in the user's words and in results.
    private var knownAddresses: Set<String> {
        var known: Set<String> = []
        for message in messagesKept.tree.branch(to: turn?.message.id) {
            if message.role == .user { known.formUnion(PageReader.addresses(in: message.content)) }
            known.formUnion(message.cards.flatMap(\.items).compactMap(\.url))
        }
        return known
    }

    // MARK: Cards

    /// Carries out a card on the user's request: one that was not carried out, declined or failed.
    /// - Parameter payload: other values, JSON.
    /// - Throws: ``AssistantError`` with `no-such-record`.
    @discardableResult
    public func perform(_ card: String, payload: String? = nil) async throws -> ActionCard {
        let (message, known) = try find(card)
        var found = known
        if let payload { found.payload = payload }
        let question = message.parent.flatMap { messagesKept[$0] }
        let turn = actionTurn(message, question: question, messages: messages(before: message))
        let done = await parts.runner.perform(found, in: turn)
        await put(done, into: message.id)
        return done
    }

    /// What a card of this conversation would say with other values. Changes nothing.
    /// - Parameter payload: the values, JSON.
    /// - Throws: ``AssistantError``: `unusable-payload` with the field, `unusable-recurrence`, and what planning throws.
    package func checked(_ card: ActionCard, payload: String) async throws -> ActionCard {
        let message = messagesKept.all.last { $0.cards.contains { $0.id == card.id } } ?? self.turn?.message
        let question = message?.parent.flatMap { messagesKept[$0] }
        let turn = actionTurn(message, question: question, messages: messages(before: message))
        return try await parts.runner.checked(card, payload: payload, in: turn)
    }

    /// Takes the action of a card back.
    /// - Throws: ``AssistantError``: `no-such-record`, `changed-elsewhere`.
    @discardableResult
    public func undo(_ card: String) async throws -> ActionCard {
        let (message, _) = try find(card)
        let undone = try await parts.runner.undo(card)
        await put(undone, into: message.id)
        return undone
    }

    private func find(_ card: String) throws -> (AssistantMessage, ActionCard) {
        for message in messagesKept.all.reversed() {
            if let found = message.cards.first(where: { $0.id == card }) { return (message, found) }
        }
        throw AssistantError(.noSuchRecord, "no action of this conversation has the id", disposition: .usage)
    }

    /// Shows a card in its message; a message that was deleted meanwhile stays deleted.
    private func put(_ card: ActionCard, into id: String) async {
        guard var message = messagesKept[id] else { return }
        message.put(card)
        messagesKept.update(message)
        await saver.save(message)
    }
}

extension ActionCard {
    /// The query in the payload of a search: the one that the card shows.
    var query: String? {
        // The payload was checked when it was planned.
        try? PayloadDecoder.decode(QueryPayload.self, payload, fields: []).payload.query
    }
}

extension ChatParts {
    /// Answers a query: reads the page that it names, or searches.
    /// - Parameter known: the addresses that may be read.
    func lookUp(_ card: ActionCard, _ query: String, known: Set<String>, pageLimit: Int) async throws -> Turn.Event {
        var card = card
        card.state = .done
        let address = query.trimmingCharacters(in: .whitespacesAndNewlines)
        if let pages, PageReader.addresses(in: address) == [address], let url = URL(address: address) {
            guard known.contains(where: { $0.isSameAddress(as: address) }) else {
                throw AssistantError(
                    .pageRefused,
                    "the page is not read, because its address is neither in the results nor in your words",
                    context: ErrorContext(remedy: "Write the address into your question."))
            }
            let page = try await pages.read(url)
            let title = page.title.isEmpty ? address : page.title
            card.items = [ActionCard.Item(title: title.promptLine(200), url: page.url.absoluteString)]
            let text = "\(title)\n\(page.text)"
            return .searched(
                card,
                results: [MessageResult(source: "web page \(page.url.host() ?? "")", text: text).bounded(pageLimit)])
        }
        guard let search else {
            throw AssistantError(
                .searchFailed, "no search is set up", context: ErrorContext(remedy: "Set search.kind and search.url."),
                disposition: .usage)
        }
        let results = try await search.search(query, limit: 5)
        card.items = results.map {
            ActionCard.Item(id: $0.id, title: $0.title, detail: $0.excerpt.promptLine(200), url: $0.url)
        }
        if results.isEmpty { card.note = settings.texts.foundNothing }
        let lines = results.enumerated().map { number, result in
            let place = result.url.map { " <\($0)>" } ?? ""
            return "\(number + 1). \(result.title)\(place)\n\(result.excerpt)"
        }
        let text = results.isEmpty ? settings.texts.foundNothing : lines.joined(separator: "\n")
        let source =
            search.isRemote ? "web search \(search.name)" : RecordSource.joined(results.compactMap(\.source))
        return .searched(card, results: [MessageResult(source: source, text: text).bounded(ChatSession.resultLimit)])
    }
}

extension String {
    fileprivate func isSameAddress(as other: String) -> Bool {
        func plain(_ text: String) -> Substring { text.hasSuffix("/") ? text.dropLast() : text[...] }
        return plain(self) == plain(other)
    }
}
