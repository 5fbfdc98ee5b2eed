import Foundation
import HearthBase

extension ActionPlanner {
    /// The cards of blocks whose actions are not offered: what the model wanted, and why nothing comes of it.
    func unoffered(_ blocks: [ScannedBlock]) -> [ActionCard] {
        var seen: Set<String> = []
        return blocks.filter { isUnoffered($0) && seen.insert("\($0.tag):\($0.payload)").inserted }
            .prefix(ActionRunner.maximumBlocks).map { card(of: $0) }
    }

    private func isUnoffered(_ block: ScannedBlock) -> Bool { !block.isOffered || registry.action(block.tag) == nil }

    private func card(of block: ScannedBlock) -> ActionCard {
        // A payload that cannot be read has no values to show.
        let members = (try? JSONValue(parsing: Data(block.payload.utf8)))?.members ?? [:]
        let fields = members.prefix(8).compactMap { name, value in
            value.scalarText.map { text in
                let label = PayloadText.cleaned(String(name.prefix(40)))
                return ActionCard.Field(name: name, label: label, value: PayloadText.cleaned(String(text.prefix(500))))
            }
        }
        var card = ActionCard(
            id: key(of: block), tag: block.tag, title: registry.label(block.tag.title), fields: fields,
            state: .declined, payload: block.payload)
        card.add([reason(for: block.tag)])
        return card
    }

    private func reason(for tag: ActionTag) -> ActionCard.Remark {
        if tag == .webSearch, turn.isPrivate {
            return .init("private-search", "A private conversation makes no web search.")
        }
        if tag == .webSearch { return .init("no-search", "No web search is set up.") }
        if ActionTag.order.contains(tag) {
            return .init("not-offered", "The settings offer no such action in this conversation.")
        }
        return .init("no-such-action", "There is no such action.")
    }
}

extension ActionCard {
    /// Whether its action was not offered, so that nothing can come of it.
    package var isUnoffered: Bool {
        let codes: Set = ["private-search", "no-search", "not-offered", "no-such-action"]
        return state == .declined && (remarks ?? []).contains { codes.contains($0.code) }
    }
}

extension JSONValue {
    /// The text of a text, a number or a flag.
    fileprivate var scalarText: String? {
        switch self {
        case .string(let text): text
        case .number(let digits): digits
        case .boolean(let flag): "\(flag)"
        default: nil
        }
    }
}
