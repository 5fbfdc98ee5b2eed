import Hearth
import HearthBase
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthFoundationModels

/// The system's model among the models that an orchestrator chooses from.
@Suite(.timeLimit(.minutes(1))) struct SystemModelRoutingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func hearth(_ model: ScriptedSystemModel, _ configuration: Configuration = Configuration()) throws -> Hearth
    {
        var engines = EngineRegistry()
        engines.register(model: SystemModelEngine.name, SystemModelEngine(model: model))
        return try Hearth(home: folder.path("home").url, configuration: configuration, engines: engines)
    }

    private static func answer(_ engine: any InferenceEngine) async throws -> String {
        try await LanguageModelSession(model: engine).respond(to: "?").content
    }

    @Test func itAnswersAsTheDefaultModel() async throws {
        let hearth = try hearth(ScriptedSystemModel(readings: ["Hi"]))
        let orchestrator = try await hearth.orchestrator(default: SystemModelEngine.name)
        #expect(try await Self.answer(orchestrator) == "Hi")
        #expect(await orchestrator.activeSource == .local)
        await hearth.close()
    }

    @Test func aConversationNamesIt() async throws {
        let hearth = try hearth(ScriptedSystemModel(readings: ["Hi"]))
        let orchestrator = try await hearth.orchestrator()
        let request = RouteRequest(isPrivate: true, model: SystemModelEngine.name)
        #expect(try await Self.answer(orchestrator.conversation(request)) == "Hi")
        // Without a name there is no model.
        let error = await #expect(throws: LLMError.self) { try await Self.answer(orchestrator) }
        #expect(error?.code == .modelNotLoaded)
        await hearth.close()
    }

    @Test func itStandsInForAModelThatIsNotInstalled() async throws {
        var configuration = Configuration()
        configuration.aliases["helper"] = ["toy", SystemModelEngine.name]
        let hearth = try hearth(ScriptedSystemModel(readings: ["Hi"]), configuration)
        let orchestrator = try await hearth.orchestrator()
        #expect(try await Self.answer(orchestrator.conversation(RouteRequest(model: "helper"))) == "Hi")
        await hearth.close()
    }

    @Test func theReasonWhyItDoesNotAnswerReachesTheCaller() async throws {
        let hearth = try hearth(ScriptedSystemModel(unavailability: .appleIntelligenceNotEnabled))
        let orchestrator = try await hearth.orchestrator(default: SystemModelEngine.name)
        let error = await #expect(throws: LLMError.self) { try await Self.answer(orchestrator) }
        #expect(error?.code == .systemModelOff && error?.context.remedy != nil)
        await hearth.close()
    }
}
