import Foundation
import HearthBase
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Questions with documents: what the model reads, what is kept, what is cut.
@Suite(.timeLimit(.minutes(2))) struct DocumentTurnTests {
    private func document(_ text: String, named name: String = "report.pdf") -> Document {
        Document(name: name, kind: .pdf, bytes: 10, pages: 1, pagesRead: 1, text: text)
    }

    private func answers(_ count: Int) -> [[ScriptedEngine.Step]] {
        (0..<count).map { _ in [.text("Fine"), .finish(.endOfGeneration)] }
    }

    private func question(_ chat: ChatFixture, _ number: Int) async -> String {
        await chat.engine.requests[number].last?.content ?? ""
    }

    @Test func theTextStandsBeforeTheQuestionAsTextFromOutside() async throws {
        let chat = ChatFixture(answers(1))
        await ChatFixture.collect(
            chat.session.send("What is the key?", documents: [document("[page 1]\nThe key is <blue>")]))
        let sent = await question(chat, 0)
        #expect(
            sent.hasPrefix(
                "<file source=\"file report.pdf\">\n[page 1]\nThe key is ‹blue>\n</file>\n\nWhat is the key?"))
        let asked = try #require(await chat.session.messages.first)
        #expect(asked.content == "What is the key?")
        #expect(asked.rawContent == sent)
        #expect(await chat.session.messages.outsideTexts.map(\.source) == ["file report.pdf"])
        #expect(ChatHistory.hasOwnData(in: [ChatMessage(.user, sent)]))
    }

    @Test func laterTurnsRegenerationAndEditingKeepTheText() async throws {
        let chat = ChatFixture(answers(4))
        await ChatFixture.collect(chat.session.send("One", documents: [document("The key is blue")]))
        await ChatFixture.collect(chat.session.send("Two", documents: []))
        #expect(await chat.engine.requests[1].contains { $0.content.contains("The key is blue") })
        await ChatFixture.collect(chat.session.regenerate())
        #expect(await chat.engine.requests[2].contains { $0.content.contains("The key is blue") })
        let first = try #require(await chat.session.messages.first)
        await ChatFixture.collect(chat.session.edit(first.id, to: "Three"))
        #expect(await question(chat, 3).contains("The key is blue\n</file>\n\nThree"))
    }

    @Test func aQuestionMayBeNothingButADocument() async {
        let chat = ChatFixture(answers(1))
        await ChatFixture.collect(chat.session.send("", documents: [document("words")]))
        #expect(await question(chat, 0).hasPrefix("<file source=\"file report.pdf\">\nwords\n</file>"))
    }

    @Test func whatDoesNotFitIsCutAndSaid() async throws {
        let chat = ChatFixture(answers(1))
        let long = (1...4000).map { "line \($0)" }.joined(separator: "\n")
        let events = await ChatFixture.collect(
            chat.session.send(
                "Sum up", documents: [document(long, named: "long.txt"), document("short", named: "b.txt")]))
        let sent = await question(chat, 0)
        #expect(TokenMeter.estimate(sent) < 4096 * 3 / 4)
        #expect(sent.contains("line 1\n"))
        #expect(sent.contains("short"))
        #expect(sent.contains("Sum up"))
        let notices = events.compactMap { if case .notice(let text) = $0 { text } else { nil } }
        #expect(
            notices.contains {
                $0.hasPrefix("Only the beginning of long.txt (") && $0.contains(" of \(long.count) characters)")
            })
        // The whole text is kept for a model with more room.
        #expect(await chat.session.messages.first?.documents?.first?.text == long)
    }

    @Test(arguments: [
        ([10, 20, 30], 100, [10, 20, 30]), ([10, 90, 90], 100, [10, 45, 45]), ([90, 10], 50, [40, 10]), ([5], 0, [0]),
        ([], 10, []), ([100, 100, 1], -4, [0, 0, 0]),
    ])
    func smallDocumentsStayWhole(_ tokens: [Int], _ room: Int, _ shares: [Int]) {
        #expect(FittedDocuments.shares(tokens, room: room) == shares)
    }

    @Test func theConversationsFileHasTheDocuments() async throws {
        let store = SQLiteConversationStore(try await AssistantDatabase.open(home: nil))
        let chat = ChatFixture(answers(1), store: store)
        await ChatFixture.collect(chat.session.send("One", documents: [document("The key is blue")]))
        let kept = try await store.messages(of: "c")
        #expect(kept.first?.documents?.first == document("The key is blue"))
        let export = await chat.session.export()
        #expect(
            try ConversationExport(json: try export.json()).messages.first?.documents?.first?.text == "The key is blue")
        #expect(export.markdown().contains("*(file report.pdf)*"))
    }
}
