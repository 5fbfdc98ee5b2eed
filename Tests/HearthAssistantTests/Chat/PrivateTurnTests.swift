import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Nothing of a private conversation leaves: one server is the search, the pages and the cloud, and records each request.
@Suite(.timeLimit(.minutes(2))) struct PrivateTurnTests {
    private struct ApproveAll: ActionApproval {
        func decide(_ card: ActionCard) async -> ActionDecision { .approve }
    }

    /// The local model of an orchestrator.
    private struct Local: LocalEngines {
        let engine: ScriptedEngine

        func engine(
            for model: String?, onLoading: @escaping @Sendable (Double?) -> Void
        ) async throws -> any InferenceEngine { engine }
        func evictIdle() async {}
        func unload() async {}
    }

    private struct World {
        let server: FaultServer
        let engine: ScriptedEngine
        let orchestrator: LLMOrchestrator
        let cloud: CloudEngine
        let assistant: Assistant
        let clock = ManualClock()

        /// - Parameter answers: what the local model writes.
        init(
            _ answers: [String], capabilities: EngineCapabilities = [], search: (any SearchProvider)? = nil,
            seeing: ((LLMOrchestrator, CloudEngine) -> any InferenceEngine)? = nil
        ) async throws {
            server = try FaultServer { _ in
                Reply(
                    headers: ["Content-Type": "application/json"],
                    body: .data(Data(#"{"results": [{"title": "a", "url": "https://a.test/"}]}"#.utf8)))
            }
            engine = ScriptedEngine(
                answers.map { [.text($0), .finish(.endOfGeneration)] }, capabilities: capabilities)
            cloud = CloudEngine(try CloudSettings(.openai, url: try server.url("/v1"), model: "m", key: "k"))
            orchestrator = await LLMOrchestrator(
                local: Local(engine: engine), cloud: cloud, premium: PremiumManager(.ownKey),
                network:
                    ScriptedNetworkMonitor(), time: clock.time)
            var settings = AssistantSettings()
            settings.searchWeb(at: try server.url("/"))
            if let search { settings.search = search }
            settings.approvals = [.webSearch: .always]
            let database = try await AssistantDatabase.open(home: nil)
            assistant = Assistant(
                conversations: SQLiteConversationStore(database),
                stores: AssistantStores(notes: SQLiteNoteStore(database)), database: database, engine: orchestrator,
                seeing: seeing?(orchestrator, cloud), settings: settings, approval: ApproveAll(),
                pages: PageReader(rule: { _ in true }), time: clock.time)
        }
    }

    private static let blocks = [
        #"[WEB_SEARCH:{"query":"secret diagnosis"}]"#, #"[WEB_SEARCH:{"query":"http://127.0.0.1:PORT/page"}]"#,
        #"[WEB_SEARCH:{"query":"a"}] [WEB_SEARCH:{"query":"b"}]"#,
        #"x [WEB_SEARCH:{"query":"http://LOCALHOST:PORT/"}]"#,
    ]

    @Test(arguments: blocks, [[], [.grammar, .schema], .tools] as [EngineCapabilities])
    func blocksOfSearchesAndPagesSayWhyNothingIsSearched(_ block: String, _ abilities: EngineCapabilities) async throws
    {
        let world = try await World([block, "Fine", "Fine"], capabilities: abilities)
        let text = block.replacing("PORT", with: "\(world.server.port)")
        let session = try await world.assistant.session(isPrivate: true)
        for act in [nil, ActionTag.webSearch] {
            let events = await ChatFixture.collect(session.send("read \(text)", act: act))
            #expect(events.finished.flatMap(\.cards).allSatisfy { $0.isUnoffered })
            #expect(!events.finished.contains { $0.content.contains("WEB_SEARCH") })
        }
        #expect(world.server.requests.isEmpty)
        let codes = await session.messages.flatMap(\.cards).compactMap { $0.remarks?.map(\.code) }
        #expect(!codes.isEmpty && codes.allSatisfy { $0 == ["private-search"] })
        #expect(await session.registry.tags == [.note])
        let prompts = await world.engine.requests
        #expect(prompts.count == 2)
        for prompt in prompts {
            #expect(prompt.first?.content.contains("WEB_SEARCH") == false)
            #expect(prompt.first?.content.contains("NOTE_ACTION") == true)
        }
        for options in await world.engine.options {
            #expect(options.constraint?.blocks.contains { $0.opening == "[WEB_SEARCH:" } != true)
            #expect(!options.tools.contains { $0.name == "web_search" })
        }
    }

    /// The same answers leave the device in an ordinary conversation, so the silence above follows from the privacy.
    @Test(arguments: blocks) func anOrdinaryConversationSearches(_ block: String) async throws {
        let world = try await World([])
        let text = block.replacing("PORT", with: "\(world.server.port)")
        let engine = ScriptedEngine([
            [.text(text), .finish(.endOfGeneration)], [.text("Ok"), .finish(.endOfGeneration)],
        ])
        let session = try await world.assistant.session(nil, engine: engine, settings: nil)
        await ChatFixture.collect(session.send("read \(text)"))
        #expect(!world.server.requests.isEmpty)
    }

    @Test func aToolCallOfASearchDoesNothing() async throws {
        let world = try await World([])
        let call = ToolCall(id: "1", name: "web_search", arguments: #"{"query":"secret"}"#)
        let engine = ScriptedEngine([[.text("Hm"), .toolCall(call), .finish(.toolCalls)]], capabilities: .tools)
        let session = try await world.assistant.session(nil, isPrivate: true, engine: engine, settings: nil)
        let events = await ChatFixture.collect(session.send("secret"))
        #expect(events.finished.map(\.content) == ["Hm"] && world.server.requests.isEmpty)
    }

    /// New settings during the conversation bring nothing back.
    @Test func otherPartsStayPrivate() async throws {
        let world = try await World([Self.blocks[0]])
        let session = try await world.assistant.session(isPrivate: true)
        await world.assistant.take(session)
        await ChatFixture.collect(session.send("secret"))
        #expect(world.server.requests.isEmpty)
        let parts = await session.parts
        #expect(parts.search == nil && parts.pages == nil && parts.store == nil)
        await world.assistant.take(session, engine: world.orchestrator.conversation(RouteRequest(preference: .cloud)))
        let events = await ChatFixture.collect(session.send("secret"))
        #expect(events.compactMap { if case .failed(let body) = $0 { body.code } else { nil } } == ["cloud-off"])
        #expect(world.server.requests.isEmpty)
    }

    @Test func anEngineOnAServerRefuses() async throws {
        let world = try await World([])
        let session = try await world.assistant.session(nil, isPrivate: true, engine: world.cloud, settings: nil)
        let events = await ChatFixture.collect(session.send("secret"))
        #expect(events.compactMap { if case .failed(let body) = $0 { body.code } else { nil } } == ["cloud-off"])
        #expect(world.server.requests.isEmpty)
    }

    /// A picture goes to the engine that sees: that one is private too.
    @Test(arguments: [true, false]) func picturesStayHere(_ isRouted: Bool) async throws {
        let world = try await World(
            ["A cat"],
            seeing: { orchestrator, cloud -> any InferenceEngine in
                if isRouted { orchestrator } else { cloud }
            })
        let session = try await world.assistant.session(isPrivate: true)
        let picture = try ChatImage(TestPictures.png)
        let events = await ChatFixture.collect(session.send("What is this?", images: [picture]))
        let failures = events.compactMap { if case .failed(let body) = $0 { body.code } else { nil } }
        #expect(failures == (isRouted ? [] : ["cloud-off"]))
        #expect(await world.engine.requests.count == (isRouted ? 1 : 0))
        #expect(world.server.requests.isEmpty)
    }

    /// A search of the user's own texts leaves nothing, so it stays.
    @Test func ownTextsAreSearched() async throws {
        let world = try await World([Self.blocks[0], "Nothing"], search: OwnTextSearch())
        let session = try await world.assistant.session(isPrivate: true)
        let events = await ChatFixture.collect(session.send("What?"))
        #expect(events.finished.first?.cards.map(\.tag) == [.webSearch])
        #expect(world.server.requests.isEmpty)
    }
}
