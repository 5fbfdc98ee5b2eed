import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// A kill loses at most one second of an answer.
@Suite(.timeLimit(.minutes(2))) struct SavingTests {
    /// Counts the saves of each text.
    private actor CountingStore: ConversationStore {
        private(set) var saved: [String] = []
        private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        func conversations(limit: Int, offset: Int) async throws -> [ConversationSummary] { [] }
        func conversation(_ id: String) async throws -> ConversationSummary? { nil }
        func messages(of conversation: String) async throws -> [AssistantMessage] { [] }
        func save(_ conversation: ConversationSummary) async throws {}
        func save(_ message: AssistantMessage, in conversation: String) async throws {
            if message.role == .assistant { saved.append(message.content) }
            for waiter in waiters where waiter.count <= saved.count { waiter.continuation.resume() }
            waiters.removeAll { $0.count <= saved.count }
        }
        func removeMessage(_ id: String, in conversation: String) async throws {}
        func removeConversation(_ id: String) async throws {}
        func search(_ words: String, limit: Int) async throws -> [ConversationHit] { [] }
        func page(_ query: ConversationQuery) async throws -> ConversationPage { .init(conversations: []) }
        func folders() async throws -> ConversationFolders { .init(folders: [], archivedCount: 0) }
        func arrange(_ id: String, _ place: ConversationPlace) async throws {}
        func add(_ document: ConversationExport) async throws -> ConversationAddition { .unchanged }
        func find(_ search: ConversationSearch) async throws -> ConversationFinds { .init(finds: []) }
        func prepareSearch() async throws {}
        func eraseAll() async throws {}

        func reached(_ count: Int) async {
            if saved.count >= count { return }
            await withCheckedContinuation { waiters.append((count, $0)) }
        }
    }

    @Test func aMessageIsSavedAtMostOnceASecondAndAtTheEnd() async throws {
        let store = CountingStore()
        let pieces = (0..<50).map { ScriptedEngine.Step.text("\($0),") }
        let chat = ChatFixture(
            [pieces + [.waitForCancellation, .text("end"), .finish(.endOfGeneration)]], store: store)
        let stream = await chat.session.send("Go")
        var shown = 0
        for await case .text in stream {
            shown += 1
            if shown == 50 { break }
        }
        // The timer of the generation, and that of the save.
        await chat.clock.sleepers(atLeast: 2)
        #expect(await store.saved == [""])
        chat.clock.advance(by: .seconds(1))
        await store.reached(2)
        let all = (0..<50).map { "\($0)," }.joined()
        #expect(await store.saved == ["", all])
        await chat.engine.goOn()
        _ = await ChatFixture.collect(stream)
        #expect(await store.saved == ["", all, all + "end"])
    }
}
