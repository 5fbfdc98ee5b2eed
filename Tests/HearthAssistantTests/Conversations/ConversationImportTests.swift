import Foundation
import HearthBase
import HearthDatabase
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Imports of each format, and of the same file again.
@Suite struct ConversationImportTests {
    @Test func chatGPTKeepsBranchesAndLeavesHiddenNodesOut() async throws {
        let desk = try await ImportDesk()
        let report = try await desk.run("[\(ImportSample.chatGPT())]")
        #expect(report.counts == "1 0 0 0")
        let summary = try #require(try await desk.store.conversation("gpt-11111111-aaaa"))
        #expect(summary.title == "Trip")
        #expect(summary.created == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(summary.changed == Date(timeIntervalSince1970: 1_700_000_900.25))
        #expect(summary.leaf == "gpt-a2")
        let messages = try await desk.store.messages(of: summary.id)
        // The question with a picture has the earliest time.
        #expect(messages.map(\.id) == ["gpt-u2", "gpt-u1", "gpt-a1", "gpt-a2"])
        let tree = ConversationTree(messages)
        #expect(tree.children(of: "gpt-u1").map(\.content) == ["Lisbon.", "Porto."])
        #expect(tree.message("gpt-a2")?.facts?.model == "gpt-4o")
        #expect(tree.message("gpt-a2")?.facts?.reason == "imported")
        #expect(tree.message("gpt-u2")?.parent == "gpt-a2")
        #expect(tree.message("gpt-u2")?.content == "And this?")
        #expect(tree.message("gpt-u2")?.notices.count == 1)
        // Others may have written it: actions ask.
        #expect(messages.outsideTexts.map(\.source) == Array(repeating: "imported conversation", count: 4))
        #expect(try await desk.store.find(ConversationSearch("porto")).finds.map(\.conversation.id) == [summary.id])
    }

    @Test func shardsOfAZipAreRead() async throws {
        let desk = try await ImportDesk()
        let zip = ArchiveFiles.zip([
            ("chat.html", Data("<html>".utf8)), ("user.json", Data("{}".utf8)),
            ("conversations-001.json", Data("[\(ImportSample.chatGPT("two"))]".utf8)),
            ("conversations-000.json", Data("[\(ImportSample.chatGPT("one"))]".utf8)),
            ("file-x-picture.png", Data(TestPictures.png)),
        ])
        #expect(try await desk.run(zip).changed == ["gpt-one", "gpt-two"])
        let single = ArchiveFiles.zip([("export/conversations.json", Data("[\(ImportSample.chatGPT("three"))]".utf8))])
        #expect(try await desk.run(single).changed == ["gpt-three"])
    }

    @Test func openWebUIKeepsBranchesPinAndArchive() async throws {
        let desk = try await ImportDesk()
        #expect(try await desk.run("[\(ImportSample.openWebUI())]").imported == 1)
        let summary = try #require(try await desk.store.conversation("webui-22222222-bbbb"))
        #expect(summary.pinned && summary.archived && summary.title == "Bread" && summary.leaf == "webui-y2")
        #expect(summary.changed == Date(timeIntervalSince1970: 1_700_000_500))
        let tree = ConversationTree(try await desk.store.messages(of: summary.id))
        #expect(tree.children(of: "webui-x").map(\.content) == ["Flour.", "Rye."])
        #expect(tree.message("webui-y2")?.facts?.model == "Llama 3")
        #expect(tree.message("webui-x")?.date == Date(timeIntervalSince1970: 1_700_000_010))
        // One conversation alone, as its own file.
        #expect(try await desk.run(ImportSample.openWebUI("other")).changed == ["webui-other"])
    }

    @Test(arguments: [ImportSample.chatGPT(), ImportSample.openWebUI()])
    func aSecondImportChangesNothing(_ conversation: String) async throws {
        let desk = try await ImportDesk()
        #expect(try await desk.run("[\(conversation)]").imported == 1)
        let before = try await desk.archive()
        let again = try await desk.run("[\(conversation), \(conversation)]")
        #expect(again.counts == "0 0 2 0")
        #expect(try await desk.archive() == before)
        // The conversation goes on here, with another title.
        let id = try #require(try await desk.store.conversations(limit: 1, offset: 0).first?.id)
        var summary = try #require(try await desk.store.conversation(id))
        summary.title = "Mine"
        try await desk.store.save(summary)
        try await desk.store.arrange(id, ConversationPlace(folder: "Kept"))
        let mine = AssistantMessage(
            id: "mine", role: .user, content: "More", date: ImportDesk.now, parent: summary.leaf)
        try await desk.store.save(mine, in: id)
        let continued = try await desk.archive()
        #expect(try await desk.run("[\(conversation)]").skipped == 1)
        #expect(try await desk.archive() == continued)
    }

    @Test func aLaterExportAddsWhatIsMissing() async throws {
        let desk = try await ImportDesk()
        let first = [
            ImportSample.node("u1", nil, "user", "One", time: "1700000100"),
            ImportSample.node("a1", "u1", "assistant", "Two", time: "1700000200"),
        ]
        let more =
            first + [
                ImportSample.node("u2", "a1", "user", "Three", time: "1700000300"),
                ImportSample.node("a2", "u2", "assistant", "Four", time: "1700000400"),
            ]
        #expect(
            try await desk.run(ImportSample.chatGPT("c", nodes: first, current: "a1", changed: "1700000200")).imported
                == 1)
        let later = try await desk.run(ImportSample.chatGPT("c", nodes: more, current: "a2", changed: "1700000400"))
        #expect(later.counts == "0 1 0 0")
        let summary = try #require(try await desk.store.conversation("gpt-c"))
        #expect(summary.leaf == "gpt-a2" && summary.messageCount == 4)
        #expect(summary.changed == Date(timeIntervalSince1970: 1_700_000_400))
        // A conversation that went on here keeps the branch that it shows.
        let mine = AssistantMessage(id: "mine", role: .user, content: "Else", date: ImportDesk.now, parent: "gpt-a1")
        try await desk.store.save(mine, in: "gpt-c")
        let last = more + [ImportSample.node("u3", "a2", "user", "Five", time: "1700000500")]
        #expect(try await desk.run(ImportSample.chatGPT("c", nodes: last, current: "u3")).updated == 1)
        #expect(try await desk.store.conversation("gpt-c")?.leaf == "mine")
        #expect(try await desk.store.messages(of: "gpt-c").count == 6)
    }

    @Test func anAnsweringConversationIsLeftAlone() async throws {
        let desk = try await ImportDesk()
        let report = try await desk.run("[\(ImportSample.chatGPT("a")), \(ImportSample.chatGPT("b"))]", busy: ["gpt-a"])
        #expect(report.changed == ["gpt-b"])
        #expect(report.refusals.map(\.code) == ["import-busy"])
    }

    /// An import that ends midway tells what it kept.
    @Test func anImportThatEndsMidwayTellsWhatItKept() async throws {
        let desk = try await ImportDesk()
        let names = ["a", "b", "c"].map { ImportSample.chatGPT($0) }
        let file = try desk.folder.write("cut/upload", Data("[\(names.joined(separator: ","))]".utf8))
        let importer = ConversationImport(into: desk.store, now: ImportDesk.now) { id in
            if id == "gpt-b" { withUnsafeCurrentTask { $0?.cancel() } }
            return false
        }
        let scratch = desk.folder.path("cut")
        let report = await Task {
            var report = ConversationImport.Report()
            await #expect(throws: (any Error).self) { try await importer.run(file, scratch: scratch, &report) }
            return report
        }.value
        #expect(report.changed.first == "gpt-a" && !report.changed.contains("gpt-c"))
        let kept = try await desk.store.conversations(limit: 9, offset: 0).map(\.id)
        #expect(kept.sorted() == report.changed)
    }

    /// No file lets a conversation leave the device.
    @Test func aFileDoesNotChooseTheCloud() async throws {
        for (route, kept) in [(RouteSource.cloud, nil), (.local, RouteSource.local)] {
            let desk = try await ImportDesk()
            var summary = ConversationSummary(id: "c", title: "t", created: ImportDesk.now, changed: ImportDesk.now)
            summary.settings = ConversationSettings()
            summary.settings?.route = route
            let question = AssistantMessage(id: "q", role: .user, content: "Q", date: ImportDesk.now)
            let report = try await desk.run(try ConversationExport(summary, messages: [question]).json())
            #expect(report.changed == ["c"])
            #expect(try await desk.store.conversation("c")?.settings?.route == kept)
        }
    }

    /// A long chain of hidden messages is walked once for all that follow it.
    @Test func hiddenMessagesAreWalkedOnce() {
        let count = 20_000
        var parents: [String: String?] = ["h0": "seen"]
        parents.updateValue(nil, forKey: "seen")
        for index in 1..<count { parents["h\(index)"] = "h\(index - 1)" }
        var ancestors = VisibleAncestors(parents, visible: ["seen"])
        for _ in 0..<count { #expect(ancestors.nearest(from: "h\(count - 1)") == "seen") }
        #expect(ancestors.nearest(from: "h5") == "seen" && ancestors.steps == count)
        #expect(ancestors.nearest(from: "seen") == "seen")
        #expect(ancestors.nearest(from: "lost") == nil && ancestors.nearest(from: nil) == nil)
    }

    /// A fresh home after an export and an import is equal.
    @Test func anArchiveGivesTheSameConversations() async throws {
        let desk = try await ImportDesk()
        _ = try await desk.run("[\(ImportSample.chatGPT()), \(ImportSample.openWebUI())]")
        var answer = AssistantMessage(
            id: "full", role: .assistant, content: "a\u{0}b\r\n日本 \u{2028}", thinkingContent: "hm",
            images: [try ChatImage(TestPictures.jpeg), try ChatImage(TestPictures.png)],
            cards: [
                ActionCard(
                    id: "key", tag: .note, title: "New note",
                    fields: [.init(name: "title", label: "Title", value: "x", source: "page")],
                    items: [.init(id: "1", title: "t", detail: "d", url: "https://example.org")], state: .done,
                    payload: "{}", note: "n", canUndo: true)
            ], notices: ["one"], date: ImportDesk.now.addingTimeInterval(1.5), rawContent: "raw", parent: "q")
        answer.results = [MessageResult(source: "contacts", text: "Anna")]
        answer.facts = ImportedConversation.facts(model: "m", source: .local)
        try await desk.store.save(AssistantMessage(id: "q", role: .user, content: "Q", date: ImportDesk.now), in: "own")
        try await desk.store.save(answer, in: "own")
        try await desk.store.save(
            AssistantMessage(
                id: "b", role: .assistant, content: "Branch", date: ImportDesk.now.addingTimeInterval(9), parent: "q"),
            in: "own")
        try await desk.store.arrange("own", ConversationPlace(pinned: true, archived: true, folder: "Ordner ü"))
        let archive = try await desk.archive()
        let fresh = try await ImportDesk()
        let report = try await fresh.run(archive)
        #expect(report.counts == "3 0 0 0")
        #expect(try await fresh.archive() == archive)
        let ids = try await desk.store.conversations(limit: 9, offset: 0).map(\.id)
        #expect(
            try await fresh.store.conversations(limit: 9, offset: 0) == desk.store.conversations(limit: 9, offset: 0))
        for id in ids { #expect(try await fresh.store.messages(of: id) == desk.store.messages(of: id)) }
        #expect(try await fresh.run(archive).skipped == 3)
        // One conversation of its own is a file too.
        let one = ConversationExport(
            try #require(try await desk.store.conversation("own")), messages: try await desk.store.messages(of: "own"))
        let other = try await ImportDesk()
        #expect(try await other.run(try one.json()).changed == ["own"])
        #expect(try await other.store.conversation("own") == desk.store.conversation("own"))
        // An empty home is a file as well.
        #expect(try await other.run(try await ImportDesk().archive()) == ConversationImport.Report())
    }
}
