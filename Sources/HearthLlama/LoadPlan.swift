#if Llama
    import HearthBase
    import HearthInference

    /// How a model is loaded into the memory there is: ``MemoryPlan`` for one file and one configuration.
    struct LoadPlan {
        private let shape: ModelShape
        /// What the projector takes, in bytes.
        private let projector: UInt64
        /// How to load it.
        private(set) var configuration: LlamaConfiguration

        /// Reads the sizes of a model, and of its projector. Blocks.
        /// - Returns: `nil` when they do not say enough, or a part of a split model is not there.
        init?(_ path: Path, projector: Path?, configuration: LlamaConfiguration) {
            let fileSystem = LocalFileSystem()
            // Why a file cannot be read is told by whoever loads it, in words of its own; here it means that there is no plan.
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

        /// Chooses a context that fits, where none was asked for, and a cache that the model's heads allow. For who insists
        /// everything stays as it is.
        /// - Parameters:
        ///   - occupied: the bytes that models take which stay loaded.
        ///   - gpu: what a GPU has, once what is given back is gone.
        /// - Throws: `model-does-not-fit`, with both numbers.
        mutating func fit(beside occupied: UInt64 = 0, gpu: GPUMemory = .none) throws(LLMError) {
            guard !configuration.ignoresMemory else { return }
            let plan = try MemoryPlan(
                shape, on: MemoryPlan.Device(memory: configuration.deviceMemory, gpu: gpu, occupied: occupied),
                settings: settings(context: configuration.contextLength))
            for compromise in plan.compromises { Log.write(.warning, "memory", compromise) }
            // What llama.cpp would refuse for this model, once the present one is gone.
            configuration.cacheType = plan.cacheType
            configuration.flashAttention = plan.flashAttention
            guard configuration.contextLength == nil else { return }
            configuration.contextLength = plan.contextLength
            configuration.historyLimit = configuration.historyLimit ?? plan.historyLimit
        }

        /// What it takes, loaded as the configuration says.
        var estimate: MemoryEstimate {
            let context = configuration.resolvedContextLength(trained: shape.trainedContext)
            let settings = settings(context: context)
            return MemoryEstimate(
                shape, contextLength: configuration.resolvedCells(window: context), cacheType: configuration.cacheType,
                batchSize: min(settings.batchSize, context), sequences: settings.sequences, projector: projector,
                flashAttention: configuration.flashAttention)
        }

        /// What of it lies in the machine's memory, in bytes, as the configuration says.
        /// - Parameter gpu: where its layers are placed.
        func hostBytes(on gpu: GPUMemory?) -> UInt64 {
            estimate.hostBytes(of: shape, gpuLayers: separateLayers(on: gpu))
        }

        /// What of it is going to lie in the machine's memory, in bytes, once its layers are placed: as ``fit(beside:gpu:)``
        /// counts it.
        /// - Parameter gpu: what a GPU has, once what is given back is gone.
        func hostBytes(expecting gpu: GPUMemory) -> UInt64 { spread(on: gpu)?.hostBytes ?? estimate.total }

        /// How a context for vectors is made of the loaded model: as it is wanted for who insists.
        /// - Parameters:
        ///   - gpu: where the model's layers are placed.
        ///   - device: with what is loaded, this model too, as occupied.
        /// - Throws: `model-does-not-fit`, with both numbers.
        func embedding(
            _ wanted: EmbeddingWindow, gpu: GPUMemory?, on device: MemoryPlan.Device
        ) throws(LLMError) -> EmbeddingPlan {
            guard !configuration.ignoresMemory else { return embedding(of: wanted, gpu: gpu) }
            return try EmbeddingPlan(shape, atMost: wanted, gpuLayers: separateLayers(on: gpu), on: device)
        }

        /// What a context for vectors takes that is made with this window.
        /// - Parameter gpu: where the model's layers are placed.
        func embedding(of window: EmbeddingWindow, gpu: GPUMemory?) -> EmbeddingPlan {
            EmbeddingPlan(shape, window: window, gpuLayers: separateLayers(on: gpu))
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
