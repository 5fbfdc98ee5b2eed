#if Llama
    import CLlamaShim
    import HearthBase
    import HearthInference

    /// A model to load, and its role.
    struct LoadOrder: Sendable {
        let path: Path
        let projector: Path?
        let role: EngineRole
        let configuration: LlamaConfiguration
        /// The plan by which it fits the memory; `nil` if the file does not tell its sizes.
        var plan: LoadPlan?
        let supportsVision: Bool
        let signal: StopSignal
        /// The GPU that its layers are placed on, after ``place(on:)``.
        var gpu: GPUMemory?

        /// Decides where its layers lie, now that the devices are free for it.
        mutating func place(on devices: [LlamaFacts.Device]) {
            plan?.place(on: devices)
            gpu = LlamaFacts.gpuMemory(of: devices)
        }

        /// The bytes of it in the machine's memory; `nil` if its sizes are not known.
        var hostBytes: UInt64? { plan?.hostBytes(on: gpu) }

        /// Whether the model answers for vision too, where it is loaded for text.
        var sees: Bool { supportsVision || projector != nil }
    }

    /// Reads one model, on a thread of its own with a stack as large as the engine's, so that answers of the other role go on meanwhile.
    actor ModelLoader {
        private let executor = ThreadExecutor(name: "hearth.load")

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// Reads a model and warms it up. The model it replaces is unloaded already.
        func load(
            _ order: LoadOrder, fileSystem: any FileSystem, progress: @escaping @Sendable (Float) -> Void
        ) throws -> LoadedModel {
            do {
                return try LoadedModel(
                    path: order.path, projector: order.projector,
                    configuration: order.plan?.configuration ?? order.configuration,
                    supportsVision: order.supportsVision, fileSystem: fileSystem
                ) { value in
                    progress(value)
                    return !order.signal.isSet
                }
            } catch {
                hearth_memory_trim()
                throw error
            }
        }
    }
#endif
