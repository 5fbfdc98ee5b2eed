import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// Records and conversations leave a home and come into another.
@Suite(.timeLimit(.minutes(5))) struct RecordFileCommandTests {
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
        let exported = await CommandProbe.run((additions[kind] ?? []) + [[kind, "export", "--to", file]], first)
        #expect(exported.0 == 0, "\(exported.2)")
        #expect(await CommandProbe.run([[kind, "export", "--to", file]], first).0 == 1, "an export replaces no file")
        let range = kind == "calendar" ? ["--from", "2030-05-01"] : []
        let original = await CommandProbe.run([[kind, "list", "--format", "json"] + range], first)
        let imported = await CommandProbe.run(
            [[kind, "import", file], [kind, "list", "--format", "json"] + range], second)
        #expect(imported.0 == 0, "\(imported.2)")
        func named(_ text: String) -> [String] { text.matches(of: /"(?:title|name)" : "[^\n]*"/).map { String($0.0) } }
        #expect(named(imported.1) == named(original.1))
        #expect(!named(imported.1).isEmpty)
        let again = await CommandProbe.run([[kind, "import", file]], second)
        #expect(again.0 == 0 && again.2.contains("0 added"))
    }

    @Test func notesGoToAFolderAndBack() async throws {
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        let folder = first.path("notes").string
        _ = await CommandProbe.run(
            [["notes", "add", "One/two", "--body", "# text\n"], ["notes", "export", folder]], first)
        let shown = await CommandProbe.run(
            [["notes", "import", folder], ["notes", "list", "--format", "json"]], second)
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
        let added = await CommandProbe.run(
            [["chats", "import", source, "--format", "json"]], first)
        #expect(added.1.contains(#""imported":1"#) && added.1.contains(#""refused":1"#))
        #expect(added.2.contains("import-unknown-format"))
        let exported = await CommandProbe.run([["chats", "export", "--to", target], ["chats", "export"]], first)
        let moved = await CommandProbe.run([["chats", "import", target], ["chats", "export"]], second)
        #expect(moved.0 == 0 && moved.1 == exported.1 && moved.1.contains("Lisbon."))
        let again = await CommandProbe.run([["chats", "import", target, "--format", "json"]], second)
        #expect(again.1.contains(#""skipped":1"#) && again.1.contains(#""imported":0"#))
    }
}
