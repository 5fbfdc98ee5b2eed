#if Llama
    import CLlamaShim
    import HearthBase
    import HearthInference

    /// What is to be loaded, and for whom.
    struct LoadOrder: Sendable {
        let path: Path
        let projector: Path?
        let role: EngineRole
        let configuration: LlamaConfiguration
        /// How it fits the memory; `nil` where its sizes are not known.
        var plan: LoadPlan?
        let supportsVision: Bool
        let signal: StopSignal
        /// Where its layers are placed, once that is decided.
        private(set) var gpu: GPUMemory?

        /// An order of the given facts.
        init(
            path: Path, projector: Path?, role: EngineRole, configuration: LlamaConfiguration, plan: LoadPlan?,
            supportsVision: Bool, signal: StopSignal
        ) {
            self.path = path
            self.projector = projector
            self.role = role
            self.configuration = configuration
            self.plan = plan
            self.supportsVision = supportsVision
            self.signal = signal
        }

        /// Decides where its layers lie, now that the devices are free for it.
        mutating func place(on devices: [LlamaFacts.Device]) {
            plan?.place(on: devices)
            gpu = LlamaFacts.gpuMemory(of: devices)
        }

        /// What of it lies in the machine's memory, in bytes; `nil` where its sizes are not known.
        var hostBytes: UInt64? { plan?.hostBytes(on: gpu) }

        /// Whether the model answers for vision too, where it is loaded for text.
        var sees: Bool { supportsVision || projector != nil }
    }

    /// Reads one model, on a thread of its own with a stack as large as the engine's: meanwhile answers of the other role go on.
    actor ModelLoader {
        private let executor = ThreadExecutor(name: "hearth.load")

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// Reads a model and warms it up. What it is to replace is gone by now.
        func load(_ order: LoadOrder, progress: @escaping @Sendable (Float) -> Void) throws -> LoadedModel {
            do {
                return try LoadedModel(
                    path: order.path, projector: order.projector,
                    configuration: order.plan?.configuration ?? order.configuration,
                    supportsVision: order.supportsVision
                ) { value in
                    progress(value)
                    return !order.signal.isSet
                }
            } catch {
                // What had been read of it is free by now.
                hearth_memory_trim()
                throw error
            }
        }
    }
#endif
