#if Llama
import HearthBase
import HearthInference

/// How a model is loaded into the available memory: ``MemoryPlan`` for one file and one configuration.
struct LoadPlan {
    let shape: ModelShape
    /// The bytes of the projector.
    var projector: UInt64 = 0
    /// The configuration, with the context and the cache that fit.
    private(set) var configuration: LlamaConfiguration

    /// Chooses a context that fits, if the configuration sets none, and a cache that the model's heads allow. If
    /// the configuration ignores memory, nothing changes.
    /// - Parameters:
    ///   - occupied: the bytes of models that stay loaded.
    ///   - gpu: the memory of a GPU after the replaced models are unloaded.
    /// - Throws: `not-enough-memory`, with both numbers.
    mutating func fit(beside occupied: UInt64 = 0, gpu: GPUMemory = .none) throws(LLMError) {
        guard !configuration.ignoresMemory else { return }
        let plan = try MemoryPlan(
            shape, on: MemoryPlan.Device(memory: configuration.deviceMemory, gpu: gpu, occupied: occupied),
            settings: settings(context: configuration.contextLength))
        for compromise in plan.compromises { Log.write(.warning, "memory", compromise) }
        // llama.cpp would refuse other values, but only after the present model is unloaded.
        configuration.cacheType = plan.cacheType
        configuration.flashAttention = plan.flashAttention
        guard configuration.contextLength == nil else { return }
        configuration.contextLength = plan.contextLength
        configuration.historyLimit = configuration.historyLimit ?? plan.historyLimit
    }

    /// The memory that the model needs with the present configuration.
    var estimate: MemoryEstimate {
        let context = configuration.resolvedContextLength(trained: shape.trainedContext)
        let settings = settings(context: context)
        return MemoryEstimate(
            shape, contextLength: configuration.resolvedCells(window: context), cacheType: configuration.cacheType,
            batchSize: min(settings.batchSize, context), sequences: settings.sequences, projector: projector,
            flashAttention: configuration.flashAttention)
    }

    /// The bytes that the model needs in the machine's memory.
    /// - Parameter gpu: the GPU that holds its layers.
    func hostBytes(on gpu: GPUMemory?) -> UInt64 {
        estimate.hostBytes(of: shape, gpuLayers: separateLayers(on: gpu))
    }

    /// The bytes that the model will need in the machine's memory after its layers are placed, as
    /// ``fit(beside:gpu:)`` counts them.
    /// - Parameter gpu: the memory of a GPU after the replaced models are unloaded.
    func hostBytes(expecting gpu: GPUMemory) -> UInt64 { spread(on: gpu)?.hostBytes ?? estimate.total }

    /// Plans a context for vectors of the loaded model: the longest window that fits, or the wanted one if the
    /// configuration ignores memory.
    /// - Parameters:
    ///   - gpu: the GPU that holds the model's layers.
    ///   - device: the memory with all loaded models counted as occupied, this one included.
    /// - Throws: `not-enough-memory`, with both numbers.
    func embedding(
        _ wanted: EmbeddingWindow, gpu: GPUMemory?, on device: MemoryPlan.Device
    ) throws(LLMError) -> EmbeddingPlan {
        let layers = separateLayers(on: gpu)
        guard !configuration.ignoresMemory else {
            return EmbeddingPlan(shape, window: wanted, gpuLayers: layers)
        }
        return try EmbeddingPlan(shape, atMost: wanted, gpuLayers: layers, on: device)
    }

    /// The number of layers in a GPU's own memory.
    private func separateLayers(on gpu: GPUMemory?) -> Int {
        gpu.map { $0.isShared ? 0 : max(0, configuration.gpuLayers) } ?? 0
    }

    /// Decides where the model's layers are placed, after the devices' memory is free.
    mutating func place(on devices: [LlamaFacts.Device]) { configuration.gpuLayers = gpuLayers(on: devices) }

    /// The layers to place on these devices: the configured number, otherwise as many as their free memory holds. A
    /// negative number leaves the choice to llama.cpp; it is returned without a device, or when a device does not
    /// report its memory.
    func gpuLayers(on devices: [LlamaFacts.Device]) -> Int {
        guard configuration.gpuLayers < 0, let gpu = LlamaFacts.gpuMemory(of: devices) else {
            return configuration.gpuLayers
        }
        return spread(on: gpu)?.gpuLayers ?? configuration.gpuLayers
    }

    /// How a model that will be loaded is spread over the machine and a GPU.
    private func spread(on gpu: GPUMemory) -> MemoryPlan? {
        let context =
            configuration.contextLength
            ?? LlamaConfiguration.defaultContextLength(deviceMemory: configuration.deviceMemory)
        // Only sizes that no machine has are refused here; then the configured values hold.
        return try? MemoryPlan(
            shape, on: MemoryPlan.Device(memory: .max, gpu: gpu), settings: settings(context: context))
    }

    private func settings(context: Int?) -> MemoryPlan.Settings {
        MemoryPlan.Settings(
            contextLength: context, cells: configuration.cells, cacheType: configuration.cacheType,
            flashAttention: configuration.flashAttention, batchSize: configuration.resolvedBatchSize,
            sequences: configuration.resolvedSequences(canShare: shape.recurrentBytes == 0),
            streams: configuration.sequences ?? 1, projector: projector,
            gpuLayers: configuration.gpuLayers < 0 ? nil : configuration.gpuLayers)
    }
}

extension LoadPlan {
    /// Reads the sizes of a model and its projector. Blocks.
    /// - Returns: `nil` when the header lacks a size, or a part of a split model is missing.
    init?(_ path: Path, projector: Path?, configuration: LlamaConfiguration) {
        let fileSystem = LocalFileSystem()
        // The load itself reports an unreadable file; here it only means that there is no plan.
        guard let header = try? GGUFHeader(file: path, fileSystem: fileSystem, extent: .metadata),
            let size = header.fileBytes(at: path, fileSystem: fileSystem),
            let shape = ModelShape(header, fileBytes: size)
        else { return nil }
        let sight = projector.flatMap { path in
            // The plan ignores an unreadable projector in the same way.
            (try? GGUFHeader(file: path, fileSystem: fileSystem)).flatMap { ProjectorShape($0, fileBytes: 0) }
        }
        self.init(shape: shape, projector: sight?.bytes ?? 0, configuration: configuration)
    }
}
#endif
