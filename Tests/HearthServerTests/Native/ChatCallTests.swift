import Foundation
import HearthAssistant
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthServer

/// Conversations over the native API.
@Suite(.timeLimit(.minutes(5))) struct ChatCallTests {
    private func chat(_ fixture: NativeFixture, _ body: String = "{}") async throws -> String {
        try #require(try await fixture.call("POST", "/chats", body).body["chat"]?["id"]?.text)
    }

    private func finished(_ fixture: NativeFixture, _ answer: String) async throws -> JSONValue {
        let event = try await fixture.event("message") {
            $0["message"]?["id"]?.text == answer && $0["message"]?["facts"] != nil
        }
        return try #require(event["message"])
    }

    /// The text of an answer as a client puts it together.
    private func assembled(_ events: [(name: String, data: JSONValue)], _ answer: String) -> String {
        var content: [UInt16] = []
        for (name, data) in events {
            let id = data["message"]?.text ?? data["message"]?["id"]?.text
            guard id == answer else { continue }
            switch name {
            case "text":
                content = Array(content.prefix(data["offset"]?.int ?? 0)) + Array((data["delta"]?.text ?? "").utf16)
            case "message": content = Array((data["message"]?["content"]?.text ?? "").utf16)
            case "cleared": content = []
            default: break
            }
        }
        return String(decoding: content, as: UTF16.self)
    }

    @Test func anAnswerComesInPiecesThatFitTogether() async throws {
        try await NativeFixture.with(["Grüße 👋🏽 to … all 𝒙 of you."]) { fixture in
            try await fixture.download()
            let id = try await chat(fixture)
            let turn = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Hello 👩‍👩‍👧"}"#)
            #expect(turn.status == 202)
            let answer = try #require(turn.body["answer"]?.text)
            await fixture.engine.stalled()
            try await fixture.event("text") { $0["delta"]?.text?.contains("to") == true }
            // A page that comes now sees the answer as far as it is; the later events fit to it.
            let seen = try await fixture.call("GET", "/chats/\(id)").body
            #expect(seen["chat"]?["isAnswering"] == .boolean(true))
            #expect(seen["messages"]?.items.count == 2)
            #expect(seen["messages"]?[0]?["content"]?.text == "Hello 👩‍👩‍👧")
            let partial = try #require(seen["messages"]?[1]?["content"]?.text)
            #expect(partial.hasPrefix("Grüße 👋🏽 to"))
            #expect(try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "More"}"#).status == 409)
            await fixture.engine.goOn()
            let message = try await finished(fixture, answer)
            let content = try #require(message["content"]?.text)
            #expect(content.hasPrefix(partial))
            #expect(content.hasSuffix("of you."))
            let events = try fixture.events
            #expect(assembled(events, answer) == content)
            // Without the last, whole message, too; and with all events twice.
            let pieces = events.filter { $0.name != "message" || $0.data["message"]?["facts"] == nil }
            #expect(assembled(pieces, answer) == content)
            #expect(assembled(pieces + pieces.filter { $0.name == "text" }, answer) == content)
            let number = try #require(fixture.service.log.number(seen["event"]?.text ?? ""))
            guard case .events(let later) = fixture.service.log.events(after: number) else {
                Issue.record("the events after the snapshot are gone")
                return
            }
            var resumed = Array(partial.utf16)
            for event in later where event.name == "text" {
                let data = try JSONValue(parsing: Data(event.data))
                let offset = data["offset"]?.int ?? 0
                #expect(offset <= resumed.count)
                resumed = Array(resumed.prefix(offset)) + Array((data["delta"]?.text ?? "").utf16)
            }
            #expect(String(decoding: resumed, as: UTF16.self) == content)
            #expect(message["facts"]?["usage"]?["generatedTokens"]?.int ?? 0 > 0)
            #expect(message["facts"]?["source"]?.text == "local")
            try await fixture.event("chat") {
                $0["chat"]?["isAnswering"] == .boolean(false) && $0["chat"]?["messageCount"]?.int == 2
            }
            #expect(try await fixture.call("GET", "/chats/\(id)").body["context"]?["length"]?.int == 4096)
        }
    }

    @Test func aStoppedAnswerKeepsWhatCame() async throws {
        try await NativeFixture.with(["One two … three"]) { fixture in
            try await fixture.download()
            let id = try await chat(fixture)
            let turn = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Count"}"#)
            let answer = try #require(turn.body["answer"]?.text)
            await fixture.engine.stalled()
            try await fixture.event("text") { $0["delta"]?.text?.contains("two") == true }
            #expect(try await fixture.call("POST", "/chats/\(id)/stop").status == 202)
            // A stopped answer has no facts.
            try await fixture.event("chat") {
                $0["chat"]?["isAnswering"] == .boolean(false) && $0["chat"]?["messageCount"]?.int == 2
            }
            let messages = try await fixture.call("GET", "/chats/\(id)").body["messages"]
            let message = try #require(messages?[1])
            #expect(message["id"]?.text == answer)
            #expect(message["content"]?.text?.hasPrefix("One two") == true)
            #expect(message["content"]?.text?.contains("three") == false)
        }
    }

    @Test func branchesTitlesSearchExportAndTheEnd() async throws {
        try await NativeFixture.with(["Alpha answer.", "Beta answer.", "Gamma answer."]) { fixture in
            try await fixture.download()
            let id = try await chat(fixture)
            let first = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "First question"}"#).body
            let one = try #require(first["answer"]?.text)
            _ = try await finished(fixture, one)
            try await fixture.event("chat") {
                $0["chat"]?["isAnswering"] == .boolean(false) && $0["chat"]?["messageCount"]?.int == 2
            }
            let second = try await fixture.call("POST", "/chats/\(id)/regenerate", #"{"message": "\#(one)"}"#).body
            let two = try #require(second["answer"]?.text)
            let again = try await finished(fixture, two)
            #expect(again["branch"]?["ids"]?.items.map(\.text) == [one, two])
            #expect(again["branch"]?["index"]?.int == 1)
            try await fixture.event("chat") {
                $0["chat"]?["messageCount"]?.int == 3 && $0["chat"]?["isAnswering"] == .boolean(false)
            }
            let question = try #require(first["question"]?.text)
            let edited = try await fixture.call(
                "POST", "/chats/\(id)/edit", #"{"message": "\#(question)", "text": "Other question"}"#
            ).body
            _ = try await finished(fixture, try #require(edited["answer"]?.text))
            try await fixture.event("chat") {
                $0["chat"]?["messageCount"]?.int == 5 && $0["chat"]?["isAnswering"] == .boolean(false)
            }
            let shown = try await fixture.call("POST", "/chats/\(id)/show", #"{"message": "\#(one)"}"#).body
            #expect(shown["messages"]?.items.map { $0["content"]?.text } == ["First question", "Alpha answer."])
            let named = try await fixture.call("PATCH", "/chats/\(id)", #"{"title": "My / title"}"#).body
            #expect(named["chat"]?["title"]?.text == "My / title")
            #expect(try await fixture.call("GET", "/chats").body["chats"]?[0]?["title"]?.text == "My / title")
            let hits = try await fixture.call("GET", "/chats/search?q=gamma").body["hits"]
            #expect(hits?.items.count == 1)
            let export = try #require(await fixture.reply("GET", "/chats/\(id)/export"))
            #expect(export.headers["Content-Disposition"]?.contains("My%20%20title.md") == true)
            #expect(String(decoding: try await export.collectedBody(), as: UTF8.self).contains("Alpha answer."))
            #expect(try await fixture.call("DELETE", "/chats/\(id)/messages/\(two)").status == 200)
            #expect(try await fixture.call("DELETE", "/chats/\(id)").status == 200)
            #expect(try await fixture.call("GET", "/chats/\(id)").status == 404)
            #expect(try await fixture.call("GET", "/chats").body["chats"]?.items.isEmpty == true)
        }
    }

    @Test func aPrivateConversationIsNotKept() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let id = try await chat(fixture, #"{"isPrivate": true}"#)
            let turn = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Secret"}"#).body
            _ = try await finished(fixture, try #require(turn["answer"]?.text))
            #expect(try await fixture.call("GET", "/chats").body["chats"]?[0]?["isPrivate"] == .boolean(true))
            let kept = try await fixture.service.records.conversations.conversations(limit: 10, offset: 0)
            #expect(kept.isEmpty)
        }
    }

    /// A folder of states would hold what is said.
    @Test func aPrivateConversationNeedsStatesInMemory() async throws {
        try await NativeFixture.with { fixture in
            let settings = #"{"stateFolder": "/tmp/states"}"#
            #expect(try await fixture.call("PATCH", "/settings", settings).status == 200)
            let refused = try await fixture.call("POST", "/chats", #"{"isPrivate": true}"#)
            #expect(refused.status == 409 && refused.body["error"]?["code"] == "states-are-kept")
            #expect(try await fixture.call("POST", "/chats", "{}").status == 201)
        }
    }

    @Test func aPrivateConversationSearchesNothing() async throws {
        let server = try FaultServer { _ in Reply(body: .data(Data(#"{"results": []}"#.utf8))) }
        let block = #"[WEB_SEARCH:{"query":"secret diagnosis"}]"#
        try await NativeFixture.with([block]) { fixture in
            try await fixture.download()
            let address = try server.url("/").absoluteString
            let settings = #"{"search.kind": "searxng", "search.url": "\#(address)", "approval.WEB_SEARCH": "always"}"#
            #expect(try await fixture.call("PATCH", "/settings", settings).status == 200)
            let id = try await chat(fixture, #"{"isPrivate": true}"#)
            let forced = #"{"text": "Look", "act": "WEB_SEARCH"}"#
            #expect(try await fixture.call("POST", "/chats/\(id)/messages", forced).status == 400)
            let turn = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "\#(address)"}"#).body
            let message = try await finished(fixture, try #require(turn["answer"]?.text))
            #expect("\(message)".contains("secret diagnosis"))
            #expect(server.requests.isEmpty)
            let other = try await chat(fixture)
            let searched = try await fixture.call("POST", "/chats/\(other)/messages", forced).body
            _ = try await finished(fixture, try #require(searched["answer"]?.text))
            #expect(!server.requests.isEmpty)
        }
    }

    @Test func withoutAModelAMessageFailsWithTheButton() async throws {
        try await NativeFixture.with { fixture in
            let id = try await chat(fixture)
            _ = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Hello"}"#)
            let failed = try await fixture.event("failed")
            #expect(failed["needsModel"] == .boolean(true))
        }
    }

    @Test func anActionAsksAndIsTakenBack() async throws {
        let block = #"Noted. [NOTE_ACTION:{"action":"create","title":"Milk","body":"two bottles"}]"#
        try await NativeFixture.with([block]) { fixture in
            try await fixture.download()
            let id = try await chat(fixture)
            let turn = try await fixture.call("POST", "/chats/\(id)/messages", #"{"text": "Note: milk"}"#).body
            let asked = try await fixture.event("card") { $0["card"]?["isWaiting"] == .boolean(true) }
            let card = try #require(asked["card"]?["id"]?.text)
            #expect(asked["message"]?.text == turn["answer"]?.text)
            #expect(asked["card"]?["editable"]?.items.isEmpty == false)
            let waiting = try await fixture.call("GET", "/approvals").body["cards"]
            #expect(waiting?.items.count == 1)
            #expect(waiting?[0]?["chat"]?.text == id)
            let foreign = try await fixture.call("POST", "/chats/other/cards/\(card)", #"{"decision": "approve"}"#)
            #expect(foreign.status == 409)
            #expect(try await fixture.call("GET", "/stores/notes").body["notes"]?.items.isEmpty == true)
            #expect(
                try await fixture.call("POST", "/chats/\(id)/cards/\(card)", #"{"decision": "approve"}"#).status
                    == 200)
            let done = try await finished(fixture, try #require(turn["answer"]?.text))
            #expect(done["cards"]?[0]?["state"]?.text == "done")
            #expect(done["cards"]?[0]?["isWaiting"] == .boolean(false))
            #expect(try await fixture.call("GET", "/stores/notes").body["notes"]?[0]?["title"]?.text == "Milk")
            #expect(try await fixture.call("GET", "/actions").body["actions"]?[0]?["chat"]?.text == id)
            let again = try await fixture.call("POST", "/chats/\(id)/cards/\(card)", #"{"decision": "approve"}"#)
            #expect(again.status == 409)
            let undone = try await fixture.call("POST", "/actions/\(card)/undo").body
            #expect(undone["card"]?["state"]?.text == "undone")
            #expect(try await fixture.call("GET", "/stores/notes").body["notes"]?.items.isEmpty == true)
            try await fixture.event("message") { $0["message"]?["cards"]?[0]?["state"]?.text == "undone" }
        }
    }

    @Test(arguments: [(false, "private, max-age=86400, immutable"), (true, "no-store")])
    func aPictureIsUploadedSentAndShown(_ isPrivate: Bool, _ caching: String) async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let made = try await fixture.call("POST", "/chats", #"{"isPrivate": \#(isPrivate)}"#).body
            let id = try #require(made["chat"]?["id"]?.text)
            let bytes = [UInt8](TestPictures.jpeg)
            let request = ServerRequest(
                method: "POST", target: "/hearth/v1/pictures", headers: ["Content-Type": "image/jpeg"],
                caller: .owner,
                body: RequestBody(bytes))
            let reply = try #require(await fixture.service.reply(to: request))
            #expect(reply.status == 201)
            let upload = try JSONValue(parsing: Data(try await reply.collectedBody()))
            #expect(upload["width"]?.int == 40)
            let picture = try #require(upload["id"]?.text)
            let turn = try await fixture.call(
                "POST", "/chats/\(id)/messages", #"{"text": "What is this?", "pictures": ["\#(picture)"]}"#
            ).body
            _ = try await finished(fixture, try #require(turn["answer"]?.text))
            let messages = try await fixture.call("GET", "/chats/\(id)").body["messages"]
            let url = try #require(messages?[0]?["pictures"]?[0]?["url"]?.text)
            let shown = try #require(await fixture.reply("GET", String(url.dropFirst("/hearth/v1".count))))
            #expect(shown.headers["Content-Type"] == "image/jpeg" && shown.headers["Cache-Control"] == caching)
            #expect(shown.headers["Content-Security-Policy"]?.contains("sandbox") == true)
            #expect(try await shown.collectedBody() == bytes)
            #expect(messages?[1]?["notices"]?.items.isEmpty == false)
            let gone = try await fixture.call(
                "POST", "/chats/\(id)/messages", #"{"text": "Again", "pictures": ["\#(picture)"]}"#)
            #expect(gone.status == 404)
        }
    }
}
