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
                "calendar", #"{"title": "Dentist", "start": {"date": "2026-11-25T09:00:00.000Z"}}"#,
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
            let new = #"{"title": "Pay", "due": {"date": "2026-11-25T09:00:00.000Z"}, "alarmMinutes": 10}"#
            let id = try #require(try await fixture.call("POST", "/stores/reminders", new).body["id"]?.text)
            func reminder(_ query: String) async throws -> JSONValue? {
                try await fixture.call("GET", "/stores/reminders\(query)").body["reminders"]?[0]
            }
            #expect(try await reminder("")?["due"]?["date"]?.text == "2026-11-25T09:00:00.000Z")
            #expect(try await reminder("")?["alarmMinutes"]?.int == 10)
            _ = try await fixture.call("PATCH", "/stores/reminders/\(id)", #"{"clear": ["due"]}"#)
            #expect(try await reminder("")?["due"] == nil)
            #expect(try await reminder("")?["alarmMinutes"] == nil)
            _ = try await fixture.call("POST", "/stores/reminders/\(id)/complete")
            #expect(try await reminder("") == nil)
            #expect(try await reminder("?completed=true")?["completed"] != nil)
            #expect(try await reminder("?q=pay") == nil)
            #expect(try await reminder("?q=pay&completed=true")?["completed"] != nil)
        }
    }

    @Test func aReminderIsCompletedWithItsOtherValues() async throws {
        try await NativeFixture.with { fixture in
            let new = try await fixture.call("POST", "/stores/reminders", #"{"title": "Pay", "priority": 5}"#)
            let id = try #require(new.body["id"]?.text)
            let order =
                #"{"completed": true, "title": "Paid", "priority": 1, "due": {"date": "2026-11-25T09:00:00.000Z"}}"#
            let changed = try await fixture.call("PATCH", "/stores/reminders/\(id)", order)
            #expect(changed.status == 200)
            func reminder() async throws -> JSONValue? {
                try await fixture.call("GET", "/stores/reminders?completed=true").body["reminders"]?[0]
            }
            let done = try await reminder()
            #expect(done?["title"]?.text == "Paid" && done?["priority"]?.int == 1)
            #expect(done?["due"]?["date"]?.text == "2026-11-25T09:00:00.000Z" && done?["completed"] != nil)
            // One change is one action.
            let action = try #require(changed.body["action"]?.text)
            _ = try await fixture.call("POST", "/actions/\(action)/undo")
            let undone = try await reminder()
            #expect(undone?["title"]?.text == "Pay" && undone?["completed"] == nil)
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

    @Test func aHabitIsLogged() async throws {
        try await NativeFixture.with { fixture in
            let id = try #require(
                try await fixture.call("POST", "/stores/habits", #"{"name": "Running"}"#).body["id"]?.text)
            #expect(try await fixture.call("POST", "/stores/habits/\(id)/log", "{}").status == 200)
            #expect(
                try await fixture.call("POST", "/stores/habits/\(id)/log", #"{"day": "2026-13-40"}"#).status == 400)
            let habit = try await fixture.call("GET", "/stores/habits").body["habits"]?[0]
            #expect(habit?["streak"]?.int == 1)
            #expect(habit?["isDone"] == .boolean(true))
            #expect(try await fixture.call("DELETE", "/stores/habits/\(id)").status == 200)
        }
    }

    @Test func settingsHaveKindsAndLoseTheirSecrets() async throws {
        try await NativeFixture.with { fixture in
            try await SettingsFile(home: fixture.hearth.home).change {
                try $0.set("origins.private", to: "https://models.example.org/models.json?token=secret")
            }
            let all = try await fixture.call("GET", "/settings").body["settings"]?.items ?? []
            let keys = Set(all.compactMap { $0["key"]?.text })
            #expect(keys.isSuperset(of: Set(Configuration.keys).subtracting(["origins.NAME"])))
            let origin = all.first { $0["key"]?.text == "origins.private" }
            #expect(origin?["value"]?.text == "https://models.example.org/models.json")
            let kinds = Dictionary(grouping: all) { $0["type"]?.text ?? "" }.mapValues(\.count)
            #expect(Set(kinds.keys) == Set(SettingKind.allCases.map(\.rawValue)))
            let changed = try await fixture.call(
                "PATCH", "/settings",
                #"{"temperature": 0.5, "chat.showThinking": false, "approval.NOTE_ACTION": "never"}"#)
            #expect(changed.body["settings"]?.items.count == 3)
            #expect(fixture.reloads.withLock { $0 } == 0)
            #expect(await fixture.service.chats.assistant.chatSettings.showThinking == false)
            #expect(await fixture.service.chats.assistant.chatSettings.temperature == 0.5)
            _ = try await fixture.call("PATCH", "/settings", #"{"threads": 2}"#)
            #expect(fixture.reloads.withLock { $0 } == 1)
            try await fixture.event("settings") { $0["keys"]?[0]?.text == "threads" }
            let route = try await fixture.call("PUT", "/route", #"{"forceLocal": true}"#).body
            #expect(route["forceLocal"] == .boolean(true))
            #expect(route["reason"]?.text == "force-local")
        }
    }

    /// A choice that the configuration refuses is no choice.
    @Test func everyChoiceIsTaken() throws {
        for body in SettingKinds.bodies(Configuration()) {
            var configuration = Configuration()
            for choice in body.choices ?? [] { try configuration.set(body.key, to: choice) }
            if let minimum = body.minimum, let maximum = body.maximum, body.type == .integer {
                // The bounds of pictures depend on the projector.
                guard !body.key.hasPrefix("image") else { continue }
                try configuration.set(body.key, to: "\(Int(minimum))")
                try configuration.set(body.key, to: "\(Int(maximum))")
                #expect(throws: (any Error).self) { try configuration.set(body.key, to: "\(Int(maximum) + 1)") }
            }
            if body.type == .boolean { try configuration.set(body.key, to: "true") }
        }
    }

    @Test func keysAreShownOnce() async throws {
        try await NativeFixture.with { fixture in
            let made = try await fixture.call("POST", "/keys", #"{"name": "laptop", "scopes": ["chat"]}"#)
            #expect(made.status == 201)
            let (id, key) = (try #require(made.body["id"]?.text), try #require(made.body["key"]?.text))
            let listed = try #require(await fixture.reply("GET", "/keys"))
            let text = String(decoding: try await listed.collectedBody(), as: UTF8.self)
            #expect(text.contains(id))
            #expect(!text.contains(key))
            #expect(try await fixture.call("DELETE", "/keys/\(id)").status == 200)
            #expect(try await fixture.call("DELETE", "/keys/\(id)").status == 404)
            #expect(fixture.reloads.withLock { $0 } == 2)
        }
    }
}
