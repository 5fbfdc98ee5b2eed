import HearthBase
import HearthCatalog
import HearthDelivery

/// The models in memory and the model being loaded.
public struct LoadState: Sendable, Hashable {
    /// The loaded models by role.
    public var loaded: [ModelRole: Family] = [:]
    /// The model being loaded.
    public var loading: Family?
    /// Increases with every change, so that an observer can tell the newer of two states.
    public var revision: UInt64

    /// A state with the given values.
    public init(loaded: [ModelRole: Family] = [:], loading: Family? = nil, revision: UInt64 = 0) {
        self.loaded = loaded
        self.loading = loading
        self.revision = revision
    }
}

/// The loader that view models use: one model in memory for each role.
public protocol ModelLoading: Sendable {
    /// Loads a model on this device for its ``ModelInfo/role`` and unloads the previous one once the new one can
    /// answer. Returns immediately if the model is loaded. Cancelling stops the load and changes nothing.
    func load(_ model: ModelInfo) async throws

    /// Unloads a model, so that its files can be removed.
    func unload(_ family: Family) async

    /// The current state, including completed loads and unloads.
    func loadState() async -> LoadState

    /// The current state, then every change. Ends with its consumer.
    func loadStates() async -> AsyncStream<LoadState>
}
