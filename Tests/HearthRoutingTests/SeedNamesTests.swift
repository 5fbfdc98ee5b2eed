import HearthInference
import HearthRouting
import Testing

/// Calls by the names of seed 001, as its readers write them.
@Suite(.timeLimit(.minutes(1))) struct SeedNamesTests {
    @Test func theOrchestratorSaysWhatForcesIt() async throws {
        let stage = await RoutingStage(cloud: [], local: ScriptedLocals())
        await stage.orchestrator.setForceLocal(true)
        #expect(await stage.orchestrator.forceLocal)
        #expect(await stage.orchestrator.activeSource == .local)
        let premiumManager = PremiumManager(Entitlement(.starter))
        #expect(premiumManager.entitlement.tier == .starter && premiumManager.canUseCloudAI)
        let service: any LLMServiceProtocol = CloudLLMService(try CloudSettings(.gemini, key: "k"))
        #expect(try await service.capabilities.contains(.thinking))
    }
}
