import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// Records, settings and keys over the native API.
@Suite(.timeLimit(.minutes(5))) struct RecordCallTests {
    /// Each kind of record is added, changed, listed, removed, and the removal is taken back.
    @Test(
        arguments: [
            (
                "calendar", #"{"title": "Dentist", "start": "2026-11-25T09:00:00Z"}"#,
                #"{"title": "Dentist at ten"}"#, "?from=2026-11-24T00:00:00Z", "occurrences", "Dentist at ten"
            ),
            (
                "reminders", #"{"title": "Call"}"#, #"{"title": "Call Anna", "priority": 1}"#, "", "reminders",
                "Call Anna"
            ),
            ("notes", #"{"title": "List", "body": "bread"}"#, #"{"title": "Other"}"#, "", "notes", "Other"),
            (
                "contacts", #"{"name": "Anna", "numbers": [{"label": "home", "value": "+49 1"}]}"#,
                #"{"name": "Anna B.", "note": "met; in, May"}"#, "?q=anna", "contacts", "Anna B."
            ),
            ("habits", #"{"name": "Run"}"#, #"{"name": "Jog", "frequency": "weekly"}"#, "", "habits", "Jog"),
        ])
    func aRecordLives(
        store: String, new: String, change: String, query: String, list: String, title: String
    ) async throws {
        try await NativeFixture.with { fixture in
            let made = try await fixture.call("POST", "/stores/\(store)", new)
            #expect(made.status == 201)
            let id = try #require(made.body["id"]?.text)
            #expect(try await fixture.call("PATCH", "/stores/\(store)/\(id)", change).status == 200)
            func shown() async throws -> [String?] {
                let items = try await fixture.call("GET", "/stores/\(store)\(query)").body[list]?.items ?? []
                return items.map { ($0["event"] ?? $0)["title"]?.text ?? $0["name"]?.text }
            }
            #expect(try await shown() == [title])
            let removed = try await fixture.call("DELETE", "/stores/\(store)/\(id)")
            #expect(removed.status == 200)
            #expect(try await shown() == [])
            #expect(try await fixture.call("DELETE", "/stores/\(store)/\(id)").status == 404)
            let action = try #require(removed.body["action"]?.text)
            #expect(try await fixture.call("POST", "/actions/\(action)/undo").status == 200)
            #expect(try await shown() == [title])
            try await fixture.event("records") { $0["store"]?.text == store }
        }
    }

    @Test func aReminderIsCompletedAndLosesItsTime() async throws {
        try await NativeFixture.with { fixture in
            let new = #"{"title": "Pay", "due": "2026-11-25T09:00:00Z", "alarmMinutes": 10}"#
            let id = try #require(try await fixture.call("POST", "/stores/reminders", new).body["id"]?.text)
            func reminder(_ query: String) async throws -> JSONValue? {
                try await fixture.call("GET", "/stores/reminders\(query)").body["reminders"]?[0]
            }
            #expect(try await reminder("")?["due"]?.text == "2026-11-25T09:00:00Z")
            #expect(try await reminder("")?["alarmMinutes"]?.int == 10)
            _ = try await fixture.call("PATCH", "/stores/reminders/\(id)", #"{"due": null}"#)
            #expect(try await reminder("")?["due"] == .null)
            #expect(try await reminder("")?["alarmMinutes"] == .null)
            _ = try await fixture.call("POST", "/stores/reminders/\(id)/complete")
            #expect(try await reminder("") == nil)
            #expect(try await reminder("?completed=true")?["completed"]?.text != nil)
            #expect(try await reminder("?q=pay") == nil)
            #expect(try await reminder("?q=pay&completed=true")?["completed"]?.text != nil)
        }
    }

    @Test func aReminderIsCompletedWithItsOtherValues() async throws {
        try await NativeFixture.with { fixture in
            let new = try await fixture.call("POST", "/stores/reminders", #"{"title": "Pay", "priority": 5}"#)
            let id = try #require(new.body["id"]?.text)
            let order =
                #"{"completed": "2026-11-24T09:00:00Z", "title": "Paid", "priority": 1, "due": "2026-11-25"}"#
            let changed = try await fixture.call("PATCH", "/stores/reminders/\(id)", order)
            #expect(changed.status == 200)
            func reminder() async throws -> JSONValue? {
                try await fixture.call("GET", "/stores/reminders?completed=true").body["reminders"]?[0]
            }
            let done = try await reminder()
            #expect(done?["title"]?.text == "Paid" && done?["priority"]?.int == 1)
            #expect(done?["due"]?.text == "2026-11-25" && done?["completed"]?.text == "2026-11-24T09:00:00.000Z")
            // One change is one action.
            let action = try #require(changed.body["action"]?.text)
            _ = try await fixture.call("POST", "/actions/\(action)/undo")
            let undone = try await reminder()
            #expect(undone?["title"]?.text == "Pay" && undone?["completed"] == .null)
        }
    }

    @Test func aContactKeepsWhatThePageDoesNotShow() async throws {
        try await NativeFixture.with { fixture in
            let card = """
                BEGIN:VCARD\r\nVERSION:4.0\r\nUID:u1\r\nFN:Anna\r\nN:Berg;Anna;;;\r\nBDAY:19900101\r\nTEL;TYPE=home;PREF=1:123\r\n\
                X-OWN;A=b:kept\r\nEND:VCARD\r\n
                """
            try fixture.folder.write("home/contacts/personal/u1.vcf", Data(card.utf8))
            let change = #"{"numbers": [{"label": "home", "value": "123"}, {"label": "Work; x", "value": "9,9"}]}"#
            #expect(try await fixture.call("PATCH", "/stores/contacts/u1", change).status == 200)
            let text = try String(
                contentsOfFile: fixture.folder.path("home/contacts/personal/u1.vcf").string, encoding: .utf8)
            for line in ["BDAY:19900101", "X-OWN;A=b:kept", "TEL;TYPE=home;PREF=1:123", "N:Berg;Anna;;;"] {
                #expect(text.contains(line + "\r\n"))
            }
            let shown = try await fixture.call("GET", "/stores/contacts?q=anna").body["contacts"]?[0]
            #expect(shown?["numbers"]?.items.map { $0["value"]?.text } == ["123", "9,9"])
            #expect(shown?["numbers"]?[1]?["label"]?.text == "work; x")
        }
    }

    /// Values of another kind, and names of no value, are refused and change nothing.
    @Test(arguments: [
        ("calendar", #"{"title": 5}"#, 400), ("calendar", #"{"title": "a", "start": "soon"}"#, 400),
        ("calendar", #"{"title": "a"}"#, 422), ("calendar", #"{"start": "2026-11-25", "title": ""}"#, 422),
        ("calendar", #"{"title": "a", "start": {"date": "2026-11-25T09:00:00Z"}}"#, 400),
        ("calendar", #"{"title": "a", "start": "2026-11-25", "end": "2026-11-20"}"#, 422),
        ("reminders", #"{"title": "a", "priority": 99}"#, 422), ("reminders", #"{"title": "a", "due": 5}"#, 400),
        ("reminders", #"{"title": "a", "alarmMinutes": 5}"#, 422), ("reminders", #"{"title": "a", "x": 1}"#, 400),
        ("notes", "{}", 422), ("notes", #"{"title": null}"#, 400), ("notes", #"[1]"#, 400),
        ("contacts", #"{"name": " "}"#, 422), ("contacts", #"{"name": "a", "numbers": ["1"]}"#, 400),
        ("habits", #"{"name": ""}"#, 422), ("habits", #"{"name": "a", "frequency": "hourly"}"#, 400),
    ])
    func hostileValuesAreRefused(store: String, body: String, status: Int) async throws {
        try await NativeFixture.with { fixture in
            let reply = try await fixture.call("POST", "/stores/\(store)", body)
            #expect(reply.status == status, "\(reply.body)")
            let list = try await fixture.call("GET", "/stores/\(store)").body.members ?? [:]
            #expect(list.values.allSatisfy { $0.items.isEmpty })
            #expect(try await fixture.call("PATCH", "/stores/\(store)/none", "{}").status == 404)
        }
    }

    /// A start without an end keeps the length of an event.
    @Test func aMovedEventKeepsItsLength() async throws {
        try await NativeFixture.with { fixture in
            let new = #"{"title": "Talk", "start": "2026-11-25T09:00:00Z", "end": "2026-11-25T11:30:00Z"}"#
            let id = try #require(try await fixture.call("POST", "/stores/calendar", new).body["id"]?.text)
            let moved = try await fixture.call(
                "PATCH", "/stores/calendar/\(id)", #"{"start": "2026-11-26T09:00:00Z", "alarmMinutes": 5}"#)
            #expect(moved.status == 200)
            var event = try await fixture.call("GET", "/stores/calendar/\(id)").body
            #expect(event["end"]?.text == "2026-11-26T11:30:00Z" && event["alarmMinutes"]?.int == 5)
            _ = try await fixture.call("PATCH", "/stores/calendar/\(id)", #"{"alarmMinutes": null}"#)
            event = try await fixture.call("GET", "/stores/calendar/\(id)").body
            #expect(event["start"]?.text == "2026-11-26T09:00:00Z" && event["alarmMinutes"] == .null)
        }
    }

    @Test func aHabitIsLogged() async throws {
        try await NativeFixture.with { fixture in
            let id = try #require(
                try await fixture.call("POST", "/stores/habits", #"{"name": "Running"}"#).body["id"]?.text)
            #expect(try await fixture.call("POST", "/stores/habits/\(id)/log", "{}").status == 200)
            #expect(
                try await fixture.call("POST", "/stores/habits/\(id)/log", #"{"day": "2026-13-40"}"#).status == 400)
            let habit = try await fixture.call("GET", "/stores/habits").body["habits"]?[0]
            #expect(habit?["currentStreak"]?.int == 1)
            #expect(habit?["isDone"] == .boolean(true))
            #expect(try await fixture.call("DELETE", "/stores/habits/\(id)").status == 200)
        }
    }

    @Test func settingsHaveKindsAndLoseTheirSecrets() async throws {
        try await NativeFixture.with { fixture in
            try await SettingsFile(home: fixture.hearth.home).change {
                try $0.set("origins.private", to: "https://models.example.org/models.json?token=secret")
            }
            await fixture.home.reload()
            let opened = try fixture.home.present
            let all = try await fixture.call("GET", "/settings").body["settings"]?.items ?? []
            let keys = Set(all.compactMap { $0["key"]?.text })
            #expect(keys.isSuperset(of: Configuration.keys.filter { !$0.contains("NAME") }))
            let origin = all.first { $0["key"]?.text == "origins.private" }
            #expect(origin?["value"]?.text == "https://models.example.org/models.json")
            let kinds = Dictionary(grouping: all) { $0["type"]?.text ?? "" }.mapValues(\.count)
            #expect(Set(kinds.keys) == Set(SettingType.allCases.map(\.rawValue)))
            let changed = try await fixture.call(
                "PATCH", "/settings",
                #"{"temperature": 0.5, "chat.showThinking": false, "approval.NOTE_ACTION": "never"}"#)
            #expect(changed.body["settings"]?.items.count == 3)
            #expect(try fixture.home.present === opened)
            #expect(await fixture.service.chats.assistant.chatSettings.showThinking == false)
            #expect(await fixture.service.chats.assistant.chatSettings.temperature == 0.5)
            _ = try await fixture.call("PATCH", "/settings", #"{"threads": 2}"#)
            #expect(try fixture.home.present !== opened)
            try await fixture.event("settings") { $0["keys"]?[0]?.text == "threads" }
            let route = try await fixture.call("PUT", "/route", #"{"forceLocal": true}"#).body
            #expect(route["forceLocal"] == .boolean(true))
            #expect(route["reason"]?.text == "force-local")
        }
    }

    @Test func keysAreShownOnce() async throws {
        try await NativeFixture.with { fixture in
            let made = try await fixture.call("POST", "/keys", #"{"name": "laptop", "scopes": ["chat"]}"#)
            #expect(made.status == 201 && fixture.home.hasKeys)
            let (id, key) = (try #require(made.body["id"]?.text), try #require(made.body["key"]?.text))
            let listed = try #require(await fixture.reply("GET", "/keys"))
            let text = String(decoding: try await listed.collectedBody(), as: UTF8.self)
            #expect(text.contains(id))
            #expect(!text.contains(key))
            #expect(try await fixture.call("DELETE", "/keys/\(id)").status == 200)
            #expect(try await fixture.call("DELETE", "/keys/\(id)").status == 404)
            #expect(!fixture.home.hasKeys)
        }
    }
}
