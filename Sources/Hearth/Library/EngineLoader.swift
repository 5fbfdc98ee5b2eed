import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import Observation

/// Engines in memory, one for each model role, as ``ModelDownloadViewModel`` loads them.
@MainActor @Observable package final class EngineLoader: ModelLoading {
    /// The models that this loader takes engines from.
    @ObservationIgnored package let models: LiveModels
    private var opened: [ModelRole: LiveModel] = [:]
    private var waiting: [Family] = []

    /// A loader that shares an app's live models.
    package init(models: LiveModels) { self.models = models }

    package var loaded: [ModelRole: Family] { opened.compactMapValues(\.family) }

    package var loading: Family? { waiting.first }

    /// The loaded engine, `nil` without one. If memory pressure unloaded the model, its next use loads it again.
    package func engine(for role: ModelRole) -> LiveModel? { opened[role] }

    package func load(_ model: ModelInfo) async throws {
        // Load now, so that the first answer need not wait.
        try await open(model) { try await $0.load() }
    }

    package func loadBeside(_ model: ModelInfo) async throws {
        try await open(model) { try await $0.loadBesideOthers() }
    }

    private func open(_ model: ModelInfo, _ load: @Sendable (LiveModel) async throws -> Void) async throws {
        waiting.append(model.id)
        defer { waiting.firstIndex(of: model.id).map { _ = waiting.remove(at: $0) } }
        let live = try await models.model(model.id, policy: .localOnly)
        try await load(live)
        try Task.checkCancellation()
        let before = opened.updateValue(live, forKey: model.role)
        guard let family = before?.family, !loaded.values.contains(family) else { return }
        models.retire(family)
    }

    package func unload(_ family: Family) async {
        opened = opened.filter { $0.value.family != family }
        await models.unload(family)
    }
}
