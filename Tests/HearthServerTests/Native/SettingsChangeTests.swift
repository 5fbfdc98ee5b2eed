import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// Conversations during a change of settings.
@Suite(.timeLimit(.minutes(5))) struct SettingsChangeTests {
    private func chat(_ fixture: NativeFixture, _ body: String = "{}") async throws -> String {
        try #require(try await fixture.call("POST", "/chats", body).body["chat"]?["id"]?.text)
    }

    /// Sends a message, and returns its answer when it is complete.
    private func answer(_ fixture: NativeFixture, _ chat: String, _ body: String) async throws -> JSONValue {
        let turn = try await fixture.call("POST", "/chats/\(chat)/messages", body)
        return try await complete(fixture, chat, try #require(turn.body["answer"]?.text))
    }

    private func complete(_ fixture: NativeFixture, _ chat: String, _ answer: String) async throws -> JSONValue {
        let event = try await fixture.event("message") {
            $0["message"]?["id"]?.text == answer && $0["message"]?["facts"] != nil
        }
        _ = try await fixture.service.chats.openChat(chat).turn?.value
        return try #require(event["message"])
    }

    @Test func anAnswerEndsWithTheModelsThatItBeganWith() async throws {
        try await NativeFixture.with(["One … two"]) { fixture in
            try await fixture.download()
            let id = try await chat(fixture)
            let turn = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Count"}"#)
            await fixture.engine.stalled()
            let engine = try await fixture.reopen(["Other words."])
            // Nothing but the answer uses the models before.
            #expect(fixture.models.isThere)
            await fixture.engine.goOn()
            let message = try await complete(fixture, id, try #require(turn.body["answer"]?.text))
            #expect(message["content"]?.text?.hasSuffix("two") == true)
            #expect(message["facts"]?["finish"]?.text == "stop")
            #expect(await fixture.models.left())
            let second = try await answer(fixture, id, #"{"text": "And now?"}"#)
            #expect(second["content"]?.text == "Other words.")
            #expect(await engine.options.count == 1)
        }
    }

    @Test func aPrivateConversationGoesOnWithOtherModels() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let id = try await chat(fixture, #"{"isPrivate": true}"#)
            _ = try await answer(fixture, id, #"{"text": "Secret"}"#)
            _ = try await fixture.reopen(["Still here."])
            #expect(await fixture.models.left())
            #expect(try await answer(fixture, id, #"{"text": "Again"}"#)["content"]?.text == "Still here.")
            let messages = try await fixture.call("GET", "/chats/\(id)").body["messages"]
            #expect(messages?.items.count == 4)
            #expect(try await fixture.service.records.conversations.conversations(limit: 9, offset: 0).isEmpty)
        }
    }

    @Test func aRunningConversationTakesTheSettingsWithItsNextTurn() async throws {
        try await NativeFixture.with(["One … two"]) { fixture in
            try await fixture.download()
            let id = try await chat(fixture)
            let turn = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Count"}"#)
            await fixture.engine.stalled()
            let change = #"{"maximumNewTokens": 33, "chat.showThinking": false}"#
            #expect(try await fixture.call("PATCH", "/settings", change).status == 200)
            await fixture.engine.goOn()
            _ = try await complete(fixture, id, try #require(turn.body["answer"]?.text))
            _ = try await answer(fixture, id, #"{"text": "And now?"}"#)
            #expect(await fixture.engine.options.map(\.maximumNewTokens) == [Int.max, 33])
            #expect(await fixture.engine.options.map(\.thinking.isEnabled) == [true, false])
        }
    }

    @Test func theChosenModelOutlivesAChangeOfSettings() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            for body in ["{}", #"{"isPrivate": true}"#] {
                let id = try await chat(fixture, body)
                _ = try await answer(fixture, id, #"{"text": "Hello", "model": "talker", "think": false}"#)
                _ = try await fixture.call("PATCH", "/settings", #"{"temperature": 0.5}"#)
                _ = try await answer(fixture, id, #"{"text": "Again"}"#)
                let own = try await fixture.service.chats.openChat(id).session.settings
                #expect(own.model == "talker" && own.thinks == false)
                #expect(await fixture.engine.options.last?.thinking.isEnabled == false)
                #expect(await fixture.engine.options.last?.sampling.temperature == 0.5)
                _ = try await fixture.call("PATCH", "/settings", #"{"temperature": null}"#)
            }
        }
    }

    @Test func aReminderSaysWhoRings() async throws {
        let block = #"[REMINDER_ACTION:{"action":"create","title":"Call Anna","due":"2030-01-02T09:00"}]"#
        try await NativeFixture.with([block]) { fixture in
            try await fixture.download()
            let id = try await chat(fixture)
            _ = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Remind me"}"#)
            let asked = try await fixture.event("card") { $0["card"]?["isWaiting"] == .boolean(true) }
            #expect("\(asked)".contains("It rings here while Hearth runs"))
        }
    }
}

/// Actions that are carried out on the user's request.
@Suite(.timeLimit(.minutes(5))) struct PerformedActionTests {
    private static let block = #"Noted. [NOTE_ACTION:{"action":"create","title":"Milk","body":"two"}]"#

    /// A conversation with a declined action, which asks again with other values.
    private func asking(_ fixture: NativeFixture) async throws -> (chat: String, card: String, path: String) {
        try await fixture.download()
        let id = try #require(try await fixture.call("POST", "/chats", "{}").body["chat"]?["id"]?.text)
        _ = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Note: milk"}"#)
        let asked = try await fixture.event("card") { $0["card"]?["isWaiting"] == .boolean(true) }
        let card = try #require(asked["card"]?["id"]?.text)
        let path = "/chats/\(id)/cards/\(card)"
        #expect(try await fixture.call("POST", path + "/perform", "{}").status == 409)
        _ = try await fixture.call("POST", path, #"{"decision": "decline"}"#)
        _ = try await fixture.service.chats.openChat(id).turn?.value
        let other = #"{"payload": "{\"action\":\"create\",\"title\":\"Bread\",\"body\":\"one\"}"}"#
        #expect(try await fixture.call("POST", path + "/perform", other).status == 202)
        while fixture.service.approvals.waiting.isEmpty { await Task.yield() }
        return (id, card, path)
    }

    @Test func aRemovedConversationStaysRemoved() async throws {
        try await NativeFixture.with([Self.block]) { fixture in
            let (id, card, path) = try await asking(fixture)
            #expect(try await fixture.call("DELETE", "/chats/\(id)").status == 200)
            #expect(fixture.service.approvals.waiting.isEmpty)
            #expect(try await fixture.call("POST", path, #"{"decision": "approve"}"#).status == 409)
            #expect(try await fixture.call("GET", "/chats/\(id)").status == 404)
            #expect(try await fixture.call("POST", path + "/perform", "{}").status == 404)
            #expect(try await fixture.service.records.conversations.conversations(limit: 9, offset: 0).isEmpty)
            #expect(try await fixture.call("GET", "/stores/notes").body["notes"]?.items.isEmpty == true)
            #expect(!card.isEmpty)
        }
    }

    @Test func aConversationThatIsRemovedWhileItAnswersIsNotKept() async throws {
        try await NativeFixture.with(["One … two"]) { fixture in
            try await fixture.download()
            let id = try #require(try await fixture.call("POST", "/chats", "{}").body["chat"]?["id"]?.text)
            _ = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Count"}"#)
            await fixture.engine.stalled()
            let session = try await fixture.service.chats.openChat(id).session
            #expect(try await fixture.call("DELETE", "/chats/\(id)").status == 200)
            await session.rename("Back again")
            #expect(try await fixture.service.records.conversations.conversations(limit: 9, offset: 0).isEmpty)
            #expect(try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "x"}"#).status == 404)
        }
    }

    @Test func anActionIsCarriedOutOnce() async throws {
        try await NativeFixture.with([Self.block]) { fixture in
            let (_, _, path) = try await asking(fixture)
            #expect(try await fixture.call("POST", path + "/perform", "{}").status == 409)
            #expect(fixture.service.approvals.waiting.count == 1)
            #expect(try await fixture.call("POST", path, #"{"decision": "approve"}"#).status == 200)
            try await fixture.event("message") { $0["message"]?["cards"]?[0]?["state"]?.text == "done" }
            #expect(try await fixture.call("GET", "/stores/notes").body["notes"]?[0]?["title"]?.text == "Bread")
        }
    }

    @Test func everyQuestionAboutACardIsAnswered() async throws {
        let desk = ApprovalDesk()
        let card = ActionCard(commanded: "New note", .note, record: "Milk")
        func asked() -> Task<ActionDecision, Never> {
            Task { await ChatContext.$chat.withValue("c") { await desk.decide(card) } }
        }
        let (first, second, third) = (asked(), asked(), asked())
        while desk.waiting.count < 3 { await Task.yield() }
        second.cancel()
        #expect(await second.value == .decline)
        #expect(desk.waiting.count == 2)
        #expect(!desk.answer(.approve, to: card.id, in: "other"))
        #expect(desk.answer(.approve, to: card.id, in: "c"))
        #expect(await [first.value, third.value] == [.approve, .approve])
        #expect(!desk.isWaiting(card.id))
    }
}
