import Foundation
import Hearth
import HearthAssistant
import HearthInference
import HearthTestSupport
import Testing

/// The assistant of an app, out of the home's settings.
@Suite(.timeLimit(.minutes(5))) struct AssistantFrontTests {
    private struct Always: ActionApproval {
        func decide(_ card: ActionCard) async -> ActionDecision { .always }
    }

    private func answer(_ assistant: Assistant) async throws {
        for await _ in try await assistant.session().send("Note: milk") {}
    }

    private func hearth(_ folder: TemporaryFolder) throws -> Hearth {
        try Hearth(home: folder.path("home"), environment: ["HEARTH_NETWORK": "unmetered"], engines: EngineRegistry())
    }

    private var engine: ScriptedEngine {
        ScriptedEngine(
            [[.text(#"[NOTE_ACTION:{"action":"create","title":"Milk","body":"two"}]"#), .finish(.endOfGeneration)]])
    }

    @Test func alwaysIsKeptForAnApp() async throws {
        let folder = try TemporaryFolder()
        let hearth = try hearth(folder)
        try await answer(try await hearth.assistant(approval: Always(), engine: engine))
        let kept = try Configuration.load(home: folder.path("home"))
        #expect(try kept.value(of: "approval.NOTE_ACTION") == "always")
        await hearth.close()
    }

    @Test func anAppBringsItsOwnStores() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let hearth = try hearth(folder)
        let records = try await AssistantHome(path: other.path("home"), time: .system)
        let assistant = try await hearth.assistant(
            approval: Always(), stores: AssistantStores(notes: records.notes), engine: engine)
        try await answer(assistant)
        #expect(try await records.notes.records(matching: "", limit: 5).map(\.title) == ["Milk"])
        let own = try await AssistantHome(path: folder.path("home"), time: .system)
        #expect(try await own.notes.records(matching: "", limit: 5).isEmpty)
        #expect(assistant.stores.calendar != nil && assistant.stores.habits != nil)
        await hearth.close()
    }

    @Test func withoutACloudTheOrchestratorNeedsNoRights() async throws {
        let folder = try TemporaryFolder()
        let hearth = try hearth(folder)
        let orchestrator = try await hearth.orchestrator()
        let decision = await orchestrator.decision()
        #expect(decision.source == .local)
        await hearth.close()
    }
}
