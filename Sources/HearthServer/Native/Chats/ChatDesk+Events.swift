import HearthAssistant
import HearthBase
import HearthInference

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
            guard let answer = running(chat)?.answer else { return }
            log.add("phase", PhaseEvent(chat: chat, message: answer.id, phase: PhaseBody(phase)))
        case .thinking(let piece):
            change(chat) { running in
                guard let answer = running.answer else { return }
                log.add(
                    "thinking",
                    PieceEvent(chat: chat, message: answer.id, offset: running.thinkingLength, text: piece))
                running.thinkingLength += piece.utf16.count
                running.answer?.thinkingContent += piece
                running.answer?.isThinking = true
            }
        case .thinkingEnded:
            change(chat) { running in
                running.answer?.isThinking = false
                guard let answer = running.answer else { return }
                log.add("thinking-ended", MessageIDEvent(chat: chat, message: answer.id))
            }
        case .text(let piece):
            change(chat) { running in
                guard let answer = running.answer else { return }
                log.add(
                    "text", PieceEvent(chat: chat, message: answer.id, offset: running.textLength, text: piece))
                running.textLength += piece.utf16.count
                running.answer?.content += piece
            }
        case .cleared:
            change(chat) { running in
                running.textLength = 0
                running.answer?.content = ""
                guard let answer = running.answer else { return }
                log.add("cleared", MessageIDEvent(chat: chat, message: answer.id))
            }
        case .card(let card): await show(card, chat)
        case .notice(let text):
            change(chat) { running in
                running.answer?.notices.append(text)
                guard let answer = running.answer else { return }
                log.add("notice", NoticeEvent(chat: chat, message: answer.id, text: text))
            }
        case .failed(let failure):
            log.add(
                "failed",
                FailedEvent(chat: chat, message: running(chat)?.answer?.id, failure: FailureBody(failure)))
        case .removed(let id):
            change(chat) { $0.answer = nil }
            log.add("message-removed", MessageIDEvent(chat: chat, message: id))
        case .finished(let message):
            change(chat) { $0.answer = nil }
            await tell(message, chat, session)
            if message.facts != nil { await rememberContext(chat, session) }
        }
    }

    /// Tells clients about a card: of the running answer, or of an earlier one that is carried out now.
    func show(_ card: ActionCard, _ chat: String) async {
        let earlier = await session(chat)?.tree.messages.last { $0.cards.contains { $0.id == card.id } }
        guard var answer = running(chat)?.answer, earlier == nil || earlier?.id == answer.id else {
            guard let earlier else { return }
            return log.add("card", CardEvent(chat: chat, message: earlier.id, card: body(card)))
        }
        if let index = answer.cards.firstIndex(where: { $0.id == card.id }) {
            answer.cards[index] = card
        } else {
            answer.cards.append(card)
        }
        let shown = answer
        change(chat) { $0.answer = shown }
        log.add("card", CardEvent(chat: chat, message: answer.id, card: body(card)))
    }

    /// Tells clients about a whole message.
    func tell(_ message: AssistantMessage, _ chat: String, _ session: ChatSession) async {
        let siblings = await session.alternatives(to: message.id).map(\.id)
        log.add("message", MessageEvent(chat: chat, message: body(message, chat, siblings)))
    }

    func body(_ message: AssistantMessage, _ chat: String, _ siblings: [String]) -> MessageBody {
        MessageBody(message, chat: chat, siblings: siblings, cards: message.cards.map { body($0) })
    }

    func body(_ card: ActionCard) -> CardBody {
        let action = assistant.actions.registry.action(card.tag)
        return CardBody(
            card, isWaiting: approvals.isWaiting(card.id),
            editable: action.map { ActionRegistry.fields(of: $0) } ?? [])
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
        let bodies = messages.map { body($0, id, tree.children(of: $0.parent).map(\.id)) }
        let usage = messages.last { $0.facts != nil }?.facts?.usage
        return OpenChatBody(
            chat: await self.body(session), messages: bodies, phase: running?.phase.map { PhaseBody($0) },
            context: usage.map {
                ContextBody(usedTokens: $0.promptTokens + $0.generatedTokens, length: contextLength(id))
            }, event: event)
    }
}
