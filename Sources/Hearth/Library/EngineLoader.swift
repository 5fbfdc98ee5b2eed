import HearthBase
import HearthDelivery
import HearthInference

/// The engines in memory, one for each purpose.
///
/// ```swift
/// let loader = EngineLoader(manager: manager, configuration: configuration)
/// let models = ModelDownloadViewModel(library: library, loader: loader)
/// // … once models.isModelLoaded:
/// guard let engine = await loader.engine(for: .text) else { return }
/// ```
/// What is handed out is the live model of ``LiveModels``: it changes versions between two answers, its answers count for the
/// probation of a new release, and while it is loaded no process removes its files. Engines of its own an app gets from there
/// too, and each release is in memory once.
public actor EngineLoader: ModelLoading {
    /// Where the engines are.
    public nonisolated let models: LiveModels
    private var opened: [ModelRole: LiveModel] = [:]
    private var loading: [Family] = []
    private let board = LoadStateBoard()

    /// A loader of the models an app has anyway.
    public init(models: LiveModels) { self.models = models }

    /// A loader of what a manager has installed.
    /// - Parameters:
    ///   - manager: says which release of a family is used.
    ///   - configuration: gives context window and threads.
    public init(manager: ModelManager, configuration: Configuration = Configuration()) {
        self.init(manager: manager) { files in
            try await EngineOpening.open(
                files.weights, projector: files.projector, configuration: configuration,
                deviceMemory: manager.deviceMemory)
        }
    }

    /// A loader that opens the files of a release as it is told.
    public init(manager: ModelManager, open: @escaping @Sendable (ReleaseFiles) async throws -> any InferenceEngine) {
        self.init(models: LiveModels(manager: manager, open: open))
    }

    /// The engine that answers, `nil` while none is loaded. Where memory got short meanwhile, it loads again when it is used.
    public func engine(for role: ModelRole) -> (any InferenceEngine)? { opened[role] }

    public func load(_ model: ModelInfo) async throws {
        loading.append(model.id)
        tell()
        defer {
            if let index = loading.firstIndex(of: model.id) { loading.remove(at: index) }
            tell()
        }
        let live = try await models.model(model.id, policy: .localOnly)
        // Loaded now, so that the first answer need not wait.
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
