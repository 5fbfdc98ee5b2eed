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

/// The local engines of an app, all with tools, which the orchestrator loads and evicts.
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

/// Receives the credits left that a server's answer states.
///
/// A type of its own: an optimised build has no metadata for a task-local value that is an optional function, and ends
/// there.
package struct CreditReport: Sendable {
    /// Set while the orchestrator's ``RemoteEngine`` generates.
    @TaskLocal package static var current: CreditReport?

    private let take: @Sendable (Int) -> Void

    package init(_ take: @escaping @Sendable (Int) -> Void) { self.take = take }

    package func callAsFunction(_ left: Int) { take(left) }
}
