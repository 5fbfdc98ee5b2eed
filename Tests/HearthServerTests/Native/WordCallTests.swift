import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// Typed words and searches without a model, and changed values of actions, over the native API.
@Suite(.timeLimit(.minutes(5))) struct WordCallTests {
    private static func text(_ members: JSONMembers) -> String {
        String(decoding: JSONValue.object(members).data, as: UTF8.self)
    }

    private func draft(_ fixture: NativeFixture, _ members: String) async throws -> (status: Int, body: JSONValue) {
        let place = #""now": "2026-11-24T13:30:00.000Z", "zone": "Europe/Berlin""#
        let reply = try await fixture.call("POST", "/stores/drafts", "{\(members), \(place)}")
        return (reply.status, reply.body)
    }

    @Test func wordsBecomeADraftAndStoreNothing() async throws {
        try await NativeFixture.with { fixture in
            let reminder = try await draft(fixture, #""kind": "reminder", "text": "call Anna tomorrow at nine""#)
            #expect(reminder.status == 200)
            #expect(reminder.body["title"]?.text == "call Anna")
            #expect(reminder.body["due"]?.text == "2026-11-25T08:00:00Z")
            #expect(reminder.body["timeZone"]?.text == "Europe/Berlin")
            let event = try await draft(
                fixture, #""kind": "event", "text": "Yoga jeden Montag um halb acht", "language": "de""#)
            #expect(event.body["start"]?.text == "2026-11-30T06:30:00Z")
            #expect(event.body["recurrence"]?.text == "FREQ=WEEKLY;BYDAY=MO")
            let habit = try await draft(fixture, #""kind": "habit", "text": "read every day""#)
            #expect(habit.body["title"]?.text == "read" && habit.body["frequency"]?.text == "daily")
            let note = try await draft(fixture, #""kind": "note", "text": "Code\n4711""#)
            #expect(note.body["title"]?.text == "Code" && note.body["text"]?.text == "4711")
            // The draft has the form of the record that it becomes.
            let made = try await fixture.call(
                "POST", "/stores/calendar",
                Self.text([
                    "title": event.body["title"] ?? .null, "start": event.body["start"] ?? .null,
                    "timeZone": event.body["timeZone"] ?? .null, "recurrence": event.body["recurrence"] ?? .null,
                ]))
            #expect(made.status == 201)
            #expect(try await fixture.call("GET", "/stores/reminders").body["reminders"]?.items.isEmpty == true)
        }
    }

    @Test(
        arguments: [
            (#""kind": "contact", "text": "a""#, #""now": "2026-11-24T13:30:00Z", "zone": "UTC""#, "kind"),
            (#""kind": "note", "text": "a""#, #""now": "2026-11-24T13:30:00Z", "zone": "../etc/passwd""#, "zone"),
            (#""kind": "note", "text": "a""#, #""now": "2026-11-24T13:30:00Z", "zone": "CET""#, "zone"),
            (#""kind": "note", "text": "a""#, #""now": "yesterday", "zone": "UTC""#, "now"),
            (#""kind": "note", "text": "a""#, #""now": "1066-10-14T09:00:00Z", "zone": "UTC""#, "now"),
            (#""kind": "note""#, #""now": "2026-11-24T13:30:00Z", "zone": "UTC""#, "text"),
            (
                #""kind": "note", "text": "a", "language": "fr""#,
                #""now": "2026-11-24T13:30:00Z", "zone": "UTC""#, "language"
            ),
        ])
    func wordsThatNoPageSendsAreRefused(words: String, place: String, field: String) async throws {
        try await NativeFixture.with { fixture in
            let reply = try await fixture.call("POST", "/stores/drafts", "{\(words), \(place)}")
            #expect(reply.status == 400)
            #expect(reply.body["error"]?["code"]?.text == "bad-request")
            #expect(reply.body["error"]?["field"]?.text == field)
        }
    }

    @Test func aSearchNeedsNoModel() async throws {
        let server = try FaultServer { _ in
            let results =
                #"{"results": [{"title": "Swifts", "content": "fly <b>far</b>", "url": "https://example.org/a"}]}"#
            return Reply(body: .data(Data(results.utf8)))
        }
        try await NativeFixture.with { fixture in
            let off = try await fixture.call("POST", "/search", #"{"query": "swifts"}"#)
            #expect(off.status == 409 && off.body["error"]?["code"]?.text == "search-off")
            #expect(try await fixture.call("GET", "/state").body["search"] == nil)
            let address = try server.url("/").absoluteString
            let settings = #"{"search.kind": "searxng", "search.url": "\#(address)"}"#
            #expect(try await fixture.call("PATCH", "/settings", settings).status == 200)
            let found = try await fixture.call("POST", "/search", #"{"query": "swifts"}"#)
            #expect(found.status == 200)
            #expect(found.body["results"]?[0]?["title"]?.text == "Swifts")
            #expect(found.body["results"]?[0]?["url"]?.text == "https://example.org/a")
            #expect(try await fixture.call("GET", "/state").body["search"]?["isRemote"] == .boolean(true))
            for query in ["", "  ", String(repeating: "a", count: 401)] {
                let refused = try await fixture.call("POST", "/search", #"{"query": "\#(query)"}"#)
                #expect(refused.status == 400 && refused.body["error"]?["field"]?.text == "query")
            }
        }
    }

    @Test func changedValuesAreApprovedAsTheyAreShown() async throws {
        let block = #"[REMINDER_ACTION:{"action":"create","title":"Milk","due":"2030-01-02T09:00"}]"#
        try await NativeFixture.with([block]) { fixture in
            try await fixture.download()
            let chat = try await fixture.call("POST", "/chats", "{}").body["chat"]?["id"]?.text ?? ""
            let turn = try await fixture.call("POST", "/chats/\(chat)/messages", #"{"text": "milk"}"#).body
            let asked = try await fixture.event("card") { $0["card"]?["isWaiting"] == .boolean(true) }
            let card = try #require(asked["card"]?["id"]?.text)
            #expect(asked["card"]?["code"]?.text == "new-reminder")
            let due = asked["card"]?["fields"]?.items.first { $0["name"]?.text == "due" }
            #expect(due?["raw"]?.text?.hasPrefix("2030-01-02T") == true)
            func decide(_ payload: String) async throws -> (status: Int, body: JSONValue) {
                let order = Self.text(["decision": .string("approve"), "payload": .string(payload)])
                let reply = try await fixture.call("POST", "/chats/\(chat)/cards/\(card)", order)
                return (reply.status, reply.body)
            }
            // Values that cannot be used are refused at their field; the card goes on to wait.
            for (payload, field) in [
                (#"{"action":"create","title":"Milk","due":"soon"}"#, "due"), (#"{"action":"create"}"#, "title"),
                (#"{"action":"create","title":"a","alarmMinutes":-1}"#, "alarmMinutes"),
            ] {
                let refused = try await decide(payload)
                #expect(refused.status == 422)
                #expect(refused.body["error"]?["code"]?.text == "unusable-payload")
                #expect(refused.body["error"]?["field"]?.text == field)
            }
            #expect(try await decide("[]").status == 422)
            #expect(try await fixture.call("GET", "/approvals").body["cards"]?.items.count == 1)
            let approved = try await decide(#"{"action":"create","title":"Bread","due":"2030-01-03T10:00"}"#)
            #expect(approved.status == 200)
            let answer = try #require(turn["answer"]?.text)
            let message = try await fixture.event("message") {
                $0["message"]?["id"]?.text == answer && $0["message"]?["facts"] != nil
            }
            #expect(message["message"]?["cards"]?[0]?["state"]?.text == "done")
            let reminders = try await fixture.call("GET", "/stores/reminders").body["reminders"]
            #expect(reminders?.items.map { $0["title"]?.text } == ["Bread"])
            #expect(try await fixture.call("GET", "/approvals").body["cards"]?.items.isEmpty == true)
        }
    }
}
