#if Llama
    import HearthBase
    import HearthInference

    /// How a model is loaded into the memory there is: ``MemoryPlan`` for one file and one configuration.
    struct LoadPlan {
        private let shape: ModelShape
        /// The bytes of the projector.
        private let projector: UInt64
        /// How to load it.
        private(set) var configuration: LlamaConfiguration

        /// Reads the sizes of a model, and of its projector. Blocks.
        /// - Returns: `nil` when they do not say enough, or a part of a split model is not there.
        init?(_ path: Path, projector: Path?, configuration: LlamaConfiguration) {
            let fileSystem = LocalFileSystem()
            // The load reports an unreadable file; here it means that there is no plan.
            guard let header = try? GGUFHeader(file: path, fileSystem: fileSystem, extent: .metadata),
                let size = header.fileBytes(at: path, fileSystem: fileSystem),
                let shape = ModelShape(header, fileBytes: size)
            else { return nil }
            let sight = projector.flatMap { path in
                // The same of a projector: the plan is then one without it.
                (try? GGUFHeader(file: path, fileSystem: fileSystem)).flatMap { ProjectorShape($0, fileBytes: 0) }
            }
            self.init(shape, projector: sight?.bytes ?? 0, configuration: configuration)
        }

        /// For a model of known sizes.
        init(_ shape: ModelShape, projector: UInt64 = 0, configuration: LlamaConfiguration) {
            self.shape = shape
            self.projector = projector
            self.configuration = configuration
        }

        /// Chooses a context that fits, where none was asked for, and a cache that the model's heads allow. If the configuration
        /// ignores memory, nothing changes.
        /// - Parameters:
        ///   - occupied: the bytes that models take which stay loaded.
        ///   - gpu: the memory of a GPU after the replaced models are unloaded.
        /// - Throws: `model-does-not-fit`, with both numbers.
        mutating func fit(beside occupied: UInt64 = 0, gpu: GPUMemory = .none) throws(LLMError) {
            guard !configuration.ignoresMemory else { return }
            let plan = try MemoryPlan(
                shape, on: MemoryPlan.Device(memory: configuration.deviceMemory, gpu: gpu, occupied: occupied),
                settings: settings(context: configuration.contextLength))
            for compromise in plan.compromises { Log.write(.warning, "memory", compromise) }
            // llama.cpp would refuse other values only after the present model is unloaded.
            configuration.cacheType = plan.cacheType
            configuration.flashAttention = plan.flashAttention
            guard configuration.contextLength == nil else { return }
            configuration.contextLength = plan.contextLength
            configuration.historyLimit = configuration.historyLimit ?? plan.historyLimit
        }

        /// The memory it takes, loaded as the configuration says.
        var estimate: MemoryEstimate {
            let context = configuration.resolvedContextLength(trained: shape.trainedContext)
            let settings = settings(context: context)
            return MemoryEstimate(
                shape, contextLength: configuration.resolvedCells(window: context), cacheType: configuration.cacheType,
                batchSize: min(settings.batchSize, context), sequences: settings.sequences, projector: projector,
                flashAttention: configuration.flashAttention)
        }

        /// The bytes in the machine's memory, loaded as the configuration says.
        /// - Parameter gpu: where its layers are placed.
        func hostBytes(on gpu: GPUMemory?) -> UInt64 {
            estimate.hostBytes(of: shape, gpuLayers: separateLayers(on: gpu))
        }

        /// The bytes in the machine's memory, once its layers are placed: as ``fit(beside:gpu:)``
        /// counts it.
        /// - Parameter gpu: the memory of a GPU after the replaced models are unloaded.
        func hostBytes(expecting gpu: GPUMemory) -> UInt64 { spread(on: gpu)?.hostBytes ?? estimate.total }

        /// Plans a context for vectors of the loaded model: the longest window that fits, or the wanted one if the configuration ignores
        /// memory.
        /// - Parameters:
        ///   - gpu: where the model's layers are placed.
        ///   - device: with all that is loaded as occupied, this model too.
        /// - Throws: `model-does-not-fit`, with both numbers.
        func embedding(
            _ wanted: EmbeddingWindow, gpu: GPUMemory?, on device: MemoryPlan.Device
        ) throws(LLMError) -> EmbeddingPlan {
            let layers = separateLayers(on: gpu)
            guard !configuration.ignoresMemory else {
                return EmbeddingPlan(shape, window: wanted, gpuLayers: layers)
            }
            return try EmbeddingPlan(shape, atMost: wanted, gpuLayers: layers, on: device)
        }

        /// The layers that lie in other memory than the machine's.
        private func separateLayers(on gpu: GPUMemory?) -> Int {
            gpu.map { $0.isShared ? 0 : max(0, configuration.gpuLayers) } ?? 0
        }

        /// Decides where its layers lie, now that the devices are free for it.
        mutating func place(on devices: [LlamaFacts.Device]) { configuration.gpuLayers = gpuLayers(on: devices) }

        /// The layers to place on these devices: as many as were asked for, else as many as their free memory holds. Negative,
        /// which leaves it to llama.cpp, where there is none or one that does not say how much that is.
        func gpuLayers(on devices: [LlamaFacts.Device]) -> Int {
            guard configuration.gpuLayers < 0, let gpu = LlamaFacts.gpuMemory(of: devices) else {
                return configuration.gpuLayers
            }
            return spread(on: gpu)?.gpuLayers ?? configuration.gpuLayers
        }

        /// How it is spread over the machine and a GPU; that it is loaded is decided.
        private func spread(on gpu: GPUMemory) -> MemoryPlan? {
            let context =
                configuration.contextLength
                ?? LlamaConfiguration.defaultContextLength(deviceMemory: configuration.deviceMemory)
            // Refused are only sizes that no machine has: of them there is nothing to say, and what was configured holds.
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
#endif
