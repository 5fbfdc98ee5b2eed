import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference

/// Engines in memory, one for each model role.
///
/// ```swift
/// let loader = EngineLoader(manager: manager)
/// let models = ModelDownloadViewModel(library: library, loader: loader)
/// // … once models.isModelLoaded:
/// guard let engine = await loader.engine(for: .text) else { return }
/// ```
/// Engines come from ``LiveModels``: they switch versions between two answers, count their answers for the probation
/// of a new release, and prevent removal of their files. Get further engines from ``models`` too, so that each
/// release is loaded once.
public actor EngineLoader: ModelLoading {
    /// The models that this loader takes engines from.
    public nonisolated let models: LiveModels
    private var opened: [ModelRole: LiveModel] = [:]
    private var loading: [Family] = []
    private let board = LoadStateBoard()

    /// A loader that shares an app's live models.
    public init(models: LiveModels) { self.models = models }

    /// A loader for a manager's models, with the manager's settings.
    public init(manager: ModelManager) { self.init(models: LiveModels(manager: manager)) }

    /// A loader that opens the files of a release with a closure.
    public init(manager: ModelManager, open: @escaping @Sendable (ReleaseFiles) async throws -> any InferenceEngine) {
        self.init(models: LiveModels(manager: manager, open: open))
    }

    /// The loaded engine, `nil` without one. If memory pressure unloaded the model, its next use loads it again.
    public func engine(for role: ModelRole) -> (any InferenceEngine)? { opened[role] }

    public func load(_ model: ModelInfo) async throws {
        loading.append(model.id)
        tell()
        defer {
            if let index = loading.firstIndex(of: model.id) { loading.remove(at: index) }
            tell()
        }
        let live = try await models.model(model.id, policy: .localOnly)
        // Load now, so that the first answer need not wait.
        try await live.lease().end()
        try Task.checkCancellation()
        let before = opened.updateValue(live, forKey: model.role)
        guard let before, !opened.values.contains(where: { $0.family == before.family }) else { return }
        models.retire(before.family)
    }

    public func unload(_ family: Family) async {
        opened = opened.filter { $0.value.family != family }
        tell()
        await models.unload(family)
    }

    public func loadState() -> LoadState { board.state }

    public func loadStates() -> AsyncStream<LoadState> { board.states() }

    private func tell() {
        board.change { ($0.loaded, $0.loading) = (opened.mapValues(\.family), loading.first) }
    }
}
