import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Files to import that are cut off, hostile or of another kind.
@Suite struct HostileImportTests {
    private static let own =
        #"{"version":1,"conversation":{"id":"c","title":"t","created":"2026-01-01T00:00:00.000Z","changed":"2026-01-01T00:00:00.000Z","messageCount":0},"messages":[]}"#

    private static func message(_ id: String, parent: String = "null", date: String = "2026-01-01T00:00:00.000Z")
        -> String
    {
        #"{"id":"\#(id)","role":"user","content":"x","isThinking":false,"thinkingContent":"","images":[],"cards":[],"notices":[],"date":"\#(date)","parent":\#(parent)}"#
    }

    private static func own(_ messages: String, id: String = "c", title: String = "t", more: String = "") -> String {
        #"{"version":1,"conversation":{"id":"\#(id)","title":"\#(title)","created":"2026-01-01T00:00:00.000Z","changed":"2026-01-01T00:00:00.000Z"\#(more)},"messages":[\#(messages)]}"#
    }

    /// Files of which nothing is imported.
    @Test(arguments: [
        ("", "import-unreadable"), (" \n", "import-unreadable"), ("hello", "import-unreadable"),
        ("[", "import-unreadable"),
        ("[{}", "import-unreadable"), ("[{} {}]", "import-unreadable"), ("{\"a\"", "import-unreadable"),
        ("{\"a\":", "import-unreadable"),
        ("{a:1}", "import-unreadable"), ("[\"", "import-unreadable"), ("[\"\\", "import-unreadable"),
        ("[] []", "import-unreadable"),
        ("[,]", "import-unreadable"), ("PK", "import-unreadable"), ("PK\u{3}\u{4}rest", "import-unreadable"),
        ("null", "import-unreadable"),
        (String(repeating: "[", count: 1_000_000), "import-unreadable"),
        (String(ImportSample.chatGPT().dropLast(5)), "import-unreadable"),
    ])
    func unreadableFiles(_ text: String, _ code: String) async throws {
        let desk = try await ImportDesk()
        let error = await #expect(throws: AssistantError.self) { try await desk.run(text) }
        #expect(error?.codeText == code, "\(text.prefix(40))")
    }

    /// Conversations that are refused; the one after them is imported.
    @Test(arguments: [
        ("1", "import-unknown-format"), ("null", "import-unknown-format"), ("[]", "import-unknown-format"),
        ("{}", "import-unknown-format"),
        (#"{"mapping": 5}"#, "import-unknown-format"), (#"{"mapping": {}}"#, "import-unknown-format"),
        (#"{"chat": {}}"#, "import-unknown-format"),
        (#"{"mapping": {"a": {"a": 1, "a": 2}}}"#, "import-unreadable"),
        (#"{"mapping": {"a": tru}}"#, "import-unreadable"),
        (
            #"{"mapping": \#(String(repeating: "[", count: 5000))\#(String(repeating: "]", count: 5000))}"#,
            "import-unreadable"
        ),
        ("{\"mapping\": {\"\u{7}\": 1}}", "import-unreadable"),
        (
            ImportSample.chatGPT(nodes: [
                ImportSample.node("a", "b", "user", "x"), ImportSample.node("b", "a", "user", "y"),
            ]), "import-circle"
        ),
        (ImportSample.chatGPT(nodes: [ImportSample.node("a", "a", "user", "x")]), "import-circle"),
        (ImportSample.chatGPT(nodes: [ImportSample.node("a", nil, "user", "x", time: "1e300")]), "import-date"),
        (ImportSample.chatGPT(nodes: [ImportSample.node("a", nil, "user", "x", time: "1e999")]), "import-date"),
        (ImportSample.chatGPT(nodes: [ImportSample.node("a", nil, "user", "x", time: "-5")]), "import-date"),
        (ImportSample.chatGPT(nodes: [ImportSample.node("a", nil, "user", "x", time: "\"yesterday\"")]), "import-date"),
        (ImportSample.chatGPT(created: "[]"), "import-date"), (ImportSample.chatGPT(changed: "\"\""), "import-date"),
        (ImportSample.chatGPT(title: String(repeating: "t", count: 100_000)), "import-name"),
        (ImportSample.chatGPT(nodes: [ImportSample.node("a", nil, "system", "x")]), "import-unknown-format"),
        (ImportSample.openWebUI(title: String(repeating: "t", count: 100_000)), "import-name"),
        (#"{"version":2,"conversation":{},"messages":[]}"#, "import-unreadable"),
        (own(message("a"), id: "../x"), "import-name"), (own(message("a"), id: ""), "import-name"),
        (own(message("a"), id: "."), "import-name"),
        (own(message("<b>")), "import-name"), (own(message("a") + "," + message("a")), "import-name"),
        (own(message("a", parent: "\"b\"") + "," + message("b", parent: "\"a\"")), "import-circle"),
        (own(message("a", date: "tomorrow")), "import-unreadable"),
        (own(message("a"), title: String(repeating: "t", count: 2000)), "import-name"),
        (own(message("a"), more: #","folder":"\#(String(repeating: "f", count: 100))""#), "import-name"),
        (own(message("a").replacingOccurrences(of: #""images":[]"#, with: #""images":["AAAA"]"#)), "import-unreadable"),
        (own(message("a").replacingOccurrences(of: #""role":"user""#, with: #""role":"root""#)), "import-unreadable"),
    ])
    func refusedConversations(_ text: String, _ code: String) async throws {
        let desk = try await ImportDesk()
        let report = try await desk.run("[\(text), \(ImportSample.chatGPT("good"))]")
        #expect(report.refusals.map(\.code) == [code], "\(text.prefix(100))")
        #expect(report.refusals.first?.number == 1)
        #expect(report.changed == ["gpt-good"])
        #expect(try await desk.store.conversations(limit: 9, offset: 0).count == 1)
    }

    @Test(.enabled(if: TestExtent.isFull)) func anObjectOfTooManyMembersIsRefused() async throws {
        let desk = try await ImportDesk()
        let text = "{" + String(repeating: "\"\":0,", count: ImportDocument.maximumMembers) + "\"\":0}"
        let error = await #expect(throws: AssistantError.self) { try await desk.run(text) }
        #expect(error?.codeText == "import-too-large")
    }

    @Test func hostileNamesBecomePlainIDs() async throws {
        let desk = try await ImportDesk()
        let names = ["../../etc", "a/b", "<img src=x>", "\u{202E}x", "", "%00", String(repeating: "n", count: 5000)]
        for name in names {
            let nodes = [ImportSample.node(name, nil, "user", "x"), ImportSample.node("b", name, "assistant", "y")]
            _ = try await desk.run(ImportSample.chatGPT(name, title: "\u{202E}<script>", nodes: nodes, current: "b"))
        }
        let all = try await desk.store.conversations(limit: 99, offset: 0)
        #expect(all.count == names.count)
        for summary in all {
            #expect(ImportedConversation.isPlain(summary.id) && summary.id.hasPrefix("gpt-"))
            let messages = try await desk.store.messages(of: summary.id)
            #expect(messages.count == 2 && messages.allSatisfy { ImportedConversation.isPlain($0.id) })
            #expect(messages.last?.parent == messages.first?.id)
        }
        // A long title is cut, a missing parent counts as none, a null date as that of the conversation.
        let long = try await desk.run(
            ImportSample.chatGPT(
                "long", title: String(repeating: "w ", count: 2000),
                nodes: [ImportSample.node("a", "lost", "user", "x", time: "null")], current: "gone"))
        #expect(long.imported == 1)
        #expect(try await desk.store.conversation("gpt-long")?.title.count == 200)
        #expect(try await desk.store.messages(of: "gpt-long").first?.date == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(try await desk.store.conversation("gpt-long")?.leaf == "gpt-a")
    }

    @Test func aLongChainIsImported() async throws {
        let desk = try await ImportDesk()
        let nodes = (0..<5000).map { index in
            ImportSample.node(
                "n\(index)", index == 0 ? nil : "n\(index - 1)", index.isMultiple(of: 2) ? "user" : "assistant",
                "text \(index)")
        }
        #expect(try await desk.run(ImportSample.chatGPT("long", nodes: nodes, current: "n4999")).imported == 1)
        let messages = try await desk.store.messages(of: "gpt-long")
        #expect(ConversationTree(messages).branch(to: "gpt-n4999").count == 5000)
    }

    @Test(arguments: [
        ("../conversations.json", "import-unsafe"), ("/conversations.json", "import-unsafe"),
        ("a/../../conversations.json", "import-unsafe"),
        ("..\\conversations.json", "import-unsafe"), ("a/b\\conversations.json", "import-unsafe"),
        ("other.json", "import-unknown-format"),
        ("xconversations.json", "import-unknown-format"),
        ("conversations-1.txt", "import-unknown-format"),
    ])
    func archivesWithOtherNames(_ name: String, _ code: String) async throws {
        let desk = try await ImportDesk()
        let zip = ArchiveFiles.zip([(name, Data("[\(ImportSample.chatGPT())]".utf8))])
        let error = await #expect(throws: AssistantError.self) { try await desk.run(zip) }
        #expect(error?.codeText == code)
        #expect(try await desk.store.conversations(limit: 9, offset: 0).isEmpty)
    }

    /// Some programs write `\` between folders; the archive is as good as another one.
    @Test func archivesWithBackslashesAreImported() async throws {
        let desk = try await ImportDesk()
        let zip = ArchiveFiles.zip([("a\\conversations.json", Data("[\(ImportSample.chatGPT())]".utf8))])
        #expect(try await desk.run(zip).imported == 1)
    }

    @Test func archivesThatAreCutOrTooLargeAreRefused() async throws {
        let desk = try await ImportDesk()
        let zip = ArchiveFiles.zip([("conversations.json", Data("[\(ImportSample.chatGPT())]".utf8))])
        for length in stride(from: 4, to: zip.count, by: 97) {
            let error = await #expect(throws: AssistantError.self) { try await desk.run(zip.prefix(length)) }
            #expect(error?.code == .importUnreadable, "\(length)")
        }
        let twice = ArchiveFiles.zip([
            ("conversations.json", Data("[]".utf8)), ("conversations.json", Data("[]".utf8)),
        ])
        #expect(await #expect(throws: AssistantError.self) { try await desk.run(twice) }?.code == .importUnsafe)
        let file = try desk.folder.write("large.zip", zip)
        let small = ImportArchive(archive: file, maximumSize: 100)
        #expect(
            #expect(throws: AssistantError.self) { try small.unpack(into: desk.folder.path) }?.code == .importTooLarge)
        let many = ArchiveFiles.zip([("conversations.json", Data("[]".utf8)), ("other.json", Data("[]".utf8))])
        let few = ImportArchive(archive: try desk.folder.write("many/many.zip", many), maximumEntries: 1)
        let error = #expect(throws: AssistantError.self) { try few.unpack(into: desk.folder.path("many")) }
        #expect(error?.code == .importTooLarge)
    }

    /// Any change of one byte gives a report or a clear error.
    @Test func changedBytesAreNoCrash() async throws {
        let desk = try await ImportDesk()
        let files = [
            Data("[\(ImportSample.chatGPT())]".utf8), Data("[\(ImportSample.openWebUI())]".utf8),
            ArchiveFiles.zip([("conversations.json", Data("[\(ImportSample.chatGPT())]".utf8))]),
        ]
        var generator = SeededGenerator(seed: 45)
        for file in files {
            for _ in 0..<(TestExtent.isFull ? 150 : 40) {
                var changed = file
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    changed[Int.random(in: 0..<changed.count, using: &generator)] = UInt8.random(
                        in: 0...255, using: &generator)
                }
                do {
                    _ = try await desk.run(changed)
                } catch let error as AssistantError {
                    #expect(error.codeText.hasPrefix("import-"))
                }
            }
        }
    }
}
