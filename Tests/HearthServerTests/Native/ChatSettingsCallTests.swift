import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthInference
import Testing

@testable import HearthServer

/// Which model answers, the settings of a conversation, and what stays of an answer that is not complete.
@Suite(.timeLimit(.minutes(5))) struct ChatSettingsCallTests {
    private func chat(_ fixture: NativeFixture, _ body: String = "{}") async throws -> String {
        try #require(try await fixture.call("POST", "/chats", body).body["chat"]?["id"]?.text)
    }

    private func idle(_ fixture: NativeFixture, _ id: String, _ count: Int) async throws {
        try await fixture.event("chat") {
            $0["chat"]?["id"]?.text == id && $0["chat"]?["isAnswering"] == .boolean(false)
                && $0["chat"]?["messageCount"]?.int == count
        }
    }

    /// How often a conversation has been reported as idle.
    private func idleReports(_ fixture: NativeFixture, _ id: String) throws -> Int {
        try fixture.events.count {
            $0.name == "chat" && $0.data["chat"]?["id"]?.text == id
                && $0.data["chat"]?["isAnswering"] == .boolean(false)
        }
    }

    private static let two = [NativeFixture.Offer(), NativeFixture.Offer(family: "other", padding: 5)]

    /// With two models and none chosen, no question vanishes: the refusal has the models to choose from.
    @Test func severalModelsAreToBeChosenFrom() async throws {
        try await NativeFixture.with(offers: Self.two) { fixture in
            try await fixture.download("talker")
            try await fixture.download("other")
            _ = try await fixture.call("PUT", "/activation", #"{"forget": ["text"]}"#)
            await fixture.service.library.library.refreshLocal()
            let id = try await chat(fixture)
            for _ in 0..<2 {
                let refused = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Hello"}"#)
                let error = refused.body["error"]
                #expect(refused.status == 409 && error?["code"]?.text == "model-not-chosen")
                #expect(error?["field"]?.text == "settings.model")
                #expect(Set(error?["models"]?.items.compactMap { $0["id"]?.text } ?? []) == ["talker", "other"])
                #expect(error?["models"]?[0]?["name"]?.text?.isEmpty == false)
            }
            #expect(try await fixture.call("GET", "/chats/\(id)").body["messages"]?.items.isEmpty == true)
            let chosen = try await fixture.call("PATCH", "/chats/\(id)", #"{"settings": {"model": "other"}}"#)
            #expect(chosen.status == 200)
            #expect(try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Hello"}"#).status == 202)
            try await idle(fixture, id, 2)
            let whole = try await fixture.call("GET", "/chats/\(id)").body
            #expect(whole["answering"]?["id"]?.text == "other")
            #expect(whole["messages"]?[1]?["ending"] == nil)
            // Another conversation still asks, and the settings of all have not changed.
            let next = try await chat(fixture)
            #expect(try await fixture.call("POST", "/chats/\(next)/messages", #"{"text": "Hi"}"#).status == 409)
            #expect(try await fixture.call("GET", "/models").body["library"]?["defaultModel"] == nil)
        }
    }

    @Test func settingsAreKeptChangedAndReset() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let id = try await chat(
                fixture, #"{"settings": {"temperature": 0.9, "instructions": "In rhymes.", "maximumNewTokens": 50}}"#)
            _ = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Hello"}"#)
            try await idle(fixture, id, 2)
            let options = try #require(await fixture.engine.options.last)
            #expect(options.sampling.temperature == 0.9 && options.maximumNewTokens == 50)
            let change = #"{"settings": {"temperature": null, "instructions": " ", "thinks": false}}"#
            #expect(try await fixture.call("PATCH", "/chats/\(id)", change).status == 200)
            try await fixture.event("chat-settings") { $0["chat"]?.text == id }
            let settings = try await fixture.call("GET", "/chats/\(id)").body["settings"]
            #expect(settings?.members?.keys.sorted() == ["maximumNewTokens", "thinks"])
            #expect(try await fixture.service.records.conversations.conversation(id)?.settings?.thinks == false)
            let defaults = try await fixture.call("GET", "/chats/\(id)").body["defaults"]
            #expect(defaults?["model"]?.text == "talker" && defaults?["maximumNewTokens"] == nil)
        }
    }

    @Test(arguments: [
        ("temperature", #"{"temperature": 6}"#), ("temperature", #"{"temperature": "warm"}"#),
        ("maximumNewTokens", #"{"maximumNewTokens": 0}"#), ("maximumNewTokens", #"{"maximumNewTokens": 1.5}"#),
        ("model", #"{"model": "absent"}"#), ("model", #"{"model": "/etc/passwd"}"#), ("form", #"{"form": "wild"}"#),
        ("route", #"{"route": "moon"}"#), ("route", #"{"route": "cloud"}"#),
        ("instructions", #"{"instructions": "\#(String(repeating: "a", count: 20_000))"}"#),
        ("thinks", #"{"thinks": 1}"#),
    ])
    func wrongValuesAreRefusedAtTheirField(_ field: String, _ settings: String) async throws {
        try await NativeFixture.with { fixture in
            let id = try await chat(fixture, #"{"isPrivate": true}"#)
            for (method, path, body) in [
                ("PATCH", "/chats/\(id)", #"{"settings": \#(settings)}"#),
                ("POST", "/chats", #"{"isPrivate": true, "settings": \#(settings)}"#),
                ("POST", "/chats/settings", #"{"isPrivate": true, "settings": \#(settings)}"#),
            ] {
                let refused = try await fixture.call(method, path, body)
                #expect(refused.status == 400 && refused.body["error"]?["code"]?.text == "bad-request", "\(path)")
                #expect(refused.body["error"]?["field"]?.text == "settings.\(field)", "\(path)")
            }
            #expect(try await fixture.call("GET", "/chats/\(id)").body["settings"]?.members?.isEmpty == true)
        }
    }

    @Test func aStoppedAnswerSaysSoAndGoesOn() async throws {
        try await NativeFixture.with(["One two … never", " three."]) { fixture in
            try await fixture.download()
            let id = try await chat(fixture)
            let turn = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Count"}"#).body
            await fixture.engine.stalled()
            try await fixture.event("text") { $0["delta"]?.text?.contains("two") == true }
            _ = try await fixture.call("POST", "/chats/\(id)/stop")
            try await idle(fixture, id, 2)
            let stopped = try await fixture.call("GET", "/chats/\(id)").body["messages"]?[1]
            #expect(stopped?["ending"]?["code"]?.text == "stopped" && stopped?["ending"]?["help"]?.text == "continue")
            let answer = try #require(turn["answer"]?.text)
            let (signals, reports) = (fixture.service.log.signals(), try idleReports(fixture, id))
            let more = try await fixture.call("POST", "/chats/\(id)/continue", #"{"message": "\#(answer)"}"#)
            #expect(more.status == 202 && more.body["answer"]?.text == answer)
            let whole = try await fixture.event("message") {
                $0["message"]?["id"]?.text == answer && $0["message"]?["facts"] != nil
            }
            #expect(whole["message"]?["content"]?.text == "One two three.")
            #expect(whole["message"]?["ending"] == nil && whole["message"]?["facts"]?["model"]?.text != "talker@1.0.0")
            for await _ in signals where try idleReports(fixture, id) > reports { break }
            let again = try await fixture.call("POST", "/chats/\(id)/continue", "{}")
            #expect(again.status == 422 && again.body["error"]?["code"]?.text == "nothing-to-continue")
        }
    }

    /// Without a model the failure stays in the conversation, with the step that helps.
    @Test func aFailureStaysInTheConversation() async throws {
        try await NativeFixture.with { fixture in
            let id = try await chat(fixture)
            let turn = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Hello"}"#).body
            try await idle(fixture, id, 2)
            let message = try await fixture.call("GET", "/chats/\(id)").body["messages"]?[1]
            #expect(message?["id"]?.text == turn["answer"]?.text)
            #expect(message?["ending"]?["code"]?.text == "model-not-loaded")
            #expect(message?["ending"]?["help"]?.text == "download-model")
        }
    }

    @Test func aSwitchOfBranchesKeepsTheTitle() async throws {
        try await NativeFixture.with(["Alpha.", "Beta."]) { fixture in
            try await fixture.download()
            let id = try await chat(fixture)
            let first = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "First question"}"#).body
            try await idle(fixture, id, 2)
            let question = try #require(first["question"]?.text)
            let edit = #"{"message": "\#(question)", "text": "Other question"}"#
            #expect(try await fixture.call("POST", "/chats/\(id)/edit", edit).status == 202)
            try await idle(fixture, id, 4)
            let shown = try await fixture.call("POST", "/chats/\(id)/show", #"{"message": "\#(question)"}"#).body
            #expect(shown["messages"]?.items.map { $0["content"]?.text } == ["First question", "Alpha."])
            #expect(shown["messages"]?[0]?["branch"]?["ids"]?.items.count == 2)
            #expect(shown["chat"]?["title"]?.text == "First question")
            #expect(try await fixture.call("GET", "/chats").body["chats"]?[0]?["title"]?.text == "First question")
        }
    }
}
