import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// The front door: a home on the disk, and one in memory.
@Suite(.timeLimit(.minutes(2))) struct AssistantTests {
    private func said(_ text: String) -> [ScriptedEngine.Step] { [.text(text), .finish(.endOfGeneration)] }

    private struct ApproveAll: ActionApproval {
        func decide(_ card: ActionCard) async -> ActionDecision { .approve }
    }

    @Test func aReminderIsAFileAndUndoRemovesIt() async throws {
        let folder = try TemporaryFolder()
        let block = #"[REMINDER_ACTION:{"action":"create","title":"Call Anna","due":"2026-11-25T09:00"}]"#
        let engine = ScriptedEngine([said("I will remind you. " + block), said("Again")])
        let assistant = try await Assistant(home: folder.path, engine: engine, approval: ApproveAll())
        let session = try await assistant.session()
        let events = await ChatFixture.collect(session.send("Remind me tomorrow at nine to call Anna"))
        let answer = try #require(events.finished.first)
        #expect(answer.content == "I will remind you.")
        let card = try #require(answer.cards.first)
        #expect(card.state == .done && card.canUndo)
        #expect(
            try await assistant.stores.reminders?.reminders(completed: false, limit: 5).map(\.title) == ["Call Anna"])
        let system = try #require(await engine.requests.first?.first?.content)
        #expect(system.contains("[REMINDER_ACTION:") && !system.contains("WEB_SEARCH"))
        #expect(await engine.requests.first?.last?.content.contains("no open reminders") == true)
        // Another process continues the conversation and takes the action back.
        await assistant.close()
        let again = try await Assistant(
            home: folder.path, engine: ScriptedEngine([said("Sure")]), approval: DeclineAll())
        let kept = try await again.session(session.id)
        #expect(
            await kept.messages.map(\.content) == ["Remind me tomorrow at nine to call Anna", "I will remind you."])
        #expect(try await again.recentActions().map(\.id) == [card.id])
        #expect(try await again.undo(card.id).state == .undone)
        #expect(try await again.stores.reminders?.reminders(completed: false, limit: 5).isEmpty == true)
        await #expect(throws: AssistantError.self) { try await again.session("none") }
        try await again.eraseAll()
        #expect(try await again.conversations.conversations(limit: 5, offset: 0).isEmpty)
        await again.close()
    }

    @Test func aPrivateConversationIsNotKept() async throws {
        let folder = try TemporaryFolder()
        let assistant = try await Assistant(
            home: folder.path, engine: ScriptedEngine([said("Quietly")]), approval: DeclineAll())
        let session = try await assistant.session(isPrivate: true)
        _ = await ChatFixture.collect(session.send("my secret"))
        #expect(await session.messages.count == 2)
        #expect(try await assistant.conversations.conversations(limit: 5, offset: 0).isEmpty)
        #expect(try await assistant.conversations.search("secret", limit: 5).isEmpty)
        await assistant.close()
    }

    @Test func anAssistantInMemoryHasNotesAndHabitsAndNoFiles() async throws {
        let assistant = try await Assistant(home: nil, engine: ScriptedEngine([said("Hi")]), approval: DeclineAll())
        #expect(assistant.stores.calendar == nil && assistant.stores.notes != nil)
        let session = try await assistant.session()
        _ = await ChatFixture.collect(session.send("Hello"))
        #expect(try await assistant.conversations.conversations(limit: 5, offset: 0).count == 1)
    }

    @Test func whatTheUserForbidsTheModelIsNotTold() async throws {
        var settings = AssistantSettings()
        settings.disabledActions = [.note]
        settings.unaskedActions = [.habit]
        #expect(settings.unaskedActions == [.habit] && settings.approvals[.habit] == .always)
        settings.disabledStores = [.calendar]
        settings.search = OwnTextSearch(notes: nil, conversations: nil)
        let folder = try TemporaryFolder()
        let engine = ScriptedEngine([said("[NOTE_ACTION:{}]")])
        let assistant = try await Assistant(
            home: folder.path, engine: engine, settings: settings, approval: DeclineAll())
        let session = try await assistant.session()
        let events = await ChatFixture.collect(session.send("Hello"))
        let system = try #require(await engine.requests.first?.first?.content)
        #expect(!system.contains("NOTE_ACTION") && !system.contains("CALENDAR_ACTION"))
        #expect(system.contains("HABIT_ACTION") && system.contains("WEB_SEARCH"))
        // The block is not shown, and a declined card stands in its place.
        #expect(events.text == "" && events.finished.flatMap(\.cards).map(\.isUnoffered) == [true])
        await assistant.close()
    }

    /// An app names cards and values in its own words, and says who rings.
    @Test func cardsHaveTheWordsOfTheApp() async throws {
        var settings = AssistantSettings()
        settings.chat.texts.labels = [
            "New reminder": "Neue Erinnerung", "Due": "Fällig", "Reminder action": "Erinnerung",
        ]
        settings.ringing = "Dieses Gerät klingelt."
        let folder = try TemporaryFolder()
        let engine = ScriptedEngine([
            said(#"[REMINDER_ACTION:{"action":"create","title":"Anna","due":"2099-11-25T09:00"}]"#),
            said(#"[REMINDER_ACTION:{"action":"complete","title":"nothing"}]"#),
        ])
        let assistant = try await Assistant(
            home: folder.path, engine: engine, settings: settings, approval: ApproveAll())
        let session = try await assistant.session()
        var cards: [ActionCard] = []
        for question in ["a", "b"] {
            cards += await ChatFixture.collect(session.send(question)).finished.flatMap(\.cards)
        }
        #expect(cards.map(\.title) == ["Neue Erinnerung", "Erinnerung"])
        #expect(cards.first?.fields.map(\.label) == ["Title", "Fällig"])
        #expect(cards.first?.note == "Dieses Gerät klingelt.")
        await assistant.close()
    }

    /// What the prompt teaches stays short enough for small models.
    @Test func theSixActionsAreTaughtInAboutSixHundredTokens() async throws {
        var settings = AssistantSettings()
        settings.search = OwnTextSearch(notes: nil, conversations: nil)
        let folder = try TemporaryFolder()
        let engine = ScriptedEngine([said("Hi")])
        let assistant = try await Assistant(
            home: folder.path, engine: engine, settings: settings, approval: DeclineAll())
        _ = await ChatFixture.collect(try await assistant.session().send("Hello"))
        let system = try #require(await engine.requests.first?.first?.content)
        for tag in ActionTag.order { #expect(system.contains(tag.opening), "\(tag)") }
        #expect(system.utf8.count < 2200, "\(system.utf8.count) bytes:\n\(system)")
        await assistant.close()
    }
}
