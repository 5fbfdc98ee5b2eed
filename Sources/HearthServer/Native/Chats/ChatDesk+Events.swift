import HearthAssistant
import HearthBase
import HearthInference
import HearthRouting

extension ChatDesk {
    /// Tells clients about a step of a turn, in the order of the steps.
    func take(_ event: ChatEvent, _ chat: String, _ session: ChatSession) async {
        switch event {
        case .started(let question, let answer):
            change(chat) { running in
                running.answer = answer
                running.textLength = answer.content.utf16.count
                running.thinkingLength = answer.thinkingContent.utf16.count
            }
            if let question { await tell(question, chat, session) }
            await tell(answer, chat, session)
            await tell(chat, session)
        case .phase(let phase):
            change(chat) { $0.phase = phase }
            add(event, chat)
        case .thinking(let piece):
            add(event, chat, offset: running(chat)?.thinkingLength)
            change(chat) { running in
                running.thinkingLength += piece.utf16.count
                running.answer?.thinkingContent += piece
                running.answer?.isThinking = true
            }
        case .thinkingEnded:
            change(chat) { $0.answer?.isThinking = false }
            add(event, chat)
        case .text(let piece):
            add(event, chat, offset: running(chat)?.textLength)
            change(chat) { running in
                running.textLength += piece.utf16.count
                running.answer?.content += piece
            }
        case .cleared:
            change(chat) { running in
                running.textLength = 0
                running.answer?.content = ""
            }
            add(event, chat)
        case .card(let card): await show(card, chat)
        case .notice(let text):
            // The message's ending says it.
            guard !endings.contains(text) else { break }
            change(chat) { $0.answer?.notices.append(text) }
            add(event, chat)
        case .truncated, .picturesLeftOut: add(event, chat)
        case .failed: log.add(event.name, ChatStep(chat: chat, message: running(chat)?.answer?.id, event: event))
        case .removed(let id):
            change(chat) { $0.answer = nil }
            log.add(event.name, ChatStep(chat: chat, message: id, event: event))
        case .finished(let message):
            change(chat) { $0.answer = nil }
            await tell(message, chat, session)
            if message.facts != nil { await rememberContext(chat, session) }
        }
    }

    /// Tells clients about a step of the running answer.
    private func add(_ event: ChatEvent, _ chat: String, offset: Int? = nil) {
        guard let answer = running(chat)?.answer else { return }
        log.add(event.name, ChatStep(chat: chat, message: answer.id, offset: offset, event: event))
    }

    /// Tells clients about a card: of the running answer, or of an earlier one that is carried out now.
    func show(_ card: ActionCard, _ chat: String) async {
        let earlier = await session(chat)?.tree.messages.last { $0.cards.contains { $0.id == card.id } }
        guard var answer = running(chat)?.answer, earlier == nil || earlier?.id == answer.id else {
            guard let earlier else { return }
            return log.add("card", ChatStep(chat: chat, message: earlier.id, event: .card(shown(card))))
        }
        if let index = answer.cards.firstIndex(where: { $0.id == card.id }) {
            answer.cards[index] = card
        } else {
            answer.cards.append(card)
        }
        let shown = answer
        change(chat) { $0.answer = shown }
        add(.card(self.shown(card)), chat)
    }

    /// Tells clients about a whole message.
    func tell(_ message: AssistantMessage, _ chat: String, _ session: ChatSession) async {
        let siblings = await session.alternatives(to: message.id).map(\.id)
        let names = await library.names
        log.add("message", MessageEvent(chat: chat, message: body(message, chat, siblings, names)))
    }

    /// A message as clients see it.
    /// - Parameter names: the names of the models by family.
    func body(
        _ message: AssistantMessage, _ chat: String, _ siblings: [String], _ names: [String: String]
    ) -> MessageBody {
        var message = message
        message.cards = message.cards.map { shown($0) }
        let isRunning = running(chat)?.answer?.id == message.id
        let ending = isRunning ? nil : AnswerEnding(of: message, texts: assistant.chatSettings.texts)
        message.notices.removeAll { endings.contains($0) }
        if let facts = message.facts, facts.source == .local {
            let family = String(facts.model.prefix { $0 != "@" && $0 != ":" })
            message.facts?.model = names[family] ?? facts.model
        }
        return MessageBody(message, chat: chat, siblings: siblings, ending: ending)
    }

    /// The notices that an ending says in place of the message.
    private var endings: Set<String> { assistant.chatSettings.texts.endings }

    /// A card as clients see it.
    func shown(_ card: ActionCard) -> ActionCard {
        var card = card
        card.isWaiting = approvals.isWaiting(card.id)
        card.editable = assistant.actions.registry.action(card.tag).map { ActionRegistry.fields(of: $0) } ?? []
        return card
    }

    /// An open conversation with its messages; an answer on its way as clients have seen it.
    func snapshot(_ id: String, event: String) async throws -> OpenChatBody {
        let chat = try await openChat(id)
        let session = chat.session
        var messages = await session.messages
        let running = running(id)
        if let answer = running?.answer, let index = messages.firstIndex(where: { $0.id == answer.id }) {
            messages[index] = answer
        }
        let tree = await session.tree
        let names = await library.names
        let bodies = messages.map { body($0, id, tree.children(of: $0.parent).map(\.id), names) }
        let own = await session.settings
        let usage = messages.last { $0.facts != nil }?.facts?.usage
        return OpenChatBody(
            chat: await self.body(session), messages: bodies, phase: running?.phase,
            context: usage.map {
                ContextBody(usedTokens: $0.promptTokens + $0.generatedTokens, length: contextLength(id))
            }, settings: own, defaults: await defaults(of: session), answering: await answering(own, in: session),
            event: event)
    }
}
