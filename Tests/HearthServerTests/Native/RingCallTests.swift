import Foundation
import HearthAssistant
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthServer

/// Rings and files of records over the native API.
@Suite(.timeLimit(.minutes(5))) struct RingCallTests {
    private static func due(_ seconds: Double) -> String {
        Date().addingTimeInterval(seconds).formatted(.iso8601)
    }

    @Test func aReminderRingsOnceAndIsDone() async throws {
        try await NativeFixture.with { fixture in
            let new = #"{"title": "Call Anna", "due": "\#(Self.due(-1))"}"#
            let record = try #require(try await fixture.call("POST", "/stores/reminders", new).body["id"]?.text)
            let ring = try #require(try await fixture.event("ring")["ring"])
            let id = try #require(ring["id"]?.text)
            #expect(ring["title"]?.text == "Call Anna" && ring["record"]?.text == record)
            #expect(ring["store"]?.text == "reminders" && ring["isLate"] == .boolean(false))
            let listed = try await fixture.call("GET", "/rings").body
            #expect(listed["rings"]?.items.count == 1 && listed["missed"]?.int == 0)
            // Of two pages, one plays it.
            var first: [JSONValue?] = []
            for _ in 0..<2 { first.append(try await fixture.call("POST", "/rings/\(id)/play", "{}").body["isFirst"]) }
            #expect(first == [.boolean(true), .boolean(false)])
            let done = try await fixture.call("POST", "/rings/\(id)", #"{"answer": "done"}"#)
            #expect(done.status == 200)
            try await fixture.event("ring-ended") { $0["id"]?.text == id }
            #expect(try await fixture.call("GET", "/rings").body["rings"]?.items.isEmpty == true)
            #expect(try await fixture.call("GET", "/stores/reminders").body["reminders"]?.items.isEmpty == true)
            let action = try #require(done.body["action"]?.text)
            #expect(try await fixture.call("POST", "/actions/\(action)/undo", "{}").status == 200)
            #expect(try await fixture.call("GET", "/stores/reminders").body["reminders"]?.items.count == 1)
            // The second device is too late.
            let late = try await fixture.call("POST", "/rings/\(id)", #"{"answer": "close"}"#)
            #expect(late.status == 404 && late.body["error"]?["code"]?.text == "no-such-record")
        }
    }

    @Test func aSnoozedRingEndsAndOneOfADoneReminderToo() async throws {
        try await NativeFixture.with { fixture in
            for title in ["One", "Two"] {
                _ = try await fixture.call(
                    "POST", "/stores/reminders", #"{"title": "\#(title)", "due": "\#(Self.due(-1))"}"#)
            }
            let one = try await fixture.event("ring") { $0["ring"]?["title"]?.text == "One" }
            let two = try await fixture.event("ring") { $0["ring"]?["title"]?.text == "Two" }
            let id = try #require(one["ring"]?["id"]?.text)
            let reply = try await fixture.call(
                "POST", "/rings/\(id)", #"{"answer": "snooze", "snooze": "tomorrow"}"#)
            #expect(reply.status == 200 && reply.body["action"] == nil)
            try await fixture.event("ring-ended") { $0["id"]?.text == id }
            let record = try #require(two["ring"]?["record"]?.text)
            _ = try await fixture.call("POST", "/stores/reminders/\(record)/complete", "{}")
            try await fixture.event("ring-ended") { $0["id"] == two["ring"]?["id"] }
            #expect(try await fixture.call("GET", "/rings").body["rings"]?.items.isEmpty == true)
        }
    }

    @Test(
        arguments: [
            ("/rings/none", #"{"answer": "done"}"#, 404, "no-such-record"),
            ("/rings/none", #"{"answer": "perhaps"}"#, 400, "bad-request"), ("/rings/none", "{}", 400, "bad-request"),
            ("/rings/none", #"{"answer": "snooze", "snooze": "a year"}"#, 400, "bad-request"),
            ("/rings/none", #"{"answer": "done", "extra": 1}"#, 400, "unknown-field"),
        ])
    func hostileAnswersAreRefused(path: String, body: String, status: Int, code: String) async throws {
        try await NativeFixture.with { fixture in
            let reply = try await fixture.call("POST", path, body)
            #expect(reply.status == status && reply.body["error"]?["code"]?.text == code)
            #expect(try await fixture.call("POST", "/rings/none/play", "{}").body["isFirst"] == .boolean(false))
        }
    }

    @Test func filesAreImportedAndExported() async throws {
        try await NativeFixture.with { fixture in
            let calendar = """
                BEGIN:VCALENDAR\r
                BEGIN:VEVENT\r
                UID:a\r
                DTSTART:20261125T090000Z\r
                SUMMARY:Fair\r
                END:VEVENT\r
                END:VCALENDAR\r

                """
            func load(_ body: String, _ type: String) async throws -> (status: Int, body: JSONValue) {
                try await fixture.call("POST", "/stores/import", body, headers: ["Content-Type": type])
            }
            #expect(try await load(calendar, "text/calendar").body["events"]?["added"]?.int == 1)
            #expect(try await load(calendar, "text/calendar; charset=utf-8").body["events"]?["skipped"]?.int == 1)
            try await fixture.event("records") { $0["store"]?.text == "calendar" }
            let card = "BEGIN:VCARD\r\nVERSION:4.0\r\nUID:c\r\nFN:Anna\r\nEND:VCARD\r\n"
            #expect(try await load(card, "text/vcard").body["contacts"]?["added"]?.int == 1)
            for (body, type, status) in [
                (calendar, "text/plain", 415), (calendar, "application/x-www-form-urlencoded", 415),
                ("hello", "text/calendar", 422), ("", "text/vcard", 422),
                (String(calendar.prefix(60)), "text/calendar", 422),
            ] { #expect(try await load(body, type).status == status, "\(type) \(body.prefix(20))") }
            for (store, words) in [
                ("calendar", "SUMMARY:Fair"), ("contacts", "FN:Anna"), ("reminders", "BEGIN:VCALENDAR"),
            ] {
                let reply = try #require(await fixture.reply("GET", "/stores/\(store)/export"))
                #expect(reply.headers["Content-Disposition"]?.contains("attachment") == true)
                #expect(String(decoding: try await reply.collectedBody(), as: UTF8.self).contains(words))
            }
            // What cannot be read is counted and listed.
            let broken = calendar.replacing("20261125T090000Z", with: "soon").replacing("UID:a", with: "UID:b")
            let outcome = try await load(broken, "text/calendar").body["events"]
            #expect(outcome?["unreadable"]?.int == 1 && outcome?["added"]?.int == 0)
            let problems = try await fixture.call("GET", "/stores/calendar/problems").body["problems"]?.items
            #expect(problems?.compactMap { $0["code"]?.text } == ["unreadable-start"])
            #expect(problems?.first?["file"]?.text?.hasPrefix("calendar/.unreadable/") == true)
            let listed = try await fixture.call("GET", "/stores/calendar?from=2026-11-01T00:00:00Z").body
            #expect(listed["unreadable"]?.int == 1)
            #expect(try await fixture.call("GET", "/stores/contacts/problems").body["problems"]?.items.isEmpty == true)
            let found = try await fixture.call("GET", "/stores/calendar?from=2026-11-01T00:00:00Z&q=FAIR").body
            #expect(found["occurrences"]?.items.count == 1)
            let none = try await fixture.call("GET", "/stores/calendar?from=2026-11-01T00:00:00Z&q=dentist").body
            #expect(none["occurrences"]?.items.isEmpty == true)
        }
    }

    @Test(
        arguments: [
            ("origins.x", #""hello""#, "invalid-configuration"),
            ("trust.x", #""/absent/root.json""#, "invalid-configuration"),
            ("defaultModel", #""nothing""#, "invalid-configuration"),
            ("visionModel", #""nothing""#, "invalid-configuration"),
            ("cloud.keyFile", #""/absent/key""#, "cloud-key-unusable"),
        ])
    func settingsThatThisDeviceCannotUseAreRefused(key: String, value: String, code: String) async throws {
        try await NativeFixture.with { fixture in
            let reply = try await fixture.call("PATCH", "/settings", #"{"\#(key)": \#(value)}"#)
            #expect(reply.status == 422 && reply.body["error"]?["code"]?.text == code)
            let rows = try await fixture.call("GET", "/settings").body["settings"]?.items ?? []
            #expect(!rows.contains { $0["key"]?.text == key && $0["value"]?.text != nil })
            // Removing a value is never refused.
            #expect(try await fixture.call("PATCH", "/settings", #"{"\#(key)": null}"#).status == 200)
        }
    }
}
