import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

@Suite struct ConversationDocumentTests {
    private static let date = Date(timeIntervalSince1970: 1_800_000_000.25)

    private static func message(
        _ id: String, _ role: ChatRole = .user, _ content: String = "", parent: String? = nil
    ) -> AssistantMessage {
        AssistantMessage(id: id, role: role, content: content, date: date, parent: parent)
    }

    private static func export() throws -> ConversationExport {
        var answer = message("a", .assistant, "Yes.\n\n- one\n", parent: "q")
        answer.thinkingContent = "Hm.\n\nYes"
        answer.notices = ["Stopped\nearly"]
        answer.images = [try ChatImage(TestPictures.png)]
        answer.cards = [
            ActionCard(
                id: "k", tag: .webSearch, title: "Search",
                fields: [.init(name: "query", label: "Query", value: "x\ny")],
                items: [.init(title: "Page", detail: "text", url: "https://example.org")], state: .notCarriedOut,
                payload: "{}")
        ]
        let summary = ConversationSummary(
            id: "c", title: "Title\n# no", created: date, changed: date, messageCount: 2, leaf: "a")
        return ConversationExport(
            summary, messages: [message("s", .system, "hidden"), message("q", .user, "Is it?"), answer])
    }

    @Test func jsonGivesTheSameConversation() throws {
        let export = try Self.export()
        #expect(try ConversationExport(json: export.json()) == export)
        #expect(String(decoding: try export.json(), as: UTF8.self).contains("\"2027-01-15T08:00:00.250Z\""))
    }

    @Test(arguments: ["", "{}", #"{"version":1}"#]) func otherFilesAreRefused(_ text: String) {
        let error = #expect(throws: AssistantError.self) { try ConversationExport(json: Data(text.utf8)) }
        #expect(error?.code == .unusableRecord)
    }

    @Test func aLaterVersionIsRefused() throws {
        var export = try Self.export()
        export.version = 2
        let data = try export.json()
        let error = #expect(throws: AssistantError.self) { try ConversationExport(json: data) }
        #expect(error?.context.found == "2")
    }

    @Test func markdownShowsTheBranch() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let picture = try ChatImage(TestPictures.png).header
        let expected = """
            # Title # no

            ## You – 2027-01-15 09:00

            Is it?

            ## Assistant – 2027-01-15 09:00

            > Hm.
            >
            > Yes

            *(picture, \(picture.width) × \(picture.height))*

            Yes.

            - one

            - **Search** (not carried out); Query: x y
              - Page – text <https://example.org>

            > Stopped early

            """
        #expect(try Self.export().markdown(thinking: true, timeZone: zone) == expected)
        #expect(try !Self.export().markdown(timeZone: zone).contains("Hm."))
    }

    @Test func branchesLeadFromTheFirstMessageToALeaf() {
        let tree = ConversationTree([
            Self.message("q"), Self.message("a", parent: "q"), Self.message("b", parent: "q"),
            Self.message("b1", parent: "b"), Self.message("lost", parent: "missing"),
        ])
        #expect(tree.branch(to: "b1").map(\.id) == ["q", "b", "b1"])
        #expect(tree.branch(to: "x").isEmpty && tree.branch(to: nil).isEmpty)
        #expect(tree.children(of: "q").map(\.id) == ["a", "b"])
        #expect(tree.children(of: nil).map(\.id) == ["q", "lost"])
        #expect(tree.descendants(of: "q") == ["q", "a", "b", "b1"])
        #expect(tree.newestLeaf(below: "q") == "b1")
        #expect(tree.newestLeaf(below: nil) == "lost")
        #expect(tree.leaf("b1", afterRemoving: "b") == "a")
        #expect(tree.leaf("a", afterRemoving: "b") == "a")
        #expect(tree.leaf("b1", afterRemoving: "q") == "lost")
        #expect(ConversationTree([]).newestLeaf(below: nil) == nil)
    }

    @Test func aCircleOfParentsEnds() {
        let tree = ConversationTree([Self.message("a", parent: "b"), Self.message("b", parent: "a")])
        #expect(tree.branch(to: "a").count == 2)
        #expect(Set(tree.descendants(of: "a")) == ["a", "b"])
        #expect(tree.newestLeaf(below: nil) == nil)
        #expect(tree.newestLeaf(below: "a") == "a")
    }

    @Test(arguments: [
        ("", ""), (" \n ", ""), ("Hi", "Hi"), (" a \t b\nc", "a b"),
        (String(repeating: "word ", count: 20), "word word word word word word word word word word word…"),
        (String(repeating: "x", count: 100), String(repeating: "x", count: 59) + "…"),
    ])
    func titlesAreShort(_ question: String, _ title: String) {
        #expect(ConversationTitle.derived(from: question) == title)
    }
}
