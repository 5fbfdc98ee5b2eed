import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Blocks, tools, searches and repairs of whole turns.
@Suite(.timeLimit(.minutes(2))) struct ChatActionTests {
    private func said(_ text: String) -> [ScriptedEngine.Step] { [.text(text), .finish(.endOfGeneration)] }

    private struct Finder: SearchProvider {
        var isRemote = true
        var name: String { "search.test" }
        func search(_ query: String, limit: Int) async throws -> [SearchResult] {
            guard query != "fail" else { throw AssistantError(.searchFailed, "the server sleeps") }
            return query == "nothing"
                ? [] : [SearchResult(title: "Hit", excerpt: "about \(query)", url: "https://a.test/1")]
        }
    }

    /// Approves actions, and deletes a message meanwhile.
    private struct Deleting: ActionApproval {
        let message: String
        let session: ChatSession

        func decide(_ card: ActionCard) async -> ActionDecision {
            await session.delete(message)
            return .approve
        }
    }

    @Test func aBlockBecomesACardAndItsResultsTheNextPrompt() async throws {
        let chat = ChatFixture([said(#"Here. [NOTE_ACTION:{"action":"list"}]"#), said("The second is it.")])
        let answer = try #require(await chat.send("List them").finished.first)
        #expect(answer.content == "Here." && answer.cards.map(\.state) == [.done])
        #expect(answer.cards.first?.items.map(\.title) == ["First", "Second"])
        await chat.send("Take the second one")
        let requests = await chat.engine.requests
        let question = try #require(requests.last?.last?.content)
        #expect(question.hasPrefix("<results>\n") && question.contains("2. Second"))
        #expect(requests.last?[2].content == #"Here. [NOTE_ACTION:{"action":"list"}]"#)
        #expect(await chat.approval.asked.isEmpty)
    }

    @Test(arguments: [ActionDecision.approve, .decline]) func changesAsk(_ decision: ActionDecision) async throws {
        let chat = ChatFixture([said(#"[NOTE_ACTION:{"action":"change","title":"x"}]"#)], decisions: [decision])
        let answer = try #require(await chat.send("Do").finished.first)
        #expect(answer.cards.map(\.state) == [decision == .approve ? .done : .declined])
        #expect(await chat.approval.asked.count == 1)
    }

    /// What others wrote is in the context of the next turn: then even a list asks.
    @Test func textFromOutsideTaintsTheNextTurn() async throws {
        let chat = ChatFixture(
            [said(#"[NOTE_ACTION:{"action":"people"}]"#), said(#"[NOTE_ACTION:{"action":"list"}]"#)],
            decisions: [.decline], policy: ApprovalPolicy(settings: [.note: .always]))
        await chat.send("Who?")
        #expect(await chat.approval.asked.isEmpty)
        await chat.send("And?")
        let question = try #require(await chat.engine.requests.last?.last?.content)
        #expect(question.hasPrefix("<results source=\"contacts\">"))
        #expect(await chat.approval.asked.count == 1)
        // The taint belongs to the context and so survives the process.
        let kept = try await chat.store.messages(of: "c")
        let second = ChatSession(
            id: "c", parts: await chat.session.parts,
            engine: ChatEngine(ScriptedEngine([said(#"[NOTE_ACTION:{"action":"list"}]"#)])),
            messages: kept)
        _ = await ChatFixture.collect(second.send("Again"))
        #expect(await chat.approval.asked.count == 2)
    }

    @Test func stoppedBlocksAreCardsWithAButton() async throws {
        let chat = ChatFixture(
            [[.text(#"Ok [NOTE_ACTION:{"action":"change","title":"x"}] and"#), .waitForCancellation]],
            decisions: [.approve])
        let stream = await chat.session.send("Do")
        await chat.engine.stalled()
        await chat.session.stop()
        let answer = try #require(await ChatFixture.collect(stream).finished.first)
        #expect(answer.cards.map(\.state) == [.notCarriedOut])
        let card = try #require(answer.cards.first)
        let done = try await chat.session.perform(card.id)
        #expect(done.state == .done)
        #expect(try await chat.store.messages(of: "c").last?.cards.map(\.state) == [.done])
        await #expect(throws: AssistantError.self) { try await chat.session.perform("none") }
    }

    @Test func aDeletedMessageDoesNotComeBackWithItsCard() async throws {
        let chat = ChatFixture(
            [[.text(#"Ok [NOTE_ACTION:{"action":"change","title":"x"}] and"#), .waitForCancellation]])
        let stream = await chat.session.send("Do")
        await chat.engine.stalled()
        await chat.session.stop()
        let answer = try #require(await ChatFixture.collect(stream).finished.first)
        let card = try #require(answer.cards.first)
        var parts = await chat.session.parts
        parts.runner = ActionRunner(
            registry: parts.runner.registry, stores: [:], journal: nil,
            approval: Deleting(message: answer.id, session: chat.session), time: chat.clock.time)
        await chat.session.use(parts, engine: ChatEngine(chat.engine))
        // Other values ask again.
        let done = try await chat.session.perform(card.id, payload: #"{"action":"change","title":"y"}"#)
        #expect(done.state == .done)
        #expect(try await chat.store.messages(of: "c").map(\.id).contains(answer.id) == false)
    }

    @Test func aMalformedBlockIsRepairedOnce() async throws {
        let chat = ChatFixture([
            said(#"Ok. [NOTE_ACTION:{"nonsense":1}]"#), said(#"[NOTE_ACTION:{"action":"list"}]"#),
        ])
        let answer = try #require(await chat.send("List").finished.first)
        #expect(answer.content == "Ok." && answer.cards.map(\.state) == [.done] && answer.notices.count == 1)
        let repair = try #require(await chat.engine.requests.last)
        let first = try #require(await chat.engine.requests.first)
        #expect(repair.starts(with: first) && repair.last?.content.contains("nonsense") == true)
    }

    // MARK: Search

    @Test func aSearchIsASecondPassWithTheResultsAsTheUsersMessage() async throws {
        let chat = ChatFixture(
            [said(#"Wait. [WEB_SEARCH:{"query":"tides"}] [NOTE_ACTION:{"action":"list"}]"#), said("High at noon.")],
            search: Finder())
        let events = await chat.send("Tides?")
        let answer = try #require(events.finished.first)
        #expect(events.contains(.cleared) && answer.content == "High at noon.")
        #expect(answer.cards.map(\.tag) == [.webSearch] && answer.cards.first?.items.first?.url == "https://a.test/1")
        let requests = await chat.engine.requests
        #expect(requests.count == 2)
        #expect(requests.last?.starts(with: try #require(requests.first)) == true)
        let last = try #require(requests.last?.last)
        #expect(last.role == .user && last.content.hasPrefix("<results source=\"web search search.test\">"))
        #expect(last.content.contains("about tides"))
        #expect(await chat.engine.options.last?.timeout == .seconds(120))
    }

    /// The words of a search may hold data of the user: then it asks with the exact words, whatever was approved before.
    @Test func aSearchWithDataInTheContextAsks() async throws {
        struct Section: PromptSource {
            let section: PromptSection
            func sections(at moment: PromptMoment) async throws -> [PromptSection] { [section] }
        }
        var approved = ApprovalPolicy(settings: [.webSearch: .always], preApproved: [.webSearch])
        approved.approve(.webSearch, in: "c")
        let sections: [(PromptSection?, asks: Bool)] = [
            (nil, false), (PromptSection(name: "calendar", text: CalendarSource.nothing), false),
            (PromptSection(name: "reminders", text: ReminderSource.nothing), false),
            (PromptSection(name: "calendar", text: "2026-11-25 10:00-11:00 Doctor"), true),
            (PromptSection(name: "calendar", text: "2026-11-25 10:00-11:00 invitation"), true),
            (PromptSection(name: "reminders", text: "Take the pills"), true),
            (PromptSection(name: "facts", text: "I am ill", place: .instructions), true),
            (PromptSection(name: "weather", text: "Sunny"), true),
        ]
        for (section, asks) in sections {
            let chat = ChatFixture(
                [said(#"[WEB_SEARCH:{"query":"Doctor  4711\u200d"}]"#), said("No.")],
                sources: section.map { [Section(section: $0)] } ?? [], search: Finder(), policy: approved)
            await chat.send("Tides?")
            let asked = await chat.approval.asked
            #expect(asked.count == (asks ? 1 : 0), "\(section?.text ?? "")")
            #expect(asked.allSatisfy { $0.fields.map(\.value) == ["Doctor  4711‹U+200D›"] })
        }
    }

    /// Results of the user's own lists stay in the conversation, and so do files and pictures.
    @Test func earlierDataMakesALaterSearchAsk() async throws {
        let policy = ApprovalPolicy(settings: [.webSearch: .always, .note: .always])
        let search = said(#"[WEB_SEARCH:{"query":"tides"}]"#)
        let listed = ChatFixture(
            [said(#"[NOTE_ACTION:{"action":"list"}]"#), said("Ok"), search], search: Finder(), policy: policy)
        for question in ["List", "Thanks", "Tides?"] { await listed.send(question) }
        #expect(await listed.approval.asked.map(\.tag) == [.webSearch])
        let pictured = ChatFixture([said("A cat"), search], search: Finder(), policy: policy)
        await pictured.send("What is it?", images: [try ChatImage(TestPictures.png)])
        await pictured.send("Tides?")
        #expect(await pictured.approval.asked.map(\.tag) == [.webSearch])
    }

    /// The server gets the words that the card shows.
    @Test func theQueryIsTheOneOnTheCard() async throws {
        let chat = ChatFixture(
            [said(#"[WEB_SEARCH:{"query":"a\u202e\u2063b\u200b"}]"#), said("No.")], search: Finder())
        let answer = try #require(await chat.send("Look").finished.first)
        let shown = try #require(answer.cards.first?.fields.first?.value)
        let results = try #require(await chat.engine.requests.last?.last?.content)
        #expect(shown == "ab" && results.contains("about ab\n"))
    }

    @Test(arguments: [("nothing", ActionCard.State.done), ("fail", .failed)])
    func aSearchWithoutResultsIsAnswered(_ query: String, _ state: ActionCard.State) async throws {
        let chat = ChatFixture(
            [said(#"[WEB_SEARCH:{"query":"\#(query)"}]"#), said("I do not know.")], search: Finder())
        let answer = try #require(await chat.send("Tides?").finished.first)
        #expect(answer.content == "I do not know." && answer.cards.map(\.state) == [state])
    }

    @Test func aRefusedSearchLeavesNothingAndKeepsTheAnswer() async throws {
        let chat = ChatFixture(
            [said(#"Maybe. [WEB_SEARCH:{"query":"tides"}]"#)], search: Finder(),
            policy: ApprovalPolicy(settings: [.webSearch: .never]))
        let answer = try #require(await chat.send("Tides?").finished.first)
        #expect(answer.content == "Maybe." && answer.cards.first?.state != .done)
        #expect(await chat.engine.requests.count == 1)
    }

    /// Only addresses of the user or of results are read.
    @Test func aPageNamedByTheModelAloneIsNotRead() async throws {
        let chat = ChatFixture(
            [said(#"[WEB_SEARCH:{"query":"https://evil.test/?q=secret"}]"#), said("No.")], search: Finder())
        let answer = try #require(await chat.send("Look").finished.first)
        // Without a reader of pages the address is a query like any other.
        #expect(answer.cards.map(\.tag) == [.webSearch])
    }

    // MARK: Tools and forms

    @Test func enginesWithGrammarsGetTheShapesAndOthersTheTools() async {
        let local = ChatFixture([said("Hi")], capabilities: [.grammar, .schema, .tools])
        await local.send("Hi")
        let options = await local.engine.options.first
        #expect(
            options?.constraint?.blocks.map(\.opening) == ["[WEB_SEARCH:", "[NOTE_ACTION:"] && options?.tools == [])
        let cloud = ChatFixture([said("Hi")], capabilities: [.schema, .tools])
        await cloud.send("Hi")
        let tools = await cloud.engine.options.first
        #expect(tools?.constraint == nil && tools?.tools.map(\.name) == ["web_search", "note_action"])
        let plain = ChatFixture([said("Hi")])
        await plain.send("Hi")
        #expect(await plain.engine.options.first?.constraint == nil)
    }

    @Test func aToolCallIsCarriedOut() async throws {
        let call = ToolCall(id: "1", name: "note_action", arguments: #"{"action":"list"}"#)
        let chat = ChatFixture(
            [[.text("Sure."), .toolCall(call), .finish(.toolCalls)], said("Ok")], capabilities: .tools)
        let answer = try #require(await chat.send("List").finished.first)
        #expect(answer.cards.map(\.state) == [.done])
        await chat.send("Next")
        #expect(await chat.engine.requests.last?[2].content == #"Sure.[NOTE_ACTION:{"action":"list"}]"#)
    }

    @Test func aForcedBlockCoversTheWholeAnswer() async throws {
        let chat = ChatFixture([said(#"[NOTE_ACTION:{"action":"list"}]"#)], capabilities: [.grammar, .schema])
        await chat.send("Do", act: .note)
        let options = try #require(await chat.engine.options.first)
        #expect(options.constraint?.coversAnswer == true && options.constraint?.blocks.count == 1)
        #expect(options.constraint?.blocks.first?.prefix == "[NOTE_ACTION:")
        #expect(await chat.engine.requests.first?.last?.content.contains("NOTE_ACTION") == true)
    }
}
