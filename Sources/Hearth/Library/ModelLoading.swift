import HearthBase
import HearthDelivery

/// What is loaded and what is being loaded.
public struct LoadState: Sendable, Hashable {
    /// The model that answers, by what it is for.
    public var loaded: [ModelRole: Family] = [:]
    /// The model that is being loaded.
    public var loading: Family?
    /// Goes up with every change, so that whoever hears of two knows which is the newer one.
    public var revision: UInt64

    /// Nothing loaded, unless said.
    public init(loaded: [ModelRole: Family] = [:], loading: Family? = nil, revision: UInt64 = 0) {
        self.loaded = loaded
        self.loading = loading
        self.revision = revision
    }
}

/// What the view models need of inference: one model for each purpose, in memory.
public protocol ModelLoading: Sendable {
    /// Loads a model that is on this device and makes it the one for its ``ModelInfo/role``; the one before goes once the
    /// new one answers. At once for a model that is loaded already. Cancelling ends it soon and changes nothing.
    func load(_ model: ModelInfo) async throws

    /// Lets go of a model, before its files go.
    func unload(_ family: Family) async

    /// What is loaded now: after a load or an unload, with what it did.
    func loadState() async -> LoadState

    /// What is loaded now, and then every change. Ends with its consumer.
    func loadStates() async -> AsyncStream<LoadState>
}
