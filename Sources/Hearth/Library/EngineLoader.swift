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
public actor EngineLoader: ModelLoading {
    /// A model's engine, and the release it was opened for.
    struct Opened: Sendable {
        let release: ReleaseIdentity
        let engine: any InferenceEngine
    }

    private let find: @Sendable (ModelInfo) async throws -> (release: ReleaseIdentity, weights: Path)
    private let open: @Sendable (Path) async throws -> any InferenceEngine
    private var opened: [ModelRole: Opened] = [:]
    private var loading: [Family] = []
    private var observers: [UInt64: AsyncStream<LoadState>.Continuation] = [:]
    private var revision: UInt64 = 0
    private var nextObserver: UInt64 = 0

    /// A loader of what a manager has installed.
    /// - Parameters:
    ///   - manager: says which release of a family is used.
    ///   - configuration: gives context window and threads.
    public init(manager: ModelManager, configuration: Configuration = Configuration()) {
        self.init(manager: manager) { weights in
            try await EngineOpening.open(weights, configuration: configuration, deviceMemory: manager.deviceMemory)
        }
    }

    /// A loader that opens weights as it is told.
    public init(manager: ModelManager, open: @escaping @Sendable (Path) async throws -> any InferenceEngine) {
        find = { model in
            let availability = try await manager.availability(of: model.id)
            guard let release = availability.identity, let weights = availability.weights else {
                throw StoreError(
                    .notInstalled, "\(model.id) is not installed", context: ErrorContext(model: model.id.name))
            }
            return (release, weights)
        }
        self.open = { weights in
            await ModelPageCacheWarmer.hint(file: weights, below: manager.store.layout.models)
            return try await open(weights)
        }
    }

    deinit {
        for observer in observers.values { observer.finish() }
    }

    /// The engine that answers, `nil` while none is loaded.
    public func engine(for role: ModelRole) -> (any InferenceEngine)? { opened[role]?.engine }

    public func load(_ model: ModelInfo) async throws {
        loading.append(model.id)
        tell()
        defer {
            if let index = loading.firstIndex(of: model.id) { loading.remove(at: index) }
            tell()
        }
        let (release, weights) = try await find(model)
        if opened[model.role]?.release == release { return }
        let engine = try await open(weights)
        try Task.checkCancellation()
        opened[model.role] = Opened(release: release, engine: engine)
    }

    public func unload(_ family: Family) {
        opened = opened.filter { $0.value.release.family != family }
        tell()
    }

    public func loadStates() -> AsyncStream<LoadState> {
        let (stream, observer) = AsyncStream.makeStream(of: LoadState.self, bufferingPolicy: .bufferingNewest(1))
        let id = nextObserver
        nextObserver += 1
        observers[id] = observer
        observer.onTermination = { [weak self] _ in
            Task { await self?.forget(id) }
        }
        observer.yield(loadState())
        return stream
    }

    private func forget(_ id: UInt64) { observers[id] = nil }

    public func loadState() -> LoadState {
        LoadState(loaded: opened.mapValues(\.release.family), loading: loading.first, revision: revision)
    }

    private func tell() {
        revision += 1
        let state = loadState()
        for observer in observers.values { observer.yield(state) }
    }
}
