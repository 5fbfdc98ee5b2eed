@testable import HearthAssistant

/// An answer of a model with what people see of it, its blocks, and what happens after approval.
struct ModelOutput: Sendable, CustomStringConvertible {
    let name: String
    let answer: String
    let visible: String
    /// The tags in the order of the answer.
    let tags: [ActionTag]
    /// The states of the cards in the order of the tags.
    let cards: [ActionCard.State]
    let malformed: Int
    let effects: [StoreKind: Int]

    var description: String { name }

    init(
        _ name: String, _ answer: String, visible: String, tags: [ActionTag] = [], cards: [ActionCard.State] = [],
        malformed: Int = 0, effects: [StoreKind: Int] = [:]
    ) {
        self.name = name
        self.answer = answer
        self.visible = visible
        self.tags = tags
        self.cards = cards
        self.malformed = malformed
        self.effects = effects
    }

    static let all = generated + written

    /// A language: the text before and after a block, a title, and a name.
    private static let languages: [(name: String, before: String, after: String, title: String)] = [
        ("English", "I will do that.", "Anything else?", "Call Anna"),
        ("German", "Das mache ich gern.", "Noch etwas?", "Anna anrufen: Grüße"),
        ("French", "C’est noté.", "Autre chose ?", "Appeler Anaïs à l’école"),
        ("Spanish", "¡Claro que sí!", "¿Algo más?", "Llamar a Íñigo"),
        ("Russian", "Хорошо, сделаю.", "Что-нибудь ещё?", "Позвонить Анне"),
        ("Greek", "Έγινε.", "Κάτι άλλο;", "Κλήση στην Άννα"),
        ("Arabic", "حسنًا، سأفعل ذلك.", "هل من شيء آخر؟", "الاتصال بآنا"),
        ("Hindi", "ठीक है, कर दूँगा।", "और कुछ?", "आना को फ़ोन करें"),
        ("Chinese", "好的,我来办。", "还有别的吗?", "给安娜打电话"),
        ("Japanese", "承知しました。", "ほかにありますか?", "アンナに電話する 📞👩‍👩‍👧"),
    ]

    /// The payload of each tag, and its effect.
    private static func payload(_ tag: ActionTag, _ title: String) -> (json: String, effects: [StoreKind: Int]) {
        switch tag {
        case .calendar:
            (
                #"{"action":"create","title":"\#(title)","start":"2026-11-25T15:00","end":"2026-11-25T16:00"}"#,
                [.calendar: 1]
            )
        case .reminder: (#"{"action":"create","title":"\#(title)","due":"2026-11-25T09:00"}"#, [.reminders: 1])
        case .note: (#"{"action":"create","title":"\#(title)","body":"a [list] {of} \"things\"]"}"#, [.notes: 1])
        case .habit: (#"{"action":"define","name":"\#(title)","frequency":"weekly"}"#, [.habits: 1])
        case .contactsSearch: (#"{"query":"\#(title)"}"#, [:])
        default: (#"{"query":"\#(title)"}"#, [:])
        }
    }

    /// Ten languages, six tags, seven places: 420 answers.
    private static let generated: [ModelOutput] = languages.flatMap { language in
        ActionTag.order.flatMap { tag -> [ModelOutput] in
            let (json, effects) = payload(tag, language.title)
            let block = "[\(tag):\(json)]"
            let (before, after) = (language.before, language.after)
            // The chat runs the web search.
            let isSearch = tag == .webSearch
            let cards: [ActionCard.State] = isSearch ? [] : [.done]
            func output(
                _ place: String, _ answer: String, _ visible: String, _ cards: [ActionCard.State], _ malformed: Int = 0,
                tags: [ActionTag] = [tag], effects: [StoreKind: Int] = [:]
            ) -> ModelOutput {
                ModelOutput(
                    "\(language.name) \(tag) \(place)", answer, visible: visible, tags: tags, cards: cards,
                    malformed: malformed, effects: effects)
            }
            return [
                output("alone", block, "", cards, effects: effects),
                output("at the end", "\(before)\n\n\(block)\n", before, cards, effects: effects),
                output("at the beginning", "\(block)\n\n\(after)", after, cards, effects: effects),
                output(
                    "between paragraphs", "\(before)\n\n\(block)\n\n\(after)", "\(before)\n\n\(after)", cards,
                    effects: effects),
                output("in a line", "\(before) \(block) \(after)", "\(before) \(after)", cards, effects: effects),
                output(
                    "in a code block", "\(before)\n```\n\(block)\n```\n\(after)",
                    "\(before)\n```\n\(block)\n```\n\(after)",
                    [], tags: []),
                output(
                    "cut off", "\(before)\n\n\(block.dropLast(3))", before, [], isSearch ? 0 : 1),
            ]
        }
    }
}
