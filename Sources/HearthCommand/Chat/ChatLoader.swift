import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore

/// Loads a downloaded model and keeps its engine for the conversation, so that weights are read once.
actor ChatLoader: ModelLoading {
    private let open: @Sendable (Family) async throws -> OpenedModel
    private var result: Result<OpenedModel, any Error>?
    private let board = LoadStateBoard()

    /// A loader for families on this device.
    init(open: @escaping @Sendable (Family) async throws -> OpenedModel) { self.open = open }

    /// The result of the last load.
    /// - Throws: the error of the load; `CancellationError` without a load.
    func opened() throws -> OpenedModel {
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    func load(_ model: ModelInfo) async throws {
        guard board.state.loaded[model.role] != model.id else { return }
        board.change { $0.loading = model.id }
        do {
            result = .success(try await open(model.id))
            board.change { ($0.loading, $0.loaded) = (nil, [model.role: model.id]) }
        } catch {
            result = .failure(error)
            board.change { $0.loading = nil }
            throw error
        }
    }

    func unload(_ family: Family) async {
        guard board.state.loaded.values.contains(family), case .success(let opened)? = result else { return }
        result = nil
        board.change { $0.loaded = [:] }
        await opened.engine.unload()
        opened.model.lease?.release()
    }

    func loadState() -> LoadState { board.state }

    func loadStates() -> AsyncStream<LoadState> { board.states() }
}
