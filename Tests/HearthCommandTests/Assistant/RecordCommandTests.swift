import Foundation
import HearthAssistant
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// The commands of the user's records, each in a home of its own.
@Suite(.timeLimit(.minutes(5))) struct RecordCommandTests {
    @Test(arguments: [
        ([["notes", "add", "Bread", "--body", "flour"], ["notes", "list"]], "Bread"),
        ([["notes", "add", "Bread", "--body", "flour"], ["notes", "list", "flo"]], "Bread"),
        ([["reminders", "add", "Call", "--due", "2099-01-02 09:00"], ["reminders", "list"]], "2099-01-02 09:00"),
        (
            [
                ["calendar", "add", "Trip", "--start", "2030-05-01", "--end", "2030-05-03"],
                ["calendar", "list", "--from", "2030-05-02", "--to", "2030-05-02"],
            ], "Wed 2030-05-01  Fri 2030-05-03  Trip"
        ),
        ([["habits", "add", "run"], ["habits", "log", "RUN"], ["habits", "list"]], "1 day"),
        ([["contacts", "add", "Zoë Smith", "--number", "12"], ["contacts", "list", "zoe"]], "Zoë Smith"),
        ([["notes", "add", "x", "--body", "y"], ["undo"], ["undo", "--list"]], "undone"),
        (
            [["habits", "add", "run"], ["habits", "log", "run", "--amount", "2.5"], ["habits", "export"]], "run,daily,"
        ),
    ])
    func recordsAreAddedAndListed(lines: [[String]], expected: String) async throws {
        let (status, output, errors) = await CommandProbe.run(lines, try TemporaryFolder())
        #expect(status == 0, "\(errors)")
        #expect(output.contains(expected), "\(output)")
    }

    /// Every addition is taken back by `hearth undo`.
    @Test(arguments: [
        ["notes", "add", "a", "--body", "b"], ["reminders", "add", "a"],
        ["calendar", "add", "a", "--start", "2030-05-01"],
        ["habits", "add", "a"], ["contacts", "add", "a"],
    ])
    func everyAdditionCanBeUndone(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let kind = words[0]
        let range = kind == "calendar" ? ["--from", "2030-05-01"] : []
        let before = await CommandProbe.run([words, [kind, "list", "--format", "json"] + range], folder)
        #expect(before.1.contains(#""id""#))
        let after = await CommandProbe.run([["undo"], [kind, "list", "--format", "json"] + range], folder)
        #expect(after.0 == 0, "\(after.2)")
        #expect(after.1.filter { !$0.isWhitespace } == "[]")
        #expect(await CommandProbe.run([["undo"]], folder).0 == 1)
    }

    /// A title names a record without regard to case and accents, if no other has it; the id decides first.
    @Test func aTitleNamesARecord() async throws {
        let folder = try TemporaryFolder()
        let added = await CommandProbe.run(
            [["notes", "add", "Café", "--body", "x"], ["notes", "add", "🙂", "--body", "y"], ["notes", "list"]], folder)
        #expect(added.0 == 0)
        #expect(
            await CommandProbe.run([["notes", "edit", "cafe", "--body", "z"], ["notes", "show", "CAFÉ"]], folder).1
                .contains("z"))
        #expect(await CommandProbe.run([["notes", "show", "🙃"]], folder).0 == 1)
        let near = await CommandProbe.run([["notes", "show", "Cafes"]], folder)
        #expect(near.0 == 1 && near.2.contains("Did you mean 'Café'?"), "\(near.2)")
        let twice = await CommandProbe.run(
            [["notes", "add", "cafe", "--body", "w"], ["notes", "remove", "Café"]], folder)
        #expect(twice.0 == 1 && twice.2.contains("[ambiguous-record]"), "\(twice.2)")
        #expect(
            await CommandProbe.run([["reminders", "add", "Call Anna"], ["reminders", "done", "call anna"]], folder).0
                == 0)
    }

    /// Every noun changes and removes a record by the beginning of its id, or its name, and says so alike.
    @Test(arguments: [
        (["notes", "a", "--body", "b"], "--title"), (["reminders", "a"], "--title"),
        (["calendar", "a", "--start", "2030-05-01"], "--title"), (["habits", "a"], "--name"),
        (["contacts", "a"], "--name"),
    ])
    func everyNounChangesAndRemoves(words: [String], option: String) async throws {
        let folder = try TemporaryFolder()
        let kind = words[0]
        let added = await CommandProbe.run([[kind, "add"] + words.dropFirst() + ["--format", "json"]], folder)
        let edit = try JSONDecoder().decode(RecordEdit.self, from: Data(added.1.utf8))
        let id = kind == "habits" ? "A" : String(edit.id.prefix(6))
        let changed = await CommandProbe.run([[kind, "edit", id, option, "Zz", "--format", "json"]], folder)
        #expect(changed.0 == 0, "\(changed.2)")
        let change = try JSONDecoder().decode(RecordEdit.self, from: Data(changed.1.utf8))
        #expect(change.id == edit.id && change.action != edit.action)
        let name = kind == "habits" ? "zz" : id
        #expect(await CommandProbe.run([[kind, "show", name, "--format", "json"]], folder).1.contains(#""Zz""#))
        let removed = await CommandProbe.run([[kind, "remove", name]], folder)
        #expect(removed.0 == 0 && removed.2.contains("`hearth undo`"), "\(removed.2)")
        #expect(await CommandProbe.run([[kind, "show", name]], folder).0 == 1)
        #expect(await CommandProbe.run([["undo"], [kind, "show", name]], folder).0 == 0)
        #expect(await CommandProbe.run([["undo", change.action]], folder).0 == 0)
        #expect(await CommandProbe.run([[kind, "edit", "nothing"]], folder).0 == 1)
    }

    /// An edit keeps each value that it does not name, `none` and empty texts take values away, and undo brings them back.
    @Test(arguments: [
        (
            ["reminders", "a", "--due", "2099-01-02 09:00", "--alarm", "5", "--priority", "2"],
            [["--priority", "none"], ["--alarm", "none"], ["--due", "none"]],
            ["priority", "alarmMinutes", "due timeZone"]
        ),
        (
            [
                "calendar", "a", "--start", "2099-01-02 09:00", "--location", "here", "--notes", "n", "--alarm", "5",
                "--repeat", "FREQ=DAILY;COUNT=2",
            ],
            [["--location", ""], ["--notes", ""], ["--alarm", "none"], ["--repeat", ""]],
            ["location", "notes", "alarmMinutes", "recurrence"]
        ),
        (
            [
                "contacts", "a", "--number", "12", "--mail", "a@example.org", "--nickname", "b", "--organization", "o",
                "--note", "n",
            ],
            [["--without", "12"], ["--without", "b"], ["--organization", ""], ["--note", ""]],
            ["numbers", "nicknames", "organization", "note"]
        ),
        (["habits", "a", "--weekly"], [["--daily"]], ["frequency"]),
        (["notes", "a", "--body", "b"], [["--body", ""]], ["body"]),
    ])
    func anEditChangesWhatItNames(words: [String], edits: [[String]], fields: [String]) async throws {
        let folder = try TemporaryFolder()
        let kind = words[0]
        let added = await CommandProbe.run([[kind, "add"] + words.dropFirst() + ["--format", "json"]], folder)
        #expect(added.0 == 0, "\(added.2)")
        let id = kind == "habits" ? "a" : try JSONDecoder().decode(RecordEdit.self, from: Data(added.1.utf8)).id
        func shown() async throws -> JSONMembers {
            let text = await CommandProbe.run([[kind, "show", id, "--format", "json"]], folder).1
            var members = try #require(try JSONValue(parsing: Data(text.utf8)).members)
            members["changed"] = nil
            return members
        }
        var states = [try await shown()]
        for edit in edits {
            let result = await CommandProbe.run([[kind, "edit", id] + edit], folder)
            #expect(result.0 == 0, "\(result.2)")
            let (before, after) = (try #require(states.last), try await shown())
            let differing = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
            #expect(
                differing == Set(fields[states.count - 1].split(separator: " ").map(String.init)),
                "\(edit): \(differing)")
            states.append(after)
        }
        // The same again is no change.
        #expect(await CommandProbe.run([[kind, "edit", id] + (edits.last ?? [])], folder).0 == 64)
        for state in states.dropLast().reversed() {
            #expect(await CommandProbe.run([["undo"]], folder).0 == 0)
            #expect(try await shown() == state)
        }
    }

    @Test(arguments: ["notes", "calendar", "reminders", "habits", "contacts", "chats"])
    func aNounAloneLists(kind: String) async throws {
        let folder = try TemporaryFolder()
        let (alone, listed) = (
            await CommandProbe.run([[kind]], folder), await CommandProbe.run([[kind, "list"]], folder)
        )
        #expect(alone == listed && alone.0 == 0)
        #expect(await CommandProbe.run([[kind, "--format", "json"]], folder).1.filter { !$0.isWhitespace } == "[]")
    }

    @Test(arguments: [
        (["notes", "show", "zzzz"], Int32(1), "no-such-record"),
        (["reminders", "done", "zzzz"], 1, "no-such-record"),
        (["habits", "log", "none"], 1, "no-such-record"), (["calendar", "add", "x"], 64, "wrong-usage"),
        (["calendar", "add", "x", "--start", "soon"], 64, "wrong-usage"),
        (["calendar", "add", "x", "--start", "2030-05-01", "--end", "2030-05-01 10:00"], 64, "wrong-usage"),
        (["calendar", "add", "x", "--start", "2030-05-02 10:00", "--end", "2030-05-01 10:00"], 1, "unusable-payload"),
        (["calendar", "import", "/nowhere"], 1, "file-not-found"), (["contacts", "import", "-"], 1, "unusable-record"),
        (["undo", "zzzz"], 1, "no-such-record"), (["undo"], 1, "no-such-record"),
        (["chats", "show", "zzzz"], 1, "no-such-record"), (["chats", "export", "zzzz"], 1, "no-such-record"),
        (["chats", "import", "/nowhere"], 1, "file-not-found"), (["notes", "show", ""], 64, "wrong-usage"),
        (["notes", "remove", "🙂"], 1, "no-such-record"),
    ])
    func failuresHaveCodes(words: [String], status: Int32, code: String) async throws {
        let result = await CommandProbe.run([words], try TemporaryFolder())
        #expect(result.0 == status, "\(result.2)")
        #expect(result.2.contains("[\(code)]"), "\(result.2)")
    }

    /// The sums, the lines and the commands of an import, and what `problems` lists afterwards.
    @Test func anImportSaysWhatItDid() async throws {
        let folder = try TemporaryFolder()
        let events = [
            "UID:good\r\nDTSTART:20260401T120000Z\r\nSUMMARY:Good", "UID:bad\r\nDTSTART:2026-04-01\r\nSUMMARY:Bad",
            "UID:odd\r\nDTSTART;TZID=Mars/Olympus:20260401T120000\r\nSUMMARY:Odd",
        ].map { "BEGIN:VEVENT\r\n\($0)\r\nEND:VEVENT\r\n" }
        let todo = "BEGIN:VTODO\r\nUID:t\r\nSUMMARY:Todo\r\nEND:VTODO\r\n"
        let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + events.joined() + todo + "END:VCALENDAR\r\n"
        try folder.write("a file.ics", Data(text.utf8))
        let words = ["calendar", "import", folder.path("a file.ics").string, "--format", "json"]
        let first = try JSONValue(parsing: Data((await CommandProbe.run([words], folder)).1.utf8))
        #expect(["added", "changed", "skipped", "unreadable"].map { first[$0]?.number } == [2, 0, 0, 1])
        let other = try #require(first["other"]?.items?.first)
        #expect(other["component"]?.string == "VTODO" && other["count"]?.number == 1)
        #expect(other["command"]?.string == "hearth reminders import '\(folder.path("a file.ics"))'")
        let problems = try #require(first["problems"]?.items)
        #expect(problems.map { $0["code"]?.string } == ["unreadable-start", "unknown-zone"])
        #expect(problems.map { $0["line"]?.number } == [8, 13] && problems.map { $0["id"]?.string } == ["bad", "odd"])
        let second = try JSONValue(parsing: Data((await CommandProbe.run([words], folder)).1.utf8))
        #expect(["added", "changed", "skipped", "unreadable"].map { second[$0]?.number } == [0, 0, 2, 1])
        #expect(second["action"]?.string == nil)
        let listed = await CommandProbe.run([["calendar", "problems", "--format", "json"]], folder)
        let found = try #require(try JSONValue(parsing: Data(listed.1.utf8)).items)
        #expect(Set(found.compactMap { $0["code"]?.string }) == ["unreadable-start", "unknown-zone"])
        #expect(found.allSatisfy { $0["file"]?.string?.hasPrefix("calendar/") == true })
        let empty = await CommandProbe.run([["contacts", "problems", "--format", "json"]], folder)
        #expect(try JSONValue(parsing: Data(empty.1.utf8)).items?.isEmpty == true)
    }

    @Test func dueRemindersAreThoseWhoseTimeHasCome() async throws {
        let folder = try TemporaryFolder()
        let lines = [
            ["reminders", "add", "past", "--due", "2020-01-01 09:00"],
            ["reminders", "add", "future", "--due", "2099-01-01"],
            ["reminders", "add", "never"], ["reminders", "due"],
        ]
        let due = await CommandProbe.run(lines, folder)
        #expect(due.0 == 0)
        #expect(due.1.contains("past") && !due.1.contains("future") && !due.1.contains("never"))
        #expect(await CommandProbe.run([["reminders", "due", "--within", "5"]], folder).1 == "")
    }

    @Test func theDoctorSeesADamagedDatabaseAndFiles() async throws {
        let folder = try TemporaryFolder()
        _ = await CommandProbe.run([["notes", "add", "a", "--body", "b"]], folder)
        _ = try folder.write("home/reminders/personal/x.ics", Data("no calendar".utf8))
        let whole = await CommandProbe.run([["doctor", "--format", "json"]], folder)
        #expect(whole.1.contains("unusable-record"))
        #expect(whole.1.contains("Your records"))
        let file = folder.path("home/hearth.db")
        var bytes = try Data(contentsOf: file.url)
        for index in stride(from: 5000, to: bytes.count, by: 97) { bytes[index] ^= 0xFF }
        try bytes.write(to: file.url)
        let damaged = await CommandProbe.run([["doctor", "--format", "json"]], folder)
        #expect(damaged.0 == 1)
        #expect(damaged.1.contains("database-damaged") || damaged.1.contains("cannot-open-database"), "\(damaged.1)")
    }
}
