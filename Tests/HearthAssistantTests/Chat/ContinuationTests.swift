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
        #expect(asked.map(\.role) == [.system, .user, .assistant, .user])
        #expect(asked[2].content == "Half ")
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
        let stage = try await Stage(
            cloud: [[.text("Half"), .fail(Self.reset)], Self.said(Self.note)],
            local: ScriptedEngine([Self.said(#" more [NOTE_ACTION:{"action":"paint"}]"#)]))
        let session = try await stage.assistant.session()
        await ChatFixture.collect(session.send("Write"))
        let whole = try #require(await ChatFixture.collect(session.continueLocally()).finished.last)
        #expect(whole.content == "Half more" && whole.cards.map(\.state) == [.done])
        #expect(await stage.cloud.requests.last?.map(\.role) == [.system, .user, .assistant, .user])
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

    /// The engine of two conversations holds one broken answer; it belongs to the conversation in which it broke off.
    @Test func anotherConversationDoesNotGetTheRest() async throws {
        let stage = try await Stage(
            cloud: [[.text("Half"), .fail(Self.reset)], Self.said("Other")], local: ScriptedEngine([Self.said("rest")]))
        let routed = stage.orchestrator.conversation()
        let first = try await stage.assistant.session(nil, engine: routed, settings: nil)
        await ChatFixture.collect(first.send("Why?"))
        let second = try await stage.assistant.session(nil, engine: routed, settings: nil)
        guard case .failed(let failure)? = await ChatFixture.collect(second.continueLocally()).first else {
            Issue.record("the other conversation goes on")
            return
        }
        #expect(failure.code == "nothing-to-continue")
        // Nor does a later answer of the same conversation.
        await ChatFixture.collect(first.send("And?"))
        guard case .failed? = await ChatFixture.collect(first.continueLocally()).first else {
            Issue.record("a whole answer goes on")
            return
        }
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
