import HearthBase
import HearthCatalog
import HearthInference

/// The engines of an app by model format. A format may have several: the last registered that runs here is used.
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
        let name: String
        let runs: @Sendable (Configuration) -> Bool
        let memory: @Sendable (Request) throws -> UInt64?
        var open: @Sendable (Request) async throws -> any InferenceEngine
    }

    /// The engines of each format, the first choice last.
    private var engines: [ModelFormat: [Engine]] = [:]
    /// The engines that have their models, by name.
    private(set) var models: [String: any InferenceEngine] = [:]
    /// The program of the workers in which all engines run; `nil` for engines in this process.
    package internal(set) var workerProgram: Path?

    /// No engine.
    public init() {}

    /// The name of the engines of formats that are imported: these open what the import made.
    static let importName = "import"

    /// The engines of this build: llama.cpp for GGUF and for what is imported to it, with the trait `Llama`.
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
            for format in [ModelFormat.mlx, .safetensors] {
                engines.register(format, named: importName) { request in
                    // A release is opened by its artifact, which is GGUF.
                    throw LLMError(
                        .cannotLoad, "\(request.weights.lastComponent) is not imported",
                        context: ErrorContext(
                            file: request.weights.string, remedy: "Make it active again, which imports it."))
                }
            }
        }
        #if MLX
        NativeMLX.register(in: &engines)
        #endif
        return engines
    }

    /// The formats with an engine.
    public var formats: Set<ModelFormat> { Set(engines.keys) }

    /// Adds an engine of a format, or replaces the one of that name.
    /// - Parameters:
    ///   - name: tells the engines of a format apart.
    ///   - memory: plans the memory of an engine in bytes, `nil` to estimate it from the files; throws
    ///     `not-enough-memory`. It may block.
    ///   - runs: whether the engine runs on this device, and the settings choose it; otherwise the one registered before
    ///     it is used. May block.
    ///   - open: loads an engine.
    public mutating func register(
        _ format: ModelFormat, named name: String = "",
        memory: @escaping @Sendable (Request) throws -> UInt64? = { _ in nil },
        runs: @escaping @Sendable (Configuration) -> Bool = { _ in true },
        open: @escaping @Sendable (Request) async throws -> any InferenceEngine
    ) {
        engines[format, default: []].removeAll { $0.name == name }
        engines[format, default: []].append(Engine(name: name, runs: runs, memory: memory, open: open))
    }

    /// Adds an engine that has its model, such as that of the operating system, or replaces the one of that name.
    ///
    /// The orchestrator finds it before installed models: a conversation, an alias or ``Hearth/orchestrator(cloud:premium:default:)``
    /// names it. It is never evicted.
    public mutating func register(model name: String, _ engine: any InferenceEngine) { models[name] = engine }

    /// Opens the engines of a format in another way, with the same memory plans.
    mutating func move(
        _ format: ModelFormat, _ open: @escaping @Sendable (Request) async throws -> any InferenceEngine
    ) {
        for index in (engines[format] ?? []).indices { engines[format]?[index].open = open }
    }

    /// The name of the engine that runs a format with the given settings; `nil` for none. May block.
    func engine(for format: ModelFormat, _ configuration: Configuration) -> String? {
        choice(format, configuration)?.name
    }

    /// Whether models of a format are imported, since no engine of their own runs them here. May block.
    func imports(_ format: ModelFormat, _ configuration: Configuration) -> Bool {
        let engine = engine(for: format, configuration)
        return engine == nil || engine == Self.importName
    }

    private func choice(_ format: ModelFormat, _ configuration: Configuration) -> Engine? {
        engines[format]?.last { $0.runs(configuration) }
    }

    /// Plans the memory of an engine in bytes; `nil` if its format has no memory plan. Blocks.
    func memory(of request: Request) throws -> UInt64? {
        try choice(request.files.format, request.configuration)?.memory(request)
    }

    /// Loads an engine for the files of a release.
    /// - Throws: errors of the engine's load; `engine-missing` for a format without an engine.
    package func open(_ request: Request) async throws -> any InferenceEngine {
        let engine = await blocking { choice(request.files.format, request.configuration) }
        guard let engine else {
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
