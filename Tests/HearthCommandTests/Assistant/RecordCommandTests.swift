import Foundation
import HearthAssistant
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// The commands of the user's records, each in a home of its own.
@Suite(.timeLimit(.minutes(5))) struct RecordCommandTests {
    /// Runs command lines in one home, and returns the output of the last one.
    private func run(_ lines: [[String]], input: String = "", _ folder: TemporaryFolder) async -> (
        Int32, String, String
    ) {
        var result: (Int32, String, String) = (0, "", "")
        for words in lines {
            let probe = CommandProbe(home: folder.path("home"))
            let status = await probe.run(words, input: FixedSource(text: input))
            result = (status, probe.output.contents, probe.errors.contents)
            if status != 0 { break }
        }
        return result
    }

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
        let (status, output, errors) = await run(lines, try TemporaryFolder())
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
        let before = await run([words, [kind, "list", "--format", "json"] + range], folder)
        #expect(before.1.contains(#""id""#))
        let after = await run([["undo"], [kind, "list", "--format", "json"] + range], folder)
        #expect(after.0 == 0, "\(after.2)")
        #expect(after.1.filter { !$0.isWhitespace } == "[]")
        #expect(await run([["undo"]], folder).0 == 1)
    }

    /// A title names a record without regard to case and accents, if no other has it; the id decides first.
    @Test func aTitleNamesARecord() async throws {
        let folder = try TemporaryFolder()
        let added = await run(
            [["notes", "add", "Café", "--body", "x"], ["notes", "add", "🙂", "--body", "y"], ["notes", "list"]], folder)
        #expect(added.0 == 0)
        #expect(
            await run([["notes", "edit", "cafe", "--body", "z"], ["notes", "show", "CAFÉ"]], folder).1.contains("z"))
        #expect(await run([["notes", "show", "🙃"]], folder).0 == 1)
        let near = await run([["notes", "show", "Cafes"]], folder)
        #expect(near.0 == 1 && near.2.contains("Did you mean 'Café'?"), "\(near.2)")
        let twice = await run([["notes", "add", "cafe", "--body", "w"], ["notes", "remove", "Café"]], folder)
        #expect(twice.0 == 1 && twice.2.contains("[ambiguous-record]"), "\(twice.2)")
        #expect(await run([["reminders", "add", "Call Anna"], ["reminders", "done", "call anna"]], folder).0 == 0)
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
        let added = await run([[kind, "add"] + words.dropFirst() + ["--format", "json"]], folder)
        let edit = try JSONDecoder().decode(RecordEdit.self, from: Data(added.1.utf8))
        let id = kind == "habits" ? "A" : String(edit.id.prefix(6))
        let changed = await run([[kind, "edit", id, option, "Zz", "--format", "json"]], folder)
        #expect(changed.0 == 0, "\(changed.2)")
        let change = try JSONDecoder().decode(RecordEdit.self, from: Data(changed.1.utf8))
        #expect(change.id == edit.id && change.action != edit.action)
        let name = kind == "habits" ? "zz" : id
        #expect(await run([[kind, "show", name, "--format", "json"]], folder).1.contains(#""Zz""#))
        let removed = await run([[kind, "remove", name]], folder)
        #expect(removed.0 == 0 && removed.2.contains("`hearth undo`"), "\(removed.2)")
        #expect(await run([[kind, "show", name]], folder).0 == 1)
        #expect(await run([["undo"], [kind, "show", name]], folder).0 == 0)
        #expect(await run([["undo", change.action]], folder).0 == 0)
        #expect(await run([[kind, "edit", "nothing"]], folder).0 == 1)
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
        let added = await run([[kind, "add"] + words.dropFirst() + ["--format", "json"]], folder)
        #expect(added.0 == 0, "\(added.2)")
        let id = kind == "habits" ? "a" : try JSONDecoder().decode(RecordEdit.self, from: Data(added.1.utf8)).id
        func shown() async throws -> JSONMembers {
            let text = await run([[kind, "show", id, "--format", "json"]], folder).1
            var members = try #require(try JSONValue(parsing: Data(text.utf8)).members)
            members["changed"] = nil
            return members
        }
        var states = [try await shown()]
        for edit in edits {
            let result = await run([[kind, "edit", id] + edit], folder)
            #expect(result.0 == 0, "\(result.2)")
            let (before, after) = (try #require(states.last), try await shown())
            let differing = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
            #expect(
                differing == Set(fields[states.count - 1].split(separator: " ").map(String.init)),
                "\(edit): \(differing)")
            states.append(after)
        }
        // The same again is no change.
        #expect(await run([[kind, "edit", id] + (edits.last ?? [])], folder).0 == 64)
        for state in states.dropLast().reversed() {
            #expect(await run([["undo"]], folder).0 == 0)
            #expect(try await shown() == state)
        }
    }

    @Test(arguments: ["notes", "calendar", "reminders", "habits", "contacts", "chats"])
    func aNounAloneLists(kind: String) async throws {
        let folder = try TemporaryFolder()
        let (alone, listed) = (await run([[kind]], folder), await run([[kind, "list"]], folder))
        #expect(alone == listed && alone.0 == 0)
        #expect(await run([[kind, "--format", "json"]], folder).1.filter { !$0.isWhitespace } == "[]")
    }

    @Test(arguments: ["calendar", "reminders", "contacts", "habits"])
    func anExportIsImportedAgain(kind: String) async throws {
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        let additions: [String: [[String]]] = [
            "calendar": [
                [
                    "calendar", "add", "Dentist; \"now\"", "--start", "2030-05-01 09:00", "--repeat",
                    "FREQ=DAILY;COUNT=2",
                ]
            ],
            "reminders": [["reminders", "add", "Call, Anna", "--due", "2030-05-01"]],
            "contacts": [["contacts", "add", "Anna Smith", "--mail", "a@example.org"]],
            "habits": [["habits", "add", "run"], ["habits", "log", "run"]],
        ]
        let file = first.path("export").string
        let exported = await run((additions[kind] ?? []) + [[kind, "export", "--to", file]], first)
        #expect(exported.0 == 0, "\(exported.2)")
        #expect(await run([[kind, "export", "--to", file]], first).0 == 1, "an export replaces no file")
        let range = kind == "calendar" ? ["--from", "2030-05-01"] : []
        let original = await run([[kind, "list", "--format", "json"] + range], first)
        let imported = await run([[kind, "import", file], [kind, "list", "--format", "json"] + range], second)
        #expect(imported.0 == 0, "\(imported.2)")
        func named(_ text: String) -> [String] { text.matches(of: /"(?:title|name)" : "[^\n]*"/).map { String($0.0) } }
        #expect(named(imported.1) == named(original.1))
        #expect(!named(imported.1).isEmpty)
        let again = await run([[kind, "import", file]], second)
        #expect(again.0 == 0 && again.2.contains("0 added"))
    }

    @Test func notesGoToAFolderAndBack() async throws {
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        let folder = first.path("notes").string
        _ = await run([["notes", "add", "One/two", "--body", "# text\n"], ["notes", "export", folder]], first)
        let shown = await run([["notes", "import", folder], ["notes", "list", "--format", "json"]], second)
        #expect(shown.1.contains("One/two"))
    }

    /// All conversations of a home are those of a fresh one after an export and an import.
    @Test func conversationsMoveToAnotherHome() async throws {
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        let chat = #"""
            {"title": "Trip", "create_time": 1700000000, "update_time": 1700000900, "current_node": "a",
             "conversation_id": "one", "mapping": {
                "q": {"parent": null, "message": {"author": {"role": "user"}, "create_time": 1700000100,
                 "content": {"parts": ["Where to go?"]}}},
                "a": {"parent": "q", "message": {"author": {"role": "assistant"}, "create_time": 1700000200,
                 "content": {"parts": ["Lisbon."]}}}}}
            """#
        let source = try first.write("chats.json", Data("[\(chat), {}]".utf8)).string
        let target = first.path("all.json").string
        let added = await run(
            [["chats", "import", source, "--format", "json"]], first)
        #expect(added.1.contains(#""imported":1"#) && added.1.contains(#""refused":1"#))
        #expect(added.2.contains("import-unknown-format"))
        let exported = await run([["chats", "export", "--to", target], ["chats", "export"]], first)
        let moved = await run([["chats", "import", target], ["chats", "export"]], second)
        #expect(moved.0 == 0 && moved.1 == exported.1 && moved.1.contains("Lisbon."))
        let again = await run([["chats", "import", target, "--format", "json"]], second)
        #expect(again.1.contains(#""skipped":1"#) && again.1.contains(#""imported":0"#))
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
        let result = await run([words], try TemporaryFolder())
        #expect(result.0 == status, "\(result.2)")
        #expect(result.2.contains("[\(code)]"), "\(result.2)")
    }

    @Test(arguments: [
        ("today", 0, true), ("tomorrow", 1, true), ("tomorrow 9:05", 1, false), ("today 23:59", 0, false),
        ("2026-11-26", 2, true), ("2026-11-26T08:00", 2, false), ("2026-11-26 08:00", 2, false),
        ("friday", 3, true), ("Fri 9pm", 3, false), ("monday at 9", 6, false),
        ("13:00", 0, false), ("9:00", 1, false), ("12pm", 1, false), ("5 PM", 0, false), ("in 2 hours", 0, false),
        ("in 3 days", 3, true), ("Tomorrow 9", 1, false), ("in 45 min", 0, false),
    ])
    func timesOfTheCommandLine(word: String, days: Int, isAllDay: Bool) throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let now = try Date("2026-11-24T11:00:00Z", strategy: .iso8601)
        let time = try #require(CommandTime(word)?.time(now: now, zone: zone))
        #expect(time.isAllDay == isAllDay)
        let day = time.date.formatted(.iso8601.year().month().day()).suffix(2)
        #expect(Int(day) == 24 + days)
        // The day of today's name is that of the next week.
        #expect(CommandTime("tuesday") != nil && CommandTime("in 1 week") != nil)
        #expect(
            CommandTime("tuesday")?.time(now: now, zone: zone) == CommandTime("in 1 week")?.time(now: now, zone: zone))
    }

    @Test(arguments: [
        "", "soon", "todayish", "tomorrow 25:00", "2026-13-01", "9", "0pm", "13pm", "25:00", "9:60", "in", "in 2",
        "in 0 days", "in -1 days",
        "in 9999999 hours", "next friday", "friday friday", "tomorrow 9 Uhr", "f", "🙂", "in 2 hours\n",
    ])
    func otherWordsAreNoTime(_ word: String) {
        #expect(CommandTime(word) == nil)
    }

    @Test func dueRemindersAreThoseWhoseTimeHasCome() async throws {
        let folder = try TemporaryFolder()
        let lines = [
            ["reminders", "add", "past", "--due", "2020-01-01 09:00"],
            ["reminders", "add", "future", "--due", "2099-01-01"],
            ["reminders", "add", "never"], ["reminders", "due"],
        ]
        let due = await run(lines, folder)
        #expect(due.0 == 0)
        #expect(due.1.contains("past") && !due.1.contains("future") && !due.1.contains("never"))
        #expect(await run([["reminders", "due", "--within", "5"]], folder).1 == "")
    }

    @Test func theDoctorSeesADamagedDatabaseAndFiles() async throws {
        let folder = try TemporaryFolder()
        _ = await run([["notes", "add", "a", "--body", "b"]], folder)
        _ = try folder.write("home/reminders/personal/x.ics", Data("no calendar".utf8))
        let whole = await run([["doctor", "--format", "json"]], folder)
        #expect(whole.1.contains("unusable-record"))
        #expect(whole.1.contains("Your records"))
        let file = folder.path("home/hearth.db")
        var bytes = try Data(contentsOf: file.url)
        for index in stride(from: 5000, to: bytes.count, by: 97) { bytes[index] ^= 0xFF }
        try bytes.write(to: file.url)
        let damaged = await run([["doctor", "--format", "json"]], folder)
        #expect(damaged.0 == 1)
        #expect(damaged.1.contains("database-damaged") || damaged.1.contains("cannot-open-database"), "\(damaged.1)")
    }
}
