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
    let chat: Chat
    let parts: ConversationParts
    let context: CommandContext
    /// The texts beside the question that other people may have written.
    var outside: [OutsideText] = []

    /// The tags of the actions on offer. `nil` with a system prompt or a shape of the user's own, where blocks are text.
    var tags: [ActionTag]? {
        guard chat.systemPrompt == nil, !chat.isConstrained else { return nil }
        return parts.configuration.assistant.offeredTags(isPrivate: chat.route.isPrivate)
    }

    /// Shows the cards of the blocks, and carries out what the user approves.
    func take(_ blocks: [ScannedBlock], _ reason: FinishReason) async throws {
        let approval = TerminalApproval()
        let setup = try await AssistantSetup(
            parts, thinks: chat.isThinkingEnabled, preApproved: [], isPrivate: chat.route.isPrivate, approval: approval,
            in: context)
        try await withEnding({ await setup.home.database.close() }) {
            try await take(blocks, reason, setup, approval)
        }
    }

    private func take(
        _ blocks: [ScannedBlock], _ reason: FinishReason, _ setup: AssistantSetup, _ approval: TerminalApproval
    ) async throws {
        let runner = setup.assistant.actions
        let turn = ActionTurn(
            conversation: ActionCard.newID(), message: ActionCard.newID(), now: context.time.now,
            finish: reason,
            outside: outside,
            isPrivate: chat.route.isPrivate)
        guard chat.hasPerson(context), reason.isComplete else {
            return try list(await runner.notCarriedOut(blocks, in: turn), isComplete: reason.isComplete)
        }
        let screen = CardScreen(context.console)
        let question = CardQuestion(
            reader: AssistantRun.lineReader(context, history: nil), console: context.console,
            environment: context.environment, registry: runner.registry)
        approval.use { card in
            screen.show(card)
            return await question.decision(on: card)
        }
        approval.askAtOnce(true)
        let outcome = await runner.run(blocks, in: turn)
        for card in outcome.cards { screen.show(card) }
        // A search belongs to a conversation, whose next answer it leads to.
        if tags?.contains(.webSearch) == true {
            for card in await runner.notCarriedOut(blocks.filter { $0.tag == .webSearch }, in: turn) {
                screen.show(card)
            }
        }
        for flaw in outcome.malformed {
            context.console.say("(\(AssistantTexts.filled(AssistantTexts().malformed, flaw.reason)))")
        }
    }

    /// Lists cards of actions that are not carried out.
    private func list(_ cards: [ActionCard], isComplete: Bool) throws {
        guard chat.format == .text else { return try cards.forEach { try context.console.emit(ChatEvent.card($0)) } }
        context.console.list(cards, unapproved: isComplete ? cards.filter { !$0.isUnoffered } : [])
    }
}

/// Shows cards outside of a conversation.
private struct CardScreen: Sendable {
    private let console: Console
    private let shown = Locked<[String: ActionCard]>([:])

    init(_ console: Console) { self.console = console }

    /// Shows a card; only its new state, if its values are on the screen already.
    func show(_ card: ActionCard) {
        let before = shown.withLock { $0.updateValue(card, forKey: card.id) }
        if let before, card.items.isEmpty, before.note == card.note, before.fields == card.fields {
            guard before.state != card.state else { return }
            return console.complain(card.outcome(undo: "`hearth undo`"))
        }
        console.show(card)
    }
}
