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
            let id = isShown(item.id) ? " (id \(item.id))" : ""
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

    /// Whether the model sees an id: one of a shared calendar is a text of others, and could be a sentence.
    private static func isShown(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= longestID
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                    UInt8(ascii: "_"), UInt8(ascii: "@"):
                    true
                default: false
                }
            }
    }

    private static func progress(_ card: ActionCard, _ change: RecordChange?, _ code: String?) -> String {
        switch card.state {
        case .done:
            if let change, change.before == nil, isShown(change.id) {
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
