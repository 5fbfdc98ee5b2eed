#if MLX
import CMLX
import Foundation
import HearthBase
import HearthImport
import HearthInference
import HearthLlama

/// A model of MLX's form, computed by MLX's own library on a thread of its own.
///
/// ```swift
/// let engine = try await MLXEngine.load(folder: folder)
/// let session = LanguageModelSession(model: engine)
/// ```
/// Weights stay as the publisher wrote them: 4 or 8 bits in groups of 32, 64 or 128, or floats. All else is computed in
/// 32-bit floats. Requests are answered one after the other.
package struct MLXEngine: InferenceEngine, ForwardingTokenReader {
    private let engine: ComputedEngine

    /// Whether this process can run models with MLX: the build has the trait `MLX`, the library is installed, and the
    /// processor has its instructions. Blocks the first time.
    package static var isAvailable: Bool { unavailability == nil }

    /// The reason why this process cannot run models with MLX; `nil` if it can. Blocks the first time.
    package static var unavailability: LLMError? {
        do {
            _ = try MLXLibrary.load()
            return nil
        } catch {
            return error
        }
    }

    /// The folders with the library's files, which a confined process has to read.
    package static var libraryFolders: [Path] {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard hearth_mlx_library(&path, path.count) else { return [] }
        let text = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return [Path(text).parent]
    }

    /// The bytes that a model needs in memory: its weights, the state of a context window, and the arrays in between.
    /// Blocks.
    /// - Throws: errors of ``load(folder:files:configuration:progress:)`` except `not-enough-memory`.
    package static func memory(
        folder: Path, files: [String]? = nil, configuration: MLXConfiguration = MLXConfiguration()
    ) throws -> UInt64 {
        return try plan(of: folder, files, configuration).totalBytes
    }

    /// Loads a model from its folder.
    /// - Parameters:
    ///   - folder: the folder with `config.json`, the shards and the tokenizer's files.
    ///   - files: the names of the model's files; `nil` for all files of the folder.
    ///   - progress: 0...1, called on the reading thread.
    /// - Throws: `engine-missing` without the library; `not-enough-memory` with both numbers, before anything is loaded;
    ///   `cannot-load-model` for a model that MLX does not compute here, or weights that cannot be read;
    ///   ``ImportError`` for a folder that contradicts itself; `chat-template-failed`; `CancellationError`.
    package static func load(
        folder: Path, files: [String]? = nil, configuration: MLXConfiguration = MLXConfiguration(),
        progress: @escaping @Sendable (Float) -> Void = { _ in }
    ) async throws -> MLXEngine {
        let library = try await blocking { try MLXLibrary.load() }
        let plan = try await blocking { try Self.plan(of: folder, files, configuration) }
        for note in plan.model.notes { Log.write(.info, "mlx", "\(folder.lastComponent): \(note)") }
        let needed = plan.totalBytes
        guard configuration.ignoresMemory || needed <= configuration.deviceMemory else {
            throw LLMError(
                .doesNotFit, "\(folder.lastComponent) does not fit into memory",
                context: ErrorContext(
                    file: folder.string, expected: "at most \(configuration.deviceMemory) bytes",
                    found: "\(needed) bytes", remedy: "Choose a smaller context or model."))
        }
        let engine = ComputedEngine(name: "hearth.mlx")
        let information = information(plan)
        let flag = StopFlag()
        try await withTaskCancellationHandler {
            try await engine.load(
                vocabulary: plan.model.vocabulary, of: folder, information: information,
                historyLimit: configuration.historyLimit
            ) {
                try MLXComputer(library, plan, description: folder.lastComponent) { value in
                    progress(value)
                    return !flag.isRaised
                }
            }
        } onCancel: {
            flag.set()
        }
        return MLXEngine(engine: engine)
    }

    private static func plan(
        of folder: Path, _ files: [String]?, _ configuration: MLXConfiguration
    ) throws -> MLXPlan {
        let model = try NativeModel(folder: folder, files: files)
        let decoder = try MLXDecoder(model)
        return MLXPlan(
            model: model, decoder: decoder, window: configuration.window(trained: decoder.trained),
            threads: configuration.resolvedThreadCount)
    }

    private static func information(_ plan: MLXPlan) -> ModelInformation {
        let matrices = plan.model.parts.values
        let count = matrices.reduce(0 as UInt64) { $0 + UInt64($1.rows) * UInt64($1.columns) }
        let bits = plan.model.parts["blk.0.attn_q.weight"]?.groups.map { "\($0.bits)-bit" } ?? "floats"
        var information = ModelInformation(
            description: "\(plan.model.modelType) \(ModelInformation.shortCount(count)) \(bits) (MLX)",
            contextLength: plan.window)
        information.parameterCount = count
        information.size = plan.weightBytes
        information.trainedContextLength = plan.decoder.trained
        information.batchSize = 256
        information.threadCount = plan.threads
        information.parallelAnswers = 1
        return information
    }

    /// The bytes of MLX's arrays in this process, and of the memory that it keeps for later ones.
    /// A library that cannot be loaded holds no memory.
    static var memoryInUse: (active: UInt64, cache: UInt64) { (try? MLXLibrary.load().memory) ?? (0, 0) }

    package var modelInformation: ModelInformation {
        get async throws {
            return try engine.modelInformation
        }
    }

    package var capabilities: EngineCapabilities {
        get async throws {
            return try engine.capabilities
        }
    }

    package func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        return try await engine.generate(messages, options: options, onEvent: onEvent)
    }

    package func reading<Value: Sendable>(_ ask: (any TokenReader) async throws -> Value) async throws -> Value {
        return try await ask(engine)
    }
}
#endif
