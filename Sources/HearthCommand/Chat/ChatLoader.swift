import Hearth
import HearthBase
import HearthDelivery
import HearthInference

/// Loads for a view model as `chat` loads what is here already, and keeps it for the conversation: weights are read once.
actor ChatLoader: ModelLoading {
    private let open: @Sendable (Family) async throws -> OpenedModel
    private var result: Result<OpenedModel, any Error>?
    private var state = LoadState()
    private var observers: [AsyncStream<LoadState>.Continuation] = []

    /// A loader of families that are on this device.
    init(open: @escaping @Sendable (Family) async throws -> OpenedModel) { self.open = open }

    deinit {
        for observer in observers { observer.finish() }
    }

    /// What the last load has brought.
    /// - Throws: why it brought nothing; `CancellationError` where there was none.
    func opened() throws -> OpenedModel {
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    func load(_ model: ModelInfo) async throws {
        guard state.loaded[model.role] != model.id else { return }
        change { $0.loading = model.id }
        do {
            result = .success(try await open(model.id))
            change { ($0.loading, $0.loaded) = (nil, [model.role: model.id]) }
        } catch {
            result = .failure(error)
            change { $0.loading = nil }
            throw error
        }
    }

    func unload(_ family: Family) async {
        guard state.loaded.values.contains(family), case .success(let opened)? = result else { return }
        result = nil
        change { $0.loaded = [:] }
        await opened.engine.unload()
        opened.model.lease?.release()
    }

    func loadState() -> LoadState { state }

    func loadStates() -> AsyncStream<LoadState> {
        let (stream, observer) = AsyncStream.makeStream(of: LoadState.self, bufferingPolicy: .bufferingNewest(1))
        observers.append(observer)
        observer.yield(state)
        return stream
    }

    private func change(_ make: (inout LoadState) -> Void) {
        make(&state)
        state.revision += 1
        for observer in observers { observer.yield(state) }
    }
}
