import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthDatabase
import HearthInference

/// The action blocks of one answer outside of a conversation: cards in place of the blocks.
///
/// At a terminal each card is asked about. Elsewhere nothing is carried out; `--approve` makes the assistant answer instead.
struct AnswerActions: Sendable {
    private let chat: Chat
    private let parts: ConversationParts
    private let context: CommandContext

    init(_ chat: Chat, _ parts: ConversationParts, _ context: CommandContext) {
        (self.chat, self.parts, self.context) = (chat, parts, context)
    }

    /// The tags whose blocks become cards. With a system prompt or a shape of the user's own, blocks are text.
    var tags: [ActionTag] {
        guard chat.systemPrompt == nil, chat.constraint == nil else { return [] }
        return parts.configuration.assistant.offeredTags
    }

    /// Shows the cards of the blocks, and carries out what the user approves.
    func take(_ blocks: [ScannedBlock], _ reason: FinishReason) async throws {
        let approval = TerminalApproval()
        let setup = try await AssistantSetup(
            parts, thinks: chat.isThinkingEnabled, preApproved: [], approval: approval, in: context)
        do {
            try await take(blocks, reason, setup, approval)
        } catch {
            await setup.home.database.close()
            throw error
        }
        await setup.home.database.close()
    }

    private func take(
        _ blocks: [ScannedBlock], _ reason: FinishReason, _ setup: AssistantSetup, _ approval: TerminalApproval
    ) async throws {
        let runner = setup.assistant.actions
        let turn = ActionTurn(
            conversation: AssistantHome.newID(), message: AssistantHome.newID(), now: context.time.now,
            finish: reason, isPrivate: chat.route.isPrivate)
        guard chat.hasPerson(context), reason.isComplete else {
            return try list(await runner.notCarriedOut(blocks, in: turn), isComplete: reason.isComplete)
        }
        let screen = CardScreen(context)
        let registry = runner.registry
        let question = CardQuestion(
            reader: AssistantRun.lineReader(context, history: nil), console: context.console,
            environment: context.environment
        ) { tag in
            registry.action(tag).map { ActionRegistry.fields(of: $0) } ?? []
        }
        approval.use { card in
            screen.show(card)
            return await question.decision(on: card)
        }
        approval.askAtOnce(true)
        let outcome = await runner.run(blocks, in: turn)
        for card in outcome.cards { screen.show(card) }
        // A search belongs to a conversation, whose next answer it leads to.
        for card in await runner.notCarriedOut(blocks.filter { $0.tag == .webSearch }, in: turn) { screen.show(card) }
        for flaw in outcome.malformed {
            context.console.say("(\(AssistantTexts.filled(AssistantTexts().malformed, flaw.reason)))")
        }
    }

    /// Lists cards of actions that are not carried out.
    private func list(_ cards: [ActionCard], isComplete: Bool) throws {
        guard chat.format == .text else { return try cards.forEach { try context.console.emit(ChatEvent.card($0)) } }
        for card in cards { for line in CardPainter.plain(card) { context.console.say(line) } }
        let tags = Set(cards.map(\.tag.rawValue)).sorted()
        guard isComplete, !tags.isEmpty else { return }
        context.console.say(
            "Without a terminal nothing is done that needs your yes; --approve \(tags.joined(separator: ",")) gives it."
        )
    }
}

/// Shows cards outside of a conversation.
private struct CardScreen: Sendable {
    private let context: CommandContext
    private let shown = Locked<[String: ActionCard]>([:])

    init(_ context: CommandContext) { self.context = context }

    /// Shows a card; only its new state, if its values are on the screen already.
    func show(_ card: ActionCard) {
        let console = context.console
        let before = shown.withLock { $0.updateValue(card, forKey: card.id) }
        if let before, card.items.isEmpty, before.note == card.note, before.fields == card.fields {
            guard before.state != card.state else { return }
            let undo = card.canUndo && card.state == .done ? " `hearth undo` takes it back." : ""
            let sentence = card.state.sentence
            return console.complain("\(sentence.prefix(1).uppercased())\(sentence.dropFirst()).\(undo)")
        }
        guard let window = console.window else {
            for line in CardPainter.plain(card) { console.complain(line) }
            return
        }
        let hasLinks = TerminalFeatures(environment: context.environment).hasLinks
        let lines = CardPainter(columns: window.columns).box(card).map { $0.escaped(links: hasLinks) + "\n" }
        // A closed output ends the answer that follows.
        try? console.write(lines.joined())
    }
}
