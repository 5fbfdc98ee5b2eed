import Foundation
import HearthBase

extension ActionRunner {
    /// The cards of blocks that are not carried out: after a stop, a time-out, an error or the length limit. Blocks that are
    /// cut off or cannot be used have none.
    package func notCarriedOut(_ blocks: [ScannedBlock], in turn: ActionTurn) async -> [ActionCard] {
        let planner = planner(of: turn)
        var cards = planner.unoffered(blocks)
        for tag in planner.registry.tags {
            for block in blocks where block.tag == tag && block.isComplete && block.isOffered {
                guard cards.count < Self.maximumBlocks else { return cards }
                switch await planner.prepared(tag, block.payload, key: planner.key(of: block)) {
                case .planned(let planned):
                    var card = planned.card.withOutsideNote(turn.outside)
                    card.state = .notCarriedOut
                    cards.append(card)
                case .failed(let card, _, _, _): cards.append(card)
                case .malformed, nil: break
                }
            }
        }
        return cards
    }

    /// What a card would say with another payload. Changes nothing.
    /// - Throws: ``AssistantError``: `unusable-payload` with the field, `unusable-recurrence`, and what planning throws.
    package func checked(_ card: ActionCard, payload: String, in turn: ActionTurn) async throws -> ActionCard {
        try await planner(of: turn).card(card.tag, payload, key: card.id)
    }

    /// Carries out a card on the user's request, which is its approval. If the payload was edited, or the action would no
    /// longer do what the card says, the user is asked again.
    package func perform(_ card: ActionCard, in turn: ActionTurn) async -> ActionCard {
        guard active.insert(card.id).inserted else { return card }
        defer { active.remove(card.id) }
        if let settled = await earlier(card.id, turn), settled.state == .done { return settled }
        let planner = planner(of: turn)
        switch await planner.prepared(card.tag, card.payload, key: card.id) {
        case .planned(let planned):
            func values(_ card: ActionCard) -> [[String]] { card.fields.map { [$0.name, $0.value] } }
            let isShown = card.title == planned.card.title && values(card) == values(planned.card)
            let decided =
                isShown && policy.settings[card.tag] != .never
                ? Decided(action: planned, isApproved: true)
                : await decided(planned, planner, asksAlways: true) { _ in }
            guard decided.isApproved else { return decided.action.card }
            return await carryOut(decided.action, in: turn).card
        case .failed(let failed, _, _, _): return failed
        case .malformed(let reason):
            var failed = card
            failed.note = reason
            return failed
        case nil: return card
        }
    }
}
