#if MLX
import HearthBase
import HearthCatalog
import HearthInference
import HearthMLX
import HearthWorkers

/// MLX itself as the engine of its models, where the settings choose it and its library is installed.
enum NativeMLX {
    /// The name of the engine in the registry.
    static let name = "mlx"
    /// What MLX's allocator and the library take beside the plan, in bytes.
    private static let allowance: UInt64 = 1 << 30

    static func register(in engines: inout EngineRegistry) {
        engines.register(.mlx, named: name) { request in
            request.configuration.ignoresMemory ? nil : try memory(of: request)
        } runs: {
            $0.mlx == .native && MLXEngine.isAvailable
        } open: { request in
            try await open(request)
        }
    }

    static func memory(of request: EngineRegistry.Request) throws -> UInt64 {
        try MLXEngine.memory(folder: request.weights.parent, configuration: configuration(request))
    }

    /// Loads the model of the folder that the weights are in.
    static func open(_ request: EngineRegistry.Request) async throws -> any InferenceEngine {
        try await MLXEngine.load(
            folder: request.weights.parent, configuration: configuration(request), progress: request.progress)
    }

    /// The files that a worker reads, and the private memory that it may have.
    static func confine(_ start: inout WorkerStart, for request: EngineRegistry.Request) throws {
        start.readable = [request.weights.parent] + MLXEngine.libraryFolders + Confinement.libraryFolders
        start.limits.dataBytes =
            request.configuration.ignoresMemory ? nil : try memory(of: request).addingSaturating(allowance)
    }

    private static func configuration(_ request: EngineRegistry.Request) -> MLXConfiguration {
        var settings = MLXConfiguration()
        settings.contextLength = request.configuration.contextLength
        settings.threadCount = request.configuration.threads
        settings.deviceMemory = request.deviceMemory - min(request.occupied, request.deviceMemory)
        settings.ignoresMemory = request.configuration.ignoresMemory
        return settings
    }
}
#endif
