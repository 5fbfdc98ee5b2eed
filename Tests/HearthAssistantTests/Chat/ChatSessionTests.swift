import Foundation
import HearthBase
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthAssistant

@Suite(.timeLimit(.minutes(2))) struct ChatSessionTests {
    private func said(_ text: String) -> [ScriptedEngine.Step] { [.text(text), .finish(.endOfGeneration)] }

    // MARK: Answers

    @Test func anAnswerStreamsThinksAndIsKept() async throws {
        let chat = ChatFixture([
            [.thinking("let me "), .thinking("see"), .text("It is "), .text("Paris."), .finish(.endOfGeneration)]
        ])
        let events = await chat.send("The capital of France?")
        let answer = try #require(events.finished.first)
        #expect(events.text == "It is Paris." && answer.content == "It is Paris.")
        #expect(answer.thinkingContent == "let me see" && !answer.isThinking)
        #expect(answer.facts?.source == .local && answer.facts?.finish == .endOfGeneration)
        #expect(events.contains(.thinkingEnded))
        guard case .started(let question?, _)? = events.first else { throw CancellationError() }
        #expect(question.content == "The capital of France?" && answer.parent == question.id)
        #expect(try await chat.store.messages(of: "c").map(\.content) == ["The capital of France?", "It is Paris."])
        let list = try await chat.store.conversations(limit: 5, offset: 0)
        #expect(list.map(\.title) == ["The capital of France?"])
        #expect(await chat.session.summary.title == "The capital of France?")
    }

    @Test(arguments: [true, false]) func thinkingIsASetting(_ shown: Bool) async {
        var settings = ChatSettings()
        settings.showThinking = shown
        let chat = ChatFixture([said("Hi")], settings: settings)
        await chat.send("Hello")
        #expect(await chat.engine.options.first?.thinking.isEnabled == shown)
    }

    @Test func stopKeepsWhatCame() async throws {
        let chat = ChatFixture([[.text("Half"), .waitForCancellation]])
        let stream = await chat.session.send("Go")
        await chat.engine.stalled()
        await chat.session.stop()
        let events = await ChatFixture.collect(stream)
        #expect(events.finished.map(\.content) == ["Half"])
        #expect(events.finished.first?.notices == [] && events.banner == nil)
        #expect(await !chat.session.isAnswering)
    }

    @Test func stopRemovesAnEmptyAnswer() async throws {
        let chat = ChatFixture([[.waitForCancellation], said("Again")])
        let stream = await chat.session.send("Go")
        await chat.engine.stalled()
        await chat.session.stop()
        let events = await ChatFixture.collect(stream)
        guard case .removed? = events.last else { throw CancellationError() }
        #expect(await chat.session.messages.map(\.role) == [.user])
        #expect(try await chat.store.messages(of: "c").map(\.role) == [.user])
        // The next question is not preceded by the one without an answer.
        await chat.send("Next")
        #expect(await chat.engine.requests.last?.map(\.role) == [.system, .user])
    }

    @Test func theConsumerThatLeavesStopsTheAnswer() async throws {
        let chat = ChatFixture([[.text("Half"), .waitForCancellation], said("Next")])
        let task = Task { await chat.send("Go") }
        await chat.engine.stalled()
        task.cancel()
        _ = await task.value
        // The next turn begins after the stopped one.
        await chat.send("Go on")
        #expect(await chat.session.messages.map(\.content) == ["Go", "Half", "Go on", "Next"])
    }

    @Test func aDeletedMessageEndsItsAnswer() async throws {
        let chat = ChatFixture([[.text("Half"), .waitForCancellation]])
        let stream = await chat.session.send("Go")
        await chat.engine.stalled()
        let id = try #require(await chat.session.messages.last?.id)
        await chat.session.delete(id)
        let events = await ChatFixture.collect(stream)
        #expect(events.finished.isEmpty)
        #expect(try await chat.store.messages(of: "c").map(\.content) == ["Go"])
    }

    // MARK: Time

    @Test func anAnswerThatTakesTooLongIsCutWithANotice() async throws {
        let chat = ChatFixture([[.text("Half"), .waitForCancellation]])
        let stream = await chat.session.send("Go")
        await chat.engine.stalled()
        #expect(await chat.engine.options.first?.timeout == .seconds(120))
        await chat.clock.sleepers(atLeast: 1)
        chat.clock.advance(by: .seconds(121))
        let answer = try #require(await ChatFixture.collect(stream).finished.first)
        #expect(answer.content == "Half" && answer.notices == [AssistantTexts().timedOut])
    }

    /// Waiting for the turn before counts: the time begins with the request.
    @Test func waitingIsPartOfTheTime() async throws {
        let chat = ChatFixture([[.waitForCancellation], said("never"), said("never")])
        let first = await chat.session.send("One")
        await chat.engine.stalled()
        let second = await chat.session.send("Two")
        chat.clock.advance(by: .seconds(50))
        await chat.session.stop()
        _ = await ChatFixture.collect(first)
        _ = await ChatFixture.collect(second)
        #expect(await chat.engine.options.last?.timeout == .seconds(70))
    }

    // MARK: Errors

    @Test(arguments: ["not-installed", "not-enough-memory", "cannot-load-model", "model-not-loaded"])
    func noUsableModelIsABannerAndStays(_ code: String) async throws {
        let error = LLMError(.init(stringLiteral: code), "no model")
        let chat = ChatFixture([[.fail(error)]])
        let events = await chat.send("Hello")
        #expect(events.banner?.code == code)
        // The question stays with an answer that says why it is empty.
        #expect(await chat.session.messages.map(\.role) == [.user, .assistant])
        let answer = try #require(await chat.last)
        #expect(answer.isEmpty && answer.failure?.code == code && AnswerEnding(of: answer)?.code == code)
        #expect(try await chat.store.messages(of: "c").last == answer)
    }

    @Test func anyOtherErrorStandsBesideTheText() async throws {
        let error = LLMError(.generateFailed, "the engine failed")
        let chat = ChatFixture([[.text("Half"), .fail(error)], said("Better")])
        let events = await chat.send("Hello")
        #expect(events.banner == nil)
        #expect(events.finished.map(\.content) == ["Half"])
        let answer = try #require(events.finished.last)
        #expect(answer.failure?.code == error.codeText)
        #expect(AnswerEnding(of: answer)?.help == .proceed)
        // The error's text is no part of later prompts.
        await chat.send("Again")
        #expect(await chat.engine.requests.last?[2].content == "Half")
    }

    // MARK: History

    @Test(arguments: [(50, 50), (20, 20), (6, 6)]) func theHistoryIsBounded(_ limit: Int, _ most: Int) async throws {
        var settings = ChatSettings()
        settings.historyLimit = limit
        let chat = ChatFixture((0..<40).map { said("Answer \($0)") }, settings: settings)
        for number in 0..<40 { await chat.send("Question \(number)") }
        let counts = await chat.engine.requests.map { $0.count - 2 }
        #expect(counts.allSatisfy { $0 <= most && $0 % 2 == 0 })
        #expect((counts.last ?? 0) > most / 2)
        let last = try #require(await chat.engine.requests.last)
        #expect(last[1].role == .user && last.last?.content.hasPrefix("Question 39") == true)
    }

    /// The Must of the KV prefix: each prompt begins with all messages of the one before.
    @Test func eachPromptBeginsWithTheOneBefore() async throws {
        struct Agenda: PromptSource {
            let clock: ManualClock
            func sections(at moment: PromptMoment) async throws -> [PromptSection] {
                let minute = Int(moment.now.timeIntervalSince1970) / 180
                return [
                    PromptSection(name: "facts", text: "Vegetarian", place: .instructions),
                    PromptSection(name: "calendar", text: "event \(minute)"),
                ]
            }
        }
        let clock = ManualClock()
        let chat = ChatFixture(
            (0..<12).map { said("Answer \($0) [NOTE_ACTION:{\"action\":\"list\"}]") },
            sources: [Agenda(clock: clock)])
        for number in 0..<12 {
            await chat.send("Question \(number)")
            chat.clock.advance(by: .seconds(61))
        }
        let requests = await chat.engine.requests
        #expect(requests.count == 12)
        for (before, after) in zip(requests, requests.dropFirst()) {
            #expect(after.starts(with: before))
            // Only the answer and the new question follow.
            #expect(after.count == before.count + 2)
        }
        let tails = requests.compactMap { $0.last?.content }
        let agendas = Set((0..<12).map { (1_795_500_000 + 61 * $0) / 180 })
        #expect(tails.filter { $0.contains("<calendar>") }.count == agendas.count && agendas.count > 3)
        #expect(tails.allSatisfy { $0.contains("<now>") })
    }

    // MARK: Pictures

    @Test func picturesGoToWhoSees() async throws {
        let picture = try ChatImage(TestPictures.png(width: 4, height: 4))
        let seeing = ScriptedEngine([said("A cat")], capabilities: .vision)
        let chat = ChatFixture([said("Plain")], seeing: seeing)
        #expect(await chat.send("What is it?", images: [picture]).text == "A cat")
        #expect(await seeing.requests.first?.last?.images.count == 1)
        await chat.send("And now?")
        #expect(await chat.engine.requests.first?.allSatisfy(\.images.isEmpty) == true)
    }

    @Test func withoutSightTheTextIsAnsweredWithANotice() async throws {
        let picture = try ChatImage(TestPictures.png(width: 4, height: 4))
        let chat = ChatFixture([said("I see text")])
        let answer = try #require(await chat.send("What is it?", images: [picture]).finished.first)
        #expect(answer.notices == [AssistantTexts().picturesLeftOut])
        #expect(await chat.engine.requests.first?.last?.images.isEmpty == true)
    }

    // MARK: Branches

    @Test func answersAndQuestionsHaveBranches() async throws {
        let chat = ChatFixture([said("One"), said("Two"), said("Three"), said("Four")])
        await chat.send("Ask")
        _ = await ChatFixture.collect(chat.session.regenerate())
        #expect(await chat.session.messages.map(\.content) == ["Ask", "Two"])
        let question = try #require(await chat.session.messages.first)
        _ = await ChatFixture.collect(chat.session.edit(question.id, to: "Ask better"))
        #expect(await chat.session.messages.map(\.content) == ["Ask better", "Three"])
        #expect(await chat.session.alternatives(to: question.id).map(\.content) == ["Ask", "Ask better"])
        await chat.session.show(question.id)
        #expect(await chat.session.messages.map(\.content) == ["Ask", "Two"])
        await chat.send("More")
        #expect(await chat.engine.requests.last?.map(\.role) == [.system, .user, .assistant, .user])
        #expect(try await chat.store.messages(of: "c").count == 7)
        // A deleted question takes its branch along; the other is shown.
        await chat.session.delete(question.id)
        #expect(await chat.session.messages.map(\.content) == ["Ask better", "Three"])
        #expect(try await chat.store.messages(of: "c").count == 2)
    }

    @Test func theLastQuestionIsAnsweredAlsoWithoutAnAnswer() async throws {
        let chat = ChatFixture([said("One"), said("Two"), said("Three")])
        await chat.send("First")
        await chat.send("Second")
        await chat.session.delete(try #require(await chat.session.messages.last?.id))
        _ = await ChatFixture.collect(chat.session.regenerate())
        #expect(await chat.session.messages.map(\.content) == ["First", "One", "Second", "Three"])
    }

    @Test func requestsWithoutAMessageAreRefused() async {
        let chat = ChatFixture([])
        for stream in [await chat.session.regenerate(), await chat.session.edit("none", to: "x")] {
            guard case .failed(let failure)? = await ChatFixture.collect(stream).first else {
                Issue.record("it was not refused")
                continue
            }
            #expect(failure.code == "no-such-message")
        }
        #expect(await chat.engine.requests.isEmpty)
    }

    @Test func withoutAnInterruptedAnswerNothingContinuesOrIsLost() async {
        let chat = ChatFixture([said("Whole")])
        await chat.send("Ask")
        guard case .failed(let failure)? = await ChatFixture.collect(chat.session.continueLocally()).first else {
            Issue.record("it was not refused")
            return
        }
        #expect(failure.code == "nothing-to-continue" && !failure.needsModel)
        #expect(await chat.session.messages.map(\.content) == ["Ask", "Whole"])
    }

    @Test func aConversationHasATitleAndDocuments() async throws {
        let chat = ChatFixture([said("Berlin is.")])
        await chat.send("What is\nthe capital?")
        #expect(await chat.session.summary.title == "What is")
        await chat.session.rename("Capitals")
        #expect(try await chat.store.conversation("c")?.title == "Capitals")
        let export = await chat.session.export()
        #expect(export.markdown(timeZone: .gmt).contains("# Capitals"))
        let copy = try ConversationExport(json: export.json())
        #expect(copy.messages.map(\.content) == ["What is\nthe capital?", "Berlin is."])
        #expect(try await chat.store.search("capital", limit: 5).count == 1)
    }

    @Test func otherPartsAndAnotherEngineCountFromTheNextTurnOn() async throws {
        let chat = ChatFixture([[.text("One"), .waitForCancellation], said("Old")])
        let stream = await chat.session.send("First")
        await chat.engine.stalled()
        let engine = ScriptedEngine([said("New")])
        var parts = await chat.session.parts
        parts.settings.maximumNewTokens = 33
        parts.store = MemoryConversationStore()
        await chat.session.use(parts, engine: ChatEngine(engine))
        #expect(await engine.requests.isEmpty)
        await chat.session.stop()
        await ChatFixture.collect(stream)
        #expect(await chat.send("Second").text == "New")
        #expect(await engine.options.map(\.maximumNewTokens) == [33])
        #expect(await chat.engine.requests.count == 1)
        // The messages stay where they are kept.
        #expect(try await chat.store.messages(of: "c").map(\.content) == ["First", "One", "Second", "New"])
    }

    @Test func ofAnEndedConversationNothingIsKept() async throws {
        let chat = ChatFixture([[.text("One"), .waitForCancellation]])
        let stream = await chat.session.send("First")
        await chat.engine.stalled()
        await chat.session.end()
        await ChatFixture.collect(stream)
        try await chat.store.removeConversation("c")
        await chat.session.rename("Back again")
        await chat.session.delete("none")
        #expect(try await chat.store.conversation("c") == nil)
    }
}
