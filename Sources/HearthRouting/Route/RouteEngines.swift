import Foundation
import HearthInference

/// An engine on a server.
package protocol RemoteEngine: InferenceEngine {
    /// The address that requests go to.
    var address: URL { get }

    /// Asks the server whether it works, with a request that is never billed.
    /// - Throws: `LLMError` if it does not.
    func checkHealth() async throws
}

/// The local engines of an app, which the orchestrator loads and evicts.
package protocol LocalEngines: Sendable {
    /// The engine of a model, loaded if necessary.
    /// - Parameters:
    ///   - model: the model that the request names; `nil` for the default one.
    ///   - onLoading: called with the finished fraction while the model is loaded; not called if it is loaded already.
    /// - Throws: `LLMError` with `model-not-loaded` if there is no such model; errors of the load; `CancellationError`.
    func engine(
        for model: String?, onLoading: @escaping @Sendable (Double?) -> Void
    ) async throws -> any InferenceEngine

    /// Frees the memory of idle models, text and vision, and stores their computed states. Keeps the models that answer, that
    /// another client named, or that a keep-alive time holds.
    func evictIdle() async

    /// Unloads all models.
    func unload() async
}

/// Receives what a server reports about the credits of a request; set while the orchestrator's ``RemoteEngine`` generates.
package enum CreditReport {
    /// Takes the credits left that the server's answer states.
    @TaskLocal package static var current: (@Sendable (Int) -> Void)?
}
