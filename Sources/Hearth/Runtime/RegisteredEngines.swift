import HearthInference
import HearthRouting

/// The engines that an app registered with their models, before the other local ones.
struct RegisteredEngines: LocalEngines {
    let models: [String: any InferenceEngine]
    let others: any LocalEngines
    /// The name of the model for requests that name none.
    let defaultName: @Sendable () async -> String?

    func engine(
        for model: String?, onLoading: @escaping @Sendable (Double?) -> Void
    ) async throws -> any InferenceEngine {
        var name = model
        if name == nil { name = await defaultName() }
        if let engine = name.flatMap({ models[$0] }) { return TextToolEngine(engine) }
        return try await others.engine(for: model, onLoading: onLoading)
    }

    func evictIdle() async { await others.evictIdle() }

    func unload() async { await others.unload() }
}
