import HearthBase
import HearthCatalog
import HearthDelivery
import Observation

/// The loader that ``ModelDownloadViewModel`` uses: one model in memory for each role. Its properties are observable.
@MainActor package protocol ModelLoading: AnyObject, Sendable {
    /// The loaded models by role.
    var loaded: [ModelRole: Family] { get }

    /// The model being loaded.
    var loading: Family? { get }

    /// Loads a model on this device for its ``ModelInfo/role`` and unloads the previous one once the new one can
    /// answer. Returns immediately if the model is loaded. Cancelling ends the wait and changes nothing.
    func load(_ model: ModelInfo) async throws

    /// Loads a model as ``load(_:)`` does, if it fits beside the models in memory.
    /// - Throws: `LLMError` with `not-enough-memory` if another model would have to leave.
    func loadBeside(_ model: ModelInfo) async throws

    /// Unloads a model, so that its files can be removed.
    func unload(_ family: Family) async
}
