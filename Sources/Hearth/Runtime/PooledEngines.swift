import HearthBase
import HearthInference
import HearthRouting

/// The models of this device as the local engines of an orchestrator. The pool loads, shares and unloads them.
struct PooledEngines: LocalEngines {
    let pool: EnginePool
    /// Finds a model by its name; the default model for `nil`.
    let find: @Sendable (String?) async throws -> LiveModel

    func engine(
        for model: String?, onLoading: @escaping @Sendable (Double?) -> Void
    ) async throws -> any InferenceEngine {
        let model = try await find(model)
        guard !model.isLoaded else { return model }
        onLoading(nil)
        try await model.load { onLoading(Double($0)) }
        return model
    }

    func evictIdle() async { pool.dropIdle() }

    func unload() async { pool.retire { _ in true } }
}
