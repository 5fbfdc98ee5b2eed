import HearthBase
import HearthCatalog
import HearthInference

/// The engines of an app by model format.
///
/// ```swift
/// var engines = EngineRegistry.standard
/// engines.register(.mlx) { request in try await MyEngine.load(request.weights) }
/// let hearth = try Hearth(engines: engines)
/// ```
public struct EngineRegistry: Sendable {
    /// A request to load an engine for the files of a release.
    public struct Request: Sendable {
        package var files: ReleaseFiles
        public var configuration: Configuration
        /// The bytes available for the model and its context.
        public var deviceMemory: UInt64
        /// The part of `deviceMemory` already in use.
        public var occupied: UInt64 = 0
        /// The folder for the computed states of instructions, of all models; `nil` keeps none.
        package var instructionStates: Path?
        /// Whether the load reads all weights, and fails for one that is NaN or infinite.
        package var checksWeights = false
        /// Takes the progress of the load, 0...1.
        public var progress: @Sendable (Float) -> Void = { _ in }

        /// The weights: the release's own file or its artifact.
        public var weights: Path { files.weights }
        /// The projector for pictures; `nil` for a model that reads text only.
        public var projector: Path? { files.projector }
    }

    private struct Engine: Sendable {
        let memory: @Sendable (Request) throws -> UInt64?
        let open: @Sendable (Request) async throws -> any InferenceEngine
    }

    private var engines: [ModelFormat: Engine] = [:]
    /// The program of the workers in which all engines run; `nil` for engines in this process.
    package internal(set) var workerProgram: Path?

    /// No engine.
    public init() {}

    /// The engines of this build: llama.cpp for GGUF, with the trait `Llama`.
    public static var standard: EngineRegistry {
        var engines = EngineRegistry()
        if EngineOpening.runsGGUF {
            engines.register(.gguf) { request in
                guard !request.configuration.ignoresMemory else { return nil }
                return try MemoryPlanning.plan(
                    file: request.weights, projector: request.projector,
                    configuration: request.configuration, deviceMemory: request.deviceMemory,
                    occupied: request.occupied)?.hostBytes
            } open: { request in
                let instructions = await blocking { KeptStates.instructionFolder(of: request) }
                return try await EngineOpening.open(
                    request.weights, projector: request.projector, configuration: request.configuration,
                    instructionFolder: instructions, deviceMemory: request.deviceMemory, occupied: request.occupied,
                    checksWeights: request.checksWeights, progress: request.progress)
            }
        }
        return engines
    }

    /// The formats with an engine.
    public var formats: Set<ModelFormat> { Set(engines.keys) }

    /// Adds the engine of a format, or replaces it.
    /// - Parameters:
    ///   - memory: plans the memory of an engine in bytes, `nil` to estimate it from the files; throws
    ///     `not-enough-memory`. It may block.
    ///   - open: loads an engine.
    public mutating func register(
        _ format: ModelFormat, memory: @escaping @Sendable (Request) throws -> UInt64? = { _ in nil },
        open: @escaping @Sendable (Request) async throws -> any InferenceEngine
    ) {
        engines[format] = Engine(memory: memory, open: open)
    }

    /// Opens the engine of a format in another way, with the same memory plan.
    mutating func move(
        _ format: ModelFormat, _ open: @escaping @Sendable (Request) async throws -> any InferenceEngine
    ) {
        if let engine = engines[format] { engines[format] = Engine(memory: engine.memory, open: open) }
    }

    /// Plans the memory of an engine in bytes; `nil` if its format has no memory plan. Blocks.
    func memory(of request: Request) throws -> UInt64? { try engines[request.files.format]?.memory(request) }

    /// Loads an engine for the files of a release.
    /// - Throws: errors of the engine's load; `engine-missing` for a format without an engine.
    package func open(_ request: Request) async throws -> any InferenceEngine {
        guard let engine = engines[request.files.format] else {
            throw LLMError(
                .engineMissing, "no engine runs \(request.weights.lastComponent)",
                context: ErrorContext(
                    file: request.weights.string,
                    expected: formats.map(\.rawValue).sorted().joined(separator: ", "),
                    found: request.files.format.rawValue,
                    remedy: "Register an engine for the format, or use another model."))
        }
        return try await engine.open(request)
    }
}
