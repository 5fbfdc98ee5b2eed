// The cards of actions in their states, their buttons and the questions about them.
import Foundation
import HearthUI
import SwiftUI
import Testing

@testable import HearthAssistant

/// The cards of actions in their states, and their buttons.
@MainActor @Suite(.timeLimit(.minutes(1))) struct CardTests {
    nonisolated private static func note(_ state: ActionCard.State, canUndo: Bool = false) -> ActionCard {
        var card = ActionCard(
            id: state.rawValue, tag: .note, title: "New note",
            fields: [
                .init(name: "title", label: "Title", value: "Spare key"),
                .init(name: "body", label: "Text", value: "At Anna’s", source: "contacts"),
            ], state: state, payload: "{}", canUndo: canUndo)
        card.code = "new-note"
        return card
    }

    private struct Buttons: Sendable {
        var card: ActionCard
        var isWaiting = false
        var keys: [String] = []
    }

    /// As `actionsOf` of the page has them; the page's form of the values has no view here.
    nonisolated private static let states = [
        Buttons(
            card: note(.proposed), isWaiting: true,
            keys: ["card.approve", "card.decline", "card.approve-chat", "card.approve-always"]),
        Buttons(card: note(.proposed)), Buttons(card: note(.done, canUndo: true), keys: ["undo"]),
        Buttons(card: note(.done)), Buttons(card: note(.declined), keys: ["card.perform"]),
        Buttons(card: note(.failed), keys: ["card.perform"]),
        Buttons(card: note(.notCarriedOut), keys: ["card.perform"]),
        Buttons(card: note(.undone), keys: ["card.perform"]), Buttons(card: note(.unknown)),
    ]

    @Test(arguments: Look.all, states.indices) func eachStateHasItsButtons(_ look: Look, _ index: Int) throws {
        let state = Self.states[index]
        var done: [String] = []
        let actions = CardActions(isWaiting: state.isWaiting) {
            done.append("\($0)")
        } perform: {
            done.append("perform")
        } undo: {
            done.append("undo")
        }
        let tree = look.show(ActionCardView(state.card, actions: actions))
        let word = state.isWaiting ? "waiting" : state.card.state.rawValue
        #expect(
            Array(tree.texts.prefix(6)) == [
                look["action.new-note"], look["card.state.\(word)"], look["card.field.title"], "Spare key",
                look["card.field.body"], "At Anna’s",
            ])
        #expect(tree.buttons.map(\.name) == state.keys.map { look[$0] })
        #expect(tree.layout(of: look["action.new-note"], look["card.state.\(word)"]) == look.row)
        look.expectGood(tree)
        // VoiceOver: a container with a name, a heading, and one element for each value with its name.
        let container = try #require(tree.nodes("element").first)
        #expect(container.label == look["card.action"])
        #expect(tree.spoken.contains("\(look["action.new-note"]) | header"))
        #expect(tree.spoken.contains("\(look["card.field.title"]), Spare key"))
        let origin = "\(look["card.origin.title"]): contacts"
        #expect(tree.spoken.contains("\(look["card.field.body"]), At Anna’s, \(origin)"))
        for key in state.keys { #expect(tree.tap(look[key])) }
        let calls = [
            "card.approve": "approve", "card.decline": "decline", "card.approve-chat": "approveForConversation",
            "card.approve-always": "always", "undo": "undo", "card.perform": "perform",
        ]
        #expect(done == state.keys.map { calls[$0] })
    }

    /// The codes with which no button offers an action: nothing can come of it.
    @Test(arguments: ["private-search", "no-search", "not-offered", "no-such-action"])
    func anActionThatIsNotOfferedHasNoButton(_ code: String) {
        for look in Look.all {
            var card = Self.note(.declined)
            card.add([.init(code, "It is not offered.")])
            let tree = look.show(ActionCardView(card))
            #expect(tree.buttons.isEmpty && tree.texts.last == look["remark.\(code)"])
            look.expectGood(tree)
        }
    }

    @Test(arguments: Look.all) func valuesAreInTheLanguage(_ look: Look) {
        var card = ActionCard(
            id: "1", tag: .calendar, title: "New event",
            fields: [
                .init(name: "start", label: "Begins", value: "-"),
                .init(name: "recurrence", label: "Repeats", value: "-"),
                .init(name: "alarmMinutes", label: "Alarm", value: "-"),
                .init(name: "priority", label: "Priority", value: "-"),
                .init(name: "amount", label: "Amount", value: "-"),
                .init(name: "frequency", label: "How often", value: "-"),
                .init(name: "location", label: "Place", value: "Room 4"),
            ], state: .done, payload: "{}")
        card.code = "new-event"
        let raw = [
            "2026-11-24/2026-11-26", "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=3", "90", "1", "2.5", "daily",
        ]
        for (index, text) in raw.enumerated() { card.fields[index].raw = text }
        card.add([
            .init("past", "The time is in the past."),
            .init("same-time", "At the same time.", ["", "2026-11-24", "Visit", "2026-11-24", "2"]),
        ])
        let tree = look.show(CalendarEventCard(card))
        look.expectGood(tree)
        let days = look("Tuesday and Thursday", "Dienstag und Donnerstag")
        let day = look("Tue, Nov 24, 2026", "Di. 24. Nov. 2026")
        #expect(
            // The system's data decide on the comma behind a weekday.
            tree.texts.map { $0.replacingOccurrences(of: "., ", with: ". ") } == [
                look["action.new-event"], look["card.state.done"],
                look["card.field.start"], "\(day) – \(look("Wed, Nov 25, 2026", "Mi. 25. Nov. 2026"))",
                look["card.field.recurrence"],
                [look["repeat.WEEKLY"], look["repeat.on", ["days": days]], look["repeat.times.other", ["n": "3"]]]
                    .joined(separator: ", "),
                look["card.field.alarmMinutes"], look["alarm.minutes.other", ["n": "90"]],
                look["card.field.priority"], look["priority.high"],
                look["card.field.amount"], look.number("2.5"),
                look["card.field.frequency"], look["habit.daily"],
                look["card.field.location"], "Room 4",
                look["remark.past"] + " "
                    + look[
                        "remark.same-time.more",
                        ["events": "\(look["action.events"]) (\(day)); Visit (\(day))", "more": "2"]],
            ])
    }

    /// Addresses of other kinds than the web's would start programs.
    @Test(arguments: Look.all) func resultsLeadToPages(_ look: Look) {
        var card = ActionCard(id: "1", tag: .webSearch, title: "Web search", state: .done, payload: "{}")
        card.items = [
            .init(title: "Tide table", detail: "High water at noon", url: "https://example.org/tides"),
            .init(title: "Call", url: "tel:112"), .init(title: "Plain"),
        ]
        card.code = "web-search"
        let tree = look.show(WebSearchCard(card))
        #expect(tree.nodes("link").map(\.value) == ["https://example.org/tides"])
        #expect(
            tree.texts.dropFirst(2) == ["Tide table", "High water at noon", "Call", "Plain"])
        look.expectGood(tree)
    }

    /// An app's own action has its own words, in each language.
    @Test(arguments: Look.all) func anOwnActionKeepsItsWords(_ look: Look) {
        var card = ActionCard(
            id: "1", tag: "GARDEN", title: "Water plants", fields: [.init(name: "amount", label: "Litres", value: "3")],
            state: .failed, payload: "{}")
        card.note = "The tap is closed."
        let tree = look.show(ActionCardView(card))
        #expect(tree.texts.first == "Water plants" && tree.texts.contains("Litres"))
        #expect(tree.texts.contains("The tap is closed.") && tree.texts.contains(look["card.state.failed"]))
    }

    @Test func aCardOfAKindShowsNoOther() {
        for tag in ActionTag.order {
            let card = ActionCard(id: "1", tag: tag, title: "It", state: .done, payload: "{}")
            let look = Look.english
            let shown = [
                (ActionTag.calendar, look.show(CalendarEventCard(card))), (.reminder, look.show(ReminderCard(card))),
                (.note, look.show(NoteCard(card))), (.contactsSearch, look.show(ContactCard(card))),
                (.habit, look.show(HabitCard(card))), (.webSearch, look.show(WebSearchCard(card))),
            ]
            #expect(shown.filter { !$1.texts.isEmpty }.map(\.0) == [tag])
        }
    }

    @Test func questionsWaitForTheirAnswers() async {
        let approvals = ChatApprovals()
        let cards = [ActionCard.State.proposed, .done].map { Self.note($0) }
        let answers = cards.map { card in Task { await approvals.decide(card) } }
        await until { approvals.waiting.count == 2 }
        #expect(approvals.isWaiting(cards[0].id) && approvals.isWaiting(cards[1].id))
        approvals.answer(.always, for: cards[1].id)
        #expect(await answers[1].value == .always && approvals.waiting.map(\.id) == [cards[0].id])
        approvals.answer(.approve, for: "another")
        #expect(approvals.waiting.count == 1)
        answers[0].cancel()
        #expect(await answers[0].value == .decline && approvals.waiting.isEmpty)
    }
}
