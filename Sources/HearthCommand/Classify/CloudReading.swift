import Foundation
import Hearth
import HearthBase
import HearthClassification
import HearthInference
import HearthRouting

/// The cloud model of the settings as a reader of characters.
struct CloudReading: Sendable {
    let reader: any CharacterReader
    private let orchestrator: LLMOrchestrator

    /// Opens the cloud model of the settings.
    /// - Throws: `RoutingError` if none is set up; `LLMError` with `cloud-key-unusable`.
    static func open(in context: CommandContext) async throws -> CloudReading {
        let configuration = try await context.configuration
        guard let cloud = try await context.cloud(configuration) else {
            throw RouteDecision(.local, .cloudMissing).refusal
        }
        let folder = try context.routingFolder
        let orchestrator = await LLMOrchestrator(
            local: NoLocalEngines(), cloud: cloud.engine,
            premium: cloud.premium(configuration, folder: folder, time: context.time),
            forceLocal: configuration.forceLocal, network: context.network(), folder: folder, time: context.time)
        return CloudReading(reader: ClaudeService(orchestrator), orchestrator: orchestrator)
    }

    /// Returns when the records of the decisions are on the disk.
    func close() async { await orchestrator.flush() }
}

/// No local model reads pictures of characters here.
private struct NoLocalEngines: LocalEngines {
    func engine(
        for model: String?, onLoading: @escaping @Sendable (Double?) -> Void
    ) async throws -> any InferenceEngine {
        throw LLMError(.modelNotLoaded, "no local model is loaded")
    }

    func evictIdle() async {}
    func unload() async {}
}
