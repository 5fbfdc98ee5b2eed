import Foundation
import HearthBase
import HearthDelivery
import HearthInference

#if Llama
    import HearthLlama
#endif

/// Where the two rivers meet: an engine is opened for weights that delivery has put on the disk.
public enum EngineOpening {
    /// Whether this build has an engine for GGUF models: the trait `Llama`.
    public static var runsGGUF: Bool {
        #if Llama
            true
        #else
            false
        #endif
    }

    /// The formats this build has an engine for; `nil` where it has none, so that an app brings its own. What runs Core ML models is
    /// always the app's own.
    public static var formats: Set<ModelFormat>? { runsGGUF ? [.gguf] : nil }

    /// Makes releases that are too large for this device fit, and compiles those of Core ML, each where this build can.
    static func preparer(deviceMemory: UInt64) -> any ReleasePreparer {
        FormatPreparer(
            [.gguf: quantizer(deviceMemory: deviceMemory), .coreml: coreMLCompiler].compactMapValues { $0 })
    }

    private static func quantizer(deviceMemory: UInt64) -> (any ReleasePreparer)? {
        #if Llama
            QuantizingPreparer(deviceMemory: deviceMemory)
        #else
            nil
        #endif
    }

    private static var coreMLCompiler: (any ReleasePreparer)? {
        #if canImport(CoreML)
            CoreMLPreparer()
        #else
            nil
        #endif
    }

    /// The engine for GGUF models and the devices it computes on, as lines for people; `nil` in a build without it.
    /// Blocks.
    public static func describe() -> (version: String, devices: [String])? {
        #if Llama
            let facts = LlamaFacts.read()
            return (facts.version, facts.devices.map(describe))
        #else
            nil
        #endif
    }

    #if Llama
        static func describe(_ device: LlamaFacts.Device) -> String {
            // A processor's memory is the machine's, and told with that.
            let memory =
                device.isGPU && device.memoryBytes > 0
                ? ", \(ByteCount(device.freeBytes)) of \(ByteCount(device.memoryBytes)) free" : ""
            return "\(device.name): \(device.description) (\(device.backEnd))\(memory)"
        }
    #endif

    /// The memory of the GPUs that layers are placed on; none without one, where one does not say how much it has, and in a
    /// build without the engine. Blocks.
    public static func gpuMemory() -> GPUMemory {
        #if Llama
            LlamaFacts.read().gpuMemory ?? .none
        #else
            .none
        #endif
    }

    /// A loaded engine for a GGUF file.
    ///
    /// Where the configuration ignores memory it is loaded as it is asked for, whether that fits or not.
    /// - Parameters:
    ///   - weights: the file.
    ///   - projector: the file that makes pictures readable for it; without one it answers with text alone.
    ///   - configuration: gives context window, cache type, flash attention, threads, bounds of a picture's tokens and the
    ///     folder for states, where they are set.
    ///   - deviceMemory: the bytes the model and its context may count on.
    ///   - occupied: those of them that are taken already.
    ///   - progress: 0...1, called on the thread that reads.
    /// - Throws: `LLMError`; `model-does-not-fit` before anything is loaded; `engine-missing` in a build without the `Llama` trait. `CancellationError`.
    public static func open(
        _ weights: Path, projector: Path? = nil, configuration: Configuration = Configuration(),
        deviceMemory: UInt64 = DeviceMemory.read().usable, occupied: UInt64 = 0,
        progress: @escaping @Sendable (Float) -> Void = { _ in }
    ) async throws -> any InferenceEngine {
        #if Llama
            let plan =
                configuration.ignoresMemory
                ? nil
                : try await blocking {
                    try MemoryPlanning.plan(
                        file: weights, projector: projector, configuration: configuration, deviceMemory: deviceMemory,
                        occupied: occupied)
                }
            for compromise in plan?.compromises ?? [] {
                Log.write(.warning, "llama.memory", "\(weights.lastComponent): \(compromise)")
            }
            let settings = LlamaConfiguration(
                contextLength: plan?.contextLength ?? configuration.contextLength, threadCount: configuration.threads,
                // What the engine plans later, a context for vectors, has to leave the others theirs too.
                deviceMemory: deviceMemory - min(occupied, deviceMemory),
                historyLimit: configuration.contextLength == nil ? plan?.historyLimit : nil,
                stateFolder: configuration.stateFolder,
                cacheType: plan?.cacheType ?? configuration.cacheType ?? .f16,
                flashAttention: plan?.flashAttention ?? configuration.flashAttention ?? .automatic,
                imageTokens: ImageTokens(minimum: configuration.imageMinTokens, maximum: configuration.imageMaxTokens),
                ignoresMemory: configuration.ignoresMemory)
            return try await LlamaActor.load(weights, projector: projector, configuration: settings, progress: progress)
        #else
            throw LLMError(
                .engineMissing, "this build cannot run \(weights.lastComponent): it has no llama.cpp",
                context: ErrorContext(file: weights.string, remedy: "Build it with the trait Llama."))
        #endif
    }
}

extension GenerationOptions {
    /// The package's defaults with what the settings change.
    public init(configuration: Configuration) {
        self.init()
        if let temperature = configuration.temperature { sampling.temperature = temperature }
        if let tokens = configuration.maximumNewTokens { maximumNewTokens = tokens }
    }
}
