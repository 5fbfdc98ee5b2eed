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
    /// The plan for the model's memory; `nil` if the file does not declare its sizes.
    var plan: LoadPlan?
    let supportsVision: Bool
    let signal: StopSignal
    /// The GPU that holds the model's layers, after ``place(on:)``.
    var gpu: GPUMemory?

    /// Decides where the model's layers are placed, after the devices' memory is free.
    mutating func place(on devices: [LlamaFacts.Device]) {
        plan?.place(on: devices)
        gpu = LlamaFacts.gpuMemory(of: devices)
    }

    /// The bytes that the model needs in the machine's memory; `nil` if its sizes are unknown.
    var hostBytes: UInt64? { plan?.hostBytes(on: gpu) }

    /// Whether the model also answers for vision when it is loaded for text.
    var answersForVision: Bool { supportsVision || projector != nil }
}

/// Reads one model on its own thread, with a stack as large as the engine's. Answers of the other role continue
/// meanwhile.
actor ModelLoader {
    private let executor = ThreadExecutor(name: "hearth.load")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Reads a model and warms it up, after the replaced model is unloaded.
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
