import Testing

@testable import HearthAssistant
@testable import HearthCommand

@Suite struct CardPainterTests {
    private static let card = ActionCard(
        id: "1", tag: .reminder, title: "New reminder",
        fields: [
            .init(name: "title", label: "Title", value: "Call Anna"),
            .init(name: "due", label: "Due", value: "tomorrow at nine", source: "web page example.org"),
        ], state: .proposed, payload: "{}", note: "No alarm rings.")

    private func box(_ card: ActionCard, _ columns: Int = 41) -> [String] {
        CardPainter(columns: columns).box(card, number: 1).map(\.text)
    }

    @Test func aCardIsABox() {
        #expect(
            box(Self.card) == [
                "╭─ 1 New reminder ─────────────────────╮", "│ Title  Call Anna                     │",
                "│ Due    tomorrow at nine              │", "│        from web page example.org     │",
                "│                                      │", "│ No alarm rings.                      │",
                "╰──────────────────────────────────────╯",
            ])
    }

    @Test(arguments: [24, 25, 30, 41, 60, 77, 200]) func noLineLeavesTheBox(_ columns: Int) {
        var card = Self.card
        card.title = String(repeating: "長い題名 ", count: 20)
        card.fields.append(.init(name: "x", label: String(repeating: "label ", count: 9), value: "a\nb\u{1B}[2J\n👩‍👩‍👧 語"))
        card.items = [
            .init(title: String(repeating: "item ", count: 30), detail: "detail", url: "https://example.org/\u{7}")
        ]
        for state in [ActionCard.State.proposed, .done, .failed, .notCarriedOut, .unknown] {
            card.state = state
            let lines = box(card, columns)
            #expect(Set(lines.map { VirtualScreen.cells(of: $0) }) == [max(14, min(76, columns - 1))])
            #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy(TerminalText.isAllowed) })
        }
    }

    @Test func withoutABoxACardIsLines() {
        #expect(
            CardPainter.plain(Self.card, number: 2) == [
                "[2] New reminder (waits for your decision)", "    Title: Call Anna",
                "    Due: tomorrow at nine  (from web page example.org)", "    No alarm rings.",
            ])
    }
}
