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
    private let premium: PremiumManager

    /// The credits left of those of this month; `nil` where they are not counted.
    var credits: (left: Int, of: Int)? {
        let rights = premium.rights
        guard let left = rights.credits, let of = rights.entitlement.monthlyCredits else { return nil }
        return (left, of)
    }

    /// Opens the cloud model of the settings.
    /// - Throws: `RoutingError` if none is set up; `LLMError` with `cloud-key-unusable`.
    static func open(in context: CommandContext) async throws -> CloudReading {
        let hearth = try await context.hearth()
        let configuration = hearth.configuration
        guard let cloud = try await hearth.cloud(configuration) else {
            throw RouteDecision(.local, .cloudMissing).refusal
        }
        let premium = hearth.premium(configuration, for: cloud)
        let orchestrator = await hearth.orchestrator(
            configuration, cloud: cloud, premium: premium, local: NoLocalEngines())
        return CloudReading(
            reader: CloudCharacterReader(orchestrator), orchestrator: orchestrator, premium: premium)
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
