/// Writes the results of actions for the model's next turn: bounded, and without texts of others unless they are marked as
/// such.
enum ResultText {
    /// The most characters of a result.
    static let limit = 2000
    /// The longest id that is written; a longer one costs more tokens than it is worth.
    private static let longestID = 64

    static func text(of card: ActionCard, items: [ActionCard.Item], change: RecordChange?, code: String?) -> String {
        let head = "\(card.tag): \(progress(card, change, code))"
        var lines = [head]
        var length = head.count
        for (number, item) in items.enumerated() {
            let id = item.id.isEmpty || item.id.utf8.count > longestID ? "" : " (id \(item.id))"
            let detail = item.detail.isEmpty ? "" : " — \(item.detail)"
            let line = "\(number + 1). \(item.title)\(detail)\(id)"
            guard length + line.count + 1 <= limit else {
                lines.append("(\(items.count - number) more)")
                break
            }
            lines.append(line)
            length += line.count + 1
        }
        return lines.joined(separator: "\n")
    }

    private static func progress(_ card: ActionCard, _ change: RecordChange?, _ code: String?) -> String {
        switch card.state {
        case .done:
            if let change, change.before == nil, change.id.utf8.count <= longestID {
                return "done: \(card.title) (id \(change.id))"
            }
            return "done: \(card.title)"
        case .declined: return "the user declined it"
        case .failed: return "not done" + (code.map { " (\($0))" } ?? "")
        case .unknown: return "it is unknown whether it happened"
        case .undone: return "undone"
        case .proposed, .notCarriedOut: return "not carried out"
        }
    }
}
