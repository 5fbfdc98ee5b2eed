import Foundation
import HearthBase
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Answers of a cloud that break off, and go on with a model of this device.
@Suite(.timeLimit(.minutes(5))) struct ContinuationTests {
    /// A cloud that answers from a script.
    private struct Cloud: RemoteEngine, ForwardingEngine {
        let engine: ScriptedEngine
        let address = URL(string: "http://127.0.0.1:1") ?? URL(filePath: "/")

        func checkHealth() async throws {}
    }

    /// One local model.
    private actor Locals: LocalEngines {
        let engine: ScriptedEngine?

        init(_ engine: ScriptedEngine?) { self.engine = engine }

        func engine(
            for model: String?, onLoading: @escaping @Sendable (Double?) -> Void
        ) async throws -> any InferenceEngine {
            guard let engine else { throw LLMError(.modelNotLoaded, "no model is installed") }
            return engine
        }

        func evictIdle() async {}
        func unload() async {}
    }

    private struct Stage {
        let cloud: ScriptedEngine
        let orchestrator: LLMOrchestrator
        let assistant: Assistant
        let approval = ScriptedApproval(otherwise: .approve)

        init(cloud answers: [[ScriptedEngine.Step]], local: ScriptedEngine?) async throws {
            cloud = ScriptedEngine(answers)
            let clock = ManualClock()
            orchestrator = await LLMOrchestrator(
                local: Locals(local), cloud: Cloud(engine: cloud),
                premium: PremiumManager(.ownKey, folder: nil, time: clock.time),
                forceLocal: false, network: ScriptedNetworkMonitor(), folder: nil, time: clock.time)
            assistant = try await Assistant(
                home: nil, engine: orchestrator, settings: AssistantSettings(), approval: approval, time: clock.time)
        }
    }

    private static let reset = LLMError(.unreachable, "the connection broke off")
    private static let note = #"[NOTE_ACTION:{"action":"create","title":"Tides","body":"high"}]"#

    private static func said(_ text: String) -> [ScriptedEngine.Step] { [.text(text), .finish(.endOfGeneration)] }

    @Test func theAnswerGoesOnInItsMessage() async throws {
        let local = ScriptedEngine([Self.said("of it. \(Self.note)")])
        let stage = try await Stage(cloud: [[.text("Half "), .fail(Self.reset)]], local: local)
        let session = try await stage.assistant.session()
        let broken = await ChatFixture.collect(session.send("Why?"))
        let first = try #require(broken.finished.last)
        #expect(first.facts?.finish == .interrupted && first.notices == [AssistantTexts().interrupted])

        let events = await ChatFixture.collect(session.continueLocally())
        guard case .started(nil, let answer)? = events.first else {
            Issue.record("the turn does not begin with the answer")
            return
        }
        // The white space at the end is held until the next word.
        #expect(answer.id == first.id && answer.content == "Half" && answer.notices.isEmpty)
        #expect(answer.content + events.text == "Half of it.")
        let whole = try #require(events.finished.last)
        #expect(whole.id == first.id && whole.content == "Half of it.")
        #expect(whole.rawContent == "Half of it. \(Self.note)")
        #expect(whole.cards.map(\.state) == [.done] && whole.facts?.finish == .endOfGeneration)
        #expect(await session.messages.map(\.id) == [first.parent, first.id])
        #expect(try await stage.assistant.conversations.messages(of: session.id).last == whole)
        let asked = try #require(await local.requests.first)
        #expect(asked.map(\.role) == [.system, .user, .assistant] && asked[2].content == "Half ")
        let options = try #require(await local.options.first)
        #expect(options.continuesLastMessage && !options.thinking.isEnabled)
    }

    /// A conversation that its settings keep on this device goes on here, also if a client asks for the cloud.
    @Test func aConversationOfThisDeviceGoesOnHere() async throws {
        let local = ScriptedEngine([Self.said("of it.")])
        let stage = try await Stage(cloud: [[.text("Half "), .fail(Self.reset)], Self.said("away")], local: local)
        let session = try await stage.assistant.session()
        await ChatFixture.collect(session.send("Why?"))
        var settings = ConversationSettings()
        settings.route = .local
        await session.set(settings)
        let whole = try #require(await ChatFixture.collect(session.goOn(with: .cloud)).finished.last)
        #expect(whole.content == "Half of it." && whole.facts?.source == .local)
        #expect(await stage.cloud.requests.count == 1)
        #expect(await local.requests.count == 1)
    }

    /// A block in the first half was not carried out then, and is carried out once with the whole answer.
    @Test func blocksBeforeTheBreakAreCarriedOutOnce() async throws {
        let stage = try await Stage(
            cloud: [[.text("One. \(Self.note) Two"), .fail(Self.reset)]],
            local: ScriptedEngine([Self.said(" and three.")]))
        let session = try await stage.assistant.session()
        let first = try #require(await ChatFixture.collect(session.send("Write")).finished.last)
        #expect(first.cards.map(\.state) == [.notCarriedOut])
        let whole = try #require(await ChatFixture.collect(session.continueLocally()).finished.last)
        #expect(whole.content == "One. Two and three." && whole.cards.map(\.state) == [.done])
        #expect(try await stage.assistant.stores.notes?.records(matching: "Tides", limit: 5).count == 1)
    }

    /// A block that the local model writes wrongly gets its pass of repair.
    @Test func aBlockOfTheRestIsRepaired() async throws {
        let local = ScriptedEngine([Self.said(#" more [NOTE_ACTION:{"action":"paint"}]"#), Self.said(Self.note)])
        let stage = try await Stage(
            cloud: [[.text("Half"), .fail(Self.reset)]], local: local)
        let session = try await stage.assistant.session()
        await ChatFixture.collect(session.send("Write"))
        let whole = try #require(await ChatFixture.collect(session.continueLocally()).finished.last)
        #expect(whole.content == "Half more" && whole.cards.map(\.state) == [.done])
        // What goes on with a model of this device ends with it.
        #expect(await local.requests.last?.map(\.role) == [.system, .user, .assistant, .user])
        #expect(await stage.cloud.requests.count == 1)
    }

    /// Without a local model the answer stays as it was, and can be continued later.
    @Test func anAnswerThatCannotGoOnStays() async throws {
        let stage = try await Stage(cloud: [[.text("Half"), .fail(Self.reset)]], local: nil)
        let session = try await stage.assistant.session()
        let first = try #require(await ChatFixture.collect(session.send("Why?")).finished.last)
        for _ in 0..<2 {
            let events = await ChatFixture.collect(session.continueLocally())
            #expect(events.banner?.code == "model-not-loaded")
            #expect(await session.messages.last?.content == first.content)
        }
    }

    /// Only the last answer of a conversation goes on, and only if it is not complete.
    @Test func aWholeAnswerDoesNotGoOn() async throws {
        let stage = try await Stage(
            cloud: [[.text("Half"), .fail(Self.reset)], Self.said("Other")], local: ScriptedEngine([Self.said("rest")]))
        let session = try await stage.assistant.session()
        await ChatFixture.collect(session.send("Why?"))
        let broken = try #require(await session.messages.last)
        await ChatFixture.collect(session.send("And?"))
        for stream in [await session.continueLocally(), await session.goOn(broken.id), await session.goOn("none")] {
            guard case .failed(let failure)? = await ChatFixture.collect(stream).first else {
                Issue.record("a whole answer goes on")
                continue
            }
            #expect(failure.code == "nothing-to-continue")
        }
        #expect(await session.messages.map(\.content) == ["Why?", "Half", "And?", "Other"])
    }

    /// After its longest length, after a stop, and after the end of the program an answer goes on with the same engine.
    @Test func everyAnswerThatIsNotCompleteGoesOn() async throws {
        let store = MemoryConversationStore()
        let first = ChatFixture(
            [
                [.text("One "), .finish(.maximumNewTokens)], [.text("two "), .waitForCancellation],
                Self.said("three."),
            ],
            store: store)
        await first.send("Count")
        #expect(await first.last?.facts?.finish == .maximumNewTokens)
        let stream = await first.session.goOn()
        await first.engine.stalled()
        await first.session.stop()
        await ChatFixture.collect(stream)
        let stopped = try #require(await first.last)
        #expect(stopped.content == "One two " && stopped.failure?.code == Turn.stoppedCode)
        await ChatFixture.collect(first.session.goOn())
        let whole = try #require(await first.last)
        #expect(whole.content == "One two three." && whole.failure == nil && whole.isOpen == nil)
        #expect(whole.facts?.finish == .endOfGeneration && whole.notices.isEmpty)
        #expect(await first.engine.requests.map { $0.last?.role } == [.user, .assistant, .assistant])
        #expect(await first.engine.requests.last?.last?.content == "One two ")
        #expect(await store.messages(of: "c").last == whole)
    }

    /// The space between the two parts of an answer is there once, wherever it was written.
    @Test(arguments: [
        ("One ", ["two"], "One two"), ("One", [" two"], "One two"), ("One ", [" two"], "One two"),
        ("One ", ["", " ", "two"], "One two"), ("On", ["e two"], "One two"), ("One.\n", ["\nTwo"], "One.\n\nTwo"),
        ("```\nif a {\n    ", ["    b"], "```\nif a {\n        b"), ("One ", ["two", " three"], "One two three"),
    ])
    func theJointHasOneSpace(_ before: String, _ rest: [String], _ whole: String) async throws {
        let chat = ChatFixture([
            [.text(before), .finish(.maximumNewTokens)],
            rest.map { ScriptedEngine.Step.text($0) } + [.finish(.endOfGeneration)],
        ])
        await chat.send("Count")
        await ChatFixture.collect(chat.session.goOn())
        #expect(await chat.last?.content == whole)
    }

    /// The process ended during an answer: the kept text goes on in the next one.
    @Test func anAnswerGoesOnInTheNextProcess() async throws {
        let kept = ChatFixture([Self.said("Whole")])
        await kept.send("Count")
        var answer = try #require(await kept.last)
        (answer.content, answer.facts, answer.isOpen) = ("One two", nil, true)
        try await kept.store.save(answer, in: "c")
        let ending = AnswerEnding(of: answer)
        #expect(ending?.code == "unfinished" && ending?.help == .proceed)
        let engine = ScriptedEngine([Self.said(" three.")])
        let session = ChatSession(
            id: "c", parts: await kept.session.parts, engine: ChatEngine(engine),
            conversation: try await kept.store.conversation("c"), messages: try await kept.store.messages(of: "c"))
        await ChatFixture.collect(session.goOn())
        #expect(await session.messages.last?.content == "One two three.")
        #expect(await engine.requests.first?.last?.content == "One two")
    }

    /// Answering again replaces an answer that failed before its first word, and no alternative of it stays.
    @Test func anEmptyFailedAnswerIsReplaced() async throws {
        let chat = ChatFixture([[.fail(LLMError(.engineDied, "it died"))], Self.said("Better")])
        await chat.send("Why?")
        let failed = try #require(await chat.last)
        #expect(failed.failure?.code == "engine-died" && AnswerEnding(of: failed)?.help == .retry)
        let kept = try await chat.store.messages(of: "c").last
        #expect(kept == failed)
        let events = await ChatFixture.collect(chat.session.regenerate(failed.id))
        guard case .removed(failed.id)? = events.first else { throw CancellationError() }
        #expect(await chat.session.messages.map(\.content) == ["Why?", "Better"])
        let last = try #require(await chat.last)
        #expect(await chat.session.alternatives(to: last.id).count == 1)
    }

    /// A view that reads the messages late shows each piece once.
    @Test @MainActor func aViewShowsTheWholeAnswer() async throws {
        let stage = try await Stage(
            cloud: [[.text("Half "), .fail(Self.reset)]],
            local: ScriptedEngine([[.text("of "), .text("it."), .finish(.endOfGeneration)]]))
        let chat = ChatViewModel(try await stage.assistant.session())
        chat.sendMessage("Why?")
        await chat.finished()
        #expect(chat.messages.last?.notices == [AssistantTexts().interrupted])
        chat.continueLocally()
        await chat.finished()
        #expect(chat.messages.last?.content == "Half of it." && chat.messages.last?.notices == [])
    }
}
