import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference

#if Llama
import HearthLlama
#endif

/// Opens an engine for weights that delivery stored on the disk.
package enum EngineOpening {
    /// Whether this build has the engine for GGUF models: the trait `Llama`.
    package static var runsGGUF: Bool {
        #if Llama
        true
        #else
        false
        #endif
    }

    /// The preparer of artifacts for this device; `nil` in a build without llama.cpp.
    /// - Parameters:
    ///   - configuration: the types that imported weights get, and whether MLX itself runs its models.
    ///   - engines: tell the program in which a worker works, and whether MLX runs here.
    static func preparer(
        deviceMemory: UInt64, configuration: Configuration, engines: EngineRegistry
    ) -> (any ReleasePreparer)? {
        #if Llama
        let worker = engines.workerProgram
        return EnginePreparer(
            importing: ImportingPreparer(
                worker: worker, deviceMemory: deviceMemory, quantization: configuration.importQuantization,
                isNative: { !engines.imports($0, configuration) }),
            quantizing: QuantizingPreparer(worker: worker, deviceMemory: deviceMemory))
        #else
        nil
        #endif
    }

    /// The version of llama.cpp and its devices as lines to display; `nil` in a build without it.
    /// - Parameter engines: tell whether a worker reads the devices.
    package static func describe(
        _ engines: EngineRegistry = .standard
    ) async throws -> (version: String, devices: [String])? {
        #if Llama
        let facts = try await WorkerJob.deviceFacts(engines.workerProgram)
        return (facts.version, facts.devices.map(describe))
        #else
        return nil
        #endif
    }

    #if Llama
    static func describe(_ device: LlamaFacts.Device) -> String {
        // The processor uses the machine's memory, which is shown elsewhere.
        let memory =
            device.isGPU && device.memoryBytes > 0
            ? ", \(ByteCount(device.freeBytes)) of \(ByteCount(device.memoryBytes)) free" : ""
        return "\(device.name): \(device.description) (\(device.backEnd))\(memory)"
    }
    #endif

    /// Whether this build computes on GPUs, if the machine has one.
    static var drivesGPUs: Bool {
        #if Llama
        LlamaFacts.drivesGPUs
        #else
        false
        #endif
    }

    /// The program whose workers start the drivers of GPUs for this process; `nil` if it does so itself.
    static let driverProgram = Locked<Path?>(nil)

    /// The memory of the GPUs that layers are placed on; none without a GPU, if a GPU does not report its memory or its
    /// driver fails, and in a build without back ends for GPUs. Blocks.
    package static func gpuMemory() -> GPUMemory {
        #if Llama
        guard drivesGPUs else { return .none }
        guard let program = driverProgram.withLock({ $0 }) else { return LlamaFacts.read().gpuMemory ?? .none }
        let memory = Locked(GPUMemory.none)
        let isRead = DispatchSemaphore(value: 0)
        Task {
            do {
                let read = try await WorkerJob.deviceFacts(program).gpuMemory
                memory.withLock { $0 = read ?? .none }
            } catch {
                Log.write(.warning, "llama.memory", "the devices cannot be read: \(error)")
            }
            isRead.signal()
        }
        isRead.wait()
        return memory.withLock { $0 }
        #else
        return .none
        #endif
    }

    /// Loads an engine for a GGUF file.
    ///
    /// If the configuration ignores memory, it is loaded as configured, whether it fits or not.
    /// - Parameters:
    ///   - weights: the model file.
    ///   - projector: the file that lets the model read pictures; without one it reads text only.
    ///   - configuration: context window, cache type, flash attention, threads, tokens of a picture and folder for
    ///     states, as far as they are set.
    ///   - instructionFolder: the folder for states of instructions, of this model alone; `nil` keeps none.
    ///   - deviceMemory: the bytes available for the model and its context.
    ///   - occupied: the part of `deviceMemory` already in use.
    ///   - checksWeights: whether all weights are read, and one that is NaN or infinite makes the load fail.
    ///   - progress: 0...1, called on the reading thread.
    /// - Throws: `LLMError`: `not-enough-memory` before anything is loaded, `not-finite`, `engine-missing` in a build
    ///   without the `Llama` trait. `CancellationError`.
    package static func open(
        _ weights: Path, projector: Path? = nil, configuration: Configuration = Configuration(),
        instructionFolder: Path? = nil,
        deviceMemory: UInt64 = DeviceMemory.read().usable, occupied: UInt64 = 0,
        checksWeights: Bool = false, progress: @escaping @Sendable (Float) -> Void = { _ in }
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
        var settings = LlamaConfiguration(
            contextLength: plan?.contextLength ?? configuration.contextLength, cells: configuration.server.cells,
            threadCount: configuration.threads,
            // Contexts planned later, for embeddings, must leave other models their memory too.
            deviceMemory: deviceMemory - min(occupied, deviceMemory),
            historyLimit: configuration.contextLength == nil ? plan?.historyLimit : nil,
            stateFolder: configuration.stateFolder, sequences: configuration.server.slots,
            ignoresMemory: configuration.ignoresMemory)
        settings.instructionFolder = instructionFolder
        settings.checksWeights = checksWeights
        settings.cacheType = plan?.cacheType ?? configuration.cacheType ?? .f16
        settings.flashAttention = configuration.flashAttention ?? .automatic
        settings.imageTokens = ImageTokens(
            minimum: configuration.imageMinTokens, maximum: configuration.imageMaxTokens)
        return try await LlamaActor.load(weights, projector: projector, configuration: settings, progress: progress)
        #else
        throw LLMError(
            .engineMissing, "this build cannot run \(weights.lastComponent): it has no llama.cpp",
            context: ErrorContext(file: weights.string, remedy: "Build it with the trait Llama."))
        #endif
    }
}

extension GenerationOptions {
    /// The package's defaults, changed by the settings.
    package init(configuration: Configuration) {
        self.init()
        if let temperature = configuration.temperature { sampling.temperature = temperature }
        if let tokens = configuration.maximumNewTokens { maximumNewTokens = tokens }
    }
}
