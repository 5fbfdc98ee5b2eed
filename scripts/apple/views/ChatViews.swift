import Foundation
import HearthAssistant
import HearthBase
import HearthInference
import SwiftUI

@testable import HearthUI

/// What the views of a chat show, and what their buttons do.
@MainActor enum ChatViews {
    static func run() async {
        do {
            try await answering()
            try await approving(.approve)
            try await approving(.decline)
            try await withoutModel()
            try await stopping()
        } catch {
            Checks.fail("\(error)", #fileID, #line)
        }
        cards()
        await approvals()
    }

    private static func chat(
        _ engine: any InferenceEngine, _ approvals: ChatApprovals
    ) async throws -> (Assistant, ChatViewModel) {
        let assistant = try await Assistant(home: nil, engine: engine, approval: approvals)
        return (assistant, ChatViewModel(try await assistant.session()))
    }

    /// A question with its answer and its thoughts.
    private static func answering() async throws {
        let engine = PretendedEngine([.thinking("The user greets."), .text("Hello "), .text("Anna")])
        let approvals = ChatApprovals()
        let (assistant, chat) = try await chat(engine, approvals)
        let tree = ViewTree(ChatView(chat, approvals: approvals))
        await tree.runTasks()
        expect(tree.texts, ["New conversation", "Question"])
        expect(tree.spoken, ["New conversation | header", "Question", "Send | button | dimmed"])
        expect(!tree.tap("Send"))
        expect(tree.write("  "))
        expect(!tree.tap("Send"))
        expect(tree.write("Hello?"))
        expect(tree.tap("Send"))
        expect(tree.nodes("field").first?.value, "")
        expect(tree.buttons.map(\.name).contains("Stop"))
        await chat.finished()
        tree.render()
        expect(tree.texts.contains("Hello?") && tree.texts.contains("Hello Anna"))
        expect(tree.spoken.contains("You: Hello?") && tree.spoken.contains("Answer: Hello Anna"))
        expect(!tree.texts.contains("The user greets."))
        expect(tree.tap("Thoughts"))
        expect(tree.texts.contains("The user greets."))
        expect(tree.tap("Thoughts"))
        expect(!tree.texts.contains("The user greets."))
        // The return key sends, too.
        expect(tree.write("Again"))
        tree.submit()
        await chat.finished()
        expect(await engine.asked.count, 2)
        _ = assistant
    }

    /// An action waits for its card's buttons.
    private static func approving(_ decision: ActionDecision) async throws {
        let engine = PretendedEngine([.text("I note it. [NOTE_ACTION:{\"title\":\"Key\",\"body\":\"At Anna's\"}]")])
        let approvals = ChatApprovals()
        let (assistant, chat) = try await chat(engine, approvals)
        let tree = ViewTree(ChatView(chat, approvals: approvals))
        chat.sendMessage("Note that the key is at Anna's")
        await until { !approvals.waiting.isEmpty && chat.messages.last?.cards.isEmpty == false }
        tree.render()
        expect(tree.texts.contains("New note") && tree.texts.contains("Waiting for you"))
        expect(tree.texts.contains("Key") && tree.texts.contains("At Anna's"))
        expect(tree.nodes("menu").flatMap(\.texts), ["More choices", "Approve in this conversation", "Always approve"])
        expect(tree.tap(decision == .approve ? "Approve" : "Decline"))
        await chat.finished()
        tree.render()
        expect(approvals.waiting.isEmpty)
        expect(tree.texts.contains(decision == .approve ? "Done" : "Declined"))
        let button = decision == .approve ? "Undo" : "Do it now"
        expect(tree.tap(button))
        await until {
            tree.render()
            return tree.texts.contains(decision == .approve ? "Undone" : "Done")
        }
        _ = assistant
    }

    /// Without a model, a banner leads to the models.
    private static func withoutModel() async throws {
        let (assistant, chat) = try await chat(NoModel(), ChatApprovals())
        var asked = 0
        let tree = ViewTree(ChatView(chat) { asked += 1 }, locale: "de")
        chat.sendMessage("Hallo?")
        await chat.finished()
        tree.render()
        expect(tree.texts.contains("Noch kann kein Modell antworten."))
        expect(tree.texts.contains(Words(Locale(identifier: "de"))("ending.model-not-loaded")))
        let buttons = tree.buttons.filter { $0.name == "Modell laden" }
        expect(buttons.count, 2)
        for button in buttons { button.action?() }
        expect(asked, 2)
        expect(tree.tap("Schließen"))
        expect(!tree.texts.contains("Noch kann kein Modell antworten."))
        _ = assistant
    }

    /// An answer that does not end is stopped, and says so.
    private static func stopping() async throws {
        let (assistant, chat) = try await chat(Endless(), ChatApprovals())
        let tree = ViewTree(ChatView(chat))
        chat.sendMessage("Count")
        await until { chat.messages.last?.content.isEmpty == false }
        tree.render()
        expect(tree.spoken.contains("Writing") || tree.spoken.contains("Waiting"))
        expect(tree.tap("Stop"))
        await chat.finished()
        tree.render()
        expect(tree.texts.contains("You stopped this answer."))
        expect(!tree.buttons.map(\.name).contains("Stop"))
        expect(tree.buttons.map(\.name).contains("Try again"))
        _ = assistant
    }

    /// Cards of each kind, in both languages.
    private static func cards() {
        var card = ActionCard(
            id: "1", tag: .calendar, title: "New event",
            fields: [
                .init(name: "title", label: "Title", value: "Lunch", source: "web page example.org"),
                .init(name: "start", label: "Starts", value: "Tue 1 Dec 2026"),
                .init(name: "recurrence", label: "Repeats", value: "FREQ=WEEKLY"),
            ], state: .done, payload: "{}", canUndo: true)
        card.code = "new-event"
        card.fields[1].raw = "2026-12-01/2026-12-03"
        card.fields[2].raw = "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;COUNT=5"
        var undone = 0
        let actions = CardActions { undone += 1 }
        let tree = ViewTree(CalendarEventCard(card, actions: actions))
        expect(tree.texts.prefix(2), ["New event", "Done"])
        expect(tree.texts.contains("Every 2 weeks, on Monday and Friday, 5 times"))
        expect(tree.spoken.contains("Title, Lunch, Where this value comes from: web page example.org"))
        expect(tree.tap("Undo"))
        expect(undone, 1)
        let german = ViewTree(CalendarEventCard(card, actions: actions), locale: "de")
        expect(german.texts.prefix(3), ["Neuer Termin", "Erledigt", "Titel"])
        expect(german.texts.contains("Alle 2 Wochen, am Montag und Freitag, 5-mal"))
        expect(german.texts.contains { $0.contains("2026") && $0.contains("–") })
        // A card of another kind shows nothing there.
        expect(ViewTree(NoteCard(card)).texts, [])
        let kinds: [(ActionTag, (ActionCard) -> any View)] = [
            (.calendar, { CalendarEventCard($0) }), (.reminder, { ReminderCard($0) }), (.note, { NoteCard($0) }),
            (.contactsSearch, { ContactCard($0) }), (.habit, { HabitCard($0) }), (.webSearch, { WebSearchCard($0) }),
        ]
        for (tag, view) in kinds {
            for state in ActionCard.State.allCases {
                let card = ActionCard(id: "2", tag: tag, title: "Title", state: state, payload: "{}")
                let tree = ViewTree(view(card))
                expect(tree.texts.first, "Title")
                let can = [.declined, .failed, .notCarriedOut, .undone].contains(state)
                expect(tree.buttons.map(\.name), can ? ["Do it now"] : [])
            }
        }
        // The address of a result is opened only if it is one of the web.
        let items = ["https://example.org/a", "javascript:alert(1)", "file:///etc/passwd", "no address", nil]
        let found = ActionCard(
            id: "3", tag: .webSearch, title: "Web search",
            items: items.map { ActionCard.Item(title: "page", url: $0) }, state: .done, payload: "{}")
        expect(ViewTree(WebSearchCard(found)).nodes("link").compactMap(\.value), ["https://example.org/a"])
        // Values that are no dates, rules or numbers are shown as they are.
        for raw in ["", "/", "9999999999", "2026-13-45", "FREQ=WEEKLY;BYDAY=XX", "FREQ", "18446744073709551616"] {
            for name in ["start", "due", "recurrence", "alarmMinutes", "priority", "amount", "frequency"] {
                var odd = card
                odd.fields = [.init(name: name, label: "Label", value: "as written")]
                odd.fields[0].raw = raw
                expect(ViewTree(CalendarEventCard(odd)).texts.count >= 4)
            }
        }
    }

    /// Decisions reach their questions, and a cancelled question declines.
    private static func approvals() async {
        let approvals = ChatApprovals()
        let card = ActionCard(id: "1", tag: .note, title: "New note", state: .proposed, payload: "{}")
        async let first = approvals.decide(card)
        async let second = approvals.decide(card)
        await until { approvals.waiting.count == 2 }
        expect(approvals.isWaiting("1") && !approvals.isWaiting("2"))
        approvals.answer(.approve, for: "2")
        expect(approvals.waiting.count, 2)
        approvals.answer(.always, for: "1")
        expect(await [first, second], [.always, .always])
        let cancelled = Task { await approvals.decide(card) }
        await until { approvals.waiting.count == 1 }
        cancelled.cancel()
        expect(await cancelled.value, .decline)
        expect(approvals.waiting.isEmpty)
    }
}

/// An engine of an app without a model.
private struct NoModel: InferenceEngine {
    let modelInformation = ModelInformation(description: "none", contextLength: 8192)
    let capabilities: EngineCapabilities = []
    func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary { throw LLMError(.modelNotLoaded, "no model is loaded") }
}

/// An engine that writes until it is cancelled.
private struct Endless: InferenceEngine {
    let modelInformation = ModelInformation(description: "endless", contextLength: 8192)
    let capabilities: EngineCapabilities = []
    func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        onEvent(.text("one"))
        while true {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
