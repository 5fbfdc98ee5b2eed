import HearthBase
import HearthInference

/// How a model would be loaded on this device, and whether it fits, before anybody tries.
public enum MemoryPlanning {
    /// This device, and what is free on its GPU. Blocks.
    public static func device() -> MemoryPlan.Device {
        MemoryPlan.Device(memory: DeviceMemory.read().usable, gpu: EngineOpening.gpuMemory())
    }

    /// The plan for a model of which the header is known, also from the first bytes of a file that is still elsewhere.
    ///
    /// - Parameters:
    ///   - header: read as far as its metadata at least.
    ///   - fileBytes: the length of the file.
    ///   - projector: the sizes of what makes pictures readable for it, if it comes with that.
    ///   - isWhole: `fileBytes` is the length of all parts of a split model.
    ///   - configuration: gives the context, the type of the cache and flash attention, where they are set.
    ///   - deviceMemory: the bytes a process may have.
    ///   - occupied: those of them that are taken already.
    ///   - gpu: what the GPU has; as loading, the plan asks its driver.
    /// - Returns: `nil` when the header says too little: another format, a part of a split model.
    /// - Throws: `model-does-not-fit`, with both numbers.
    public static func plan(
        _ header: GGUFHeader, fileBytes: UInt64, isWhole: Bool = false, projector: ProjectorShape? = nil,
        configuration: Configuration = Configuration(),
        deviceMemory: UInt64 = DeviceMemory.read().usable, occupied: UInt64 = 0,
        gpu: GPUMemory = EngineOpening.gpuMemory()
    ) throws(LLMError) -> MemoryPlan? {
        guard header.splitCount == 1 || isWhole, let shape = ModelShape(header, fileBytes: fileBytes) else {
            return nil
        }
        // One sequence where each takes memory before it is used.
        let wishes = MemoryPlan.Wishes(
            contextLength: configuration.contextLength, cacheType: configuration.cacheType,
            flashAttention: configuration.flashAttention ?? .automatic,
            sequences: shape.recurrentBytes > 0 ? 1 : Admission.usualSequences, projector: projector?.bytes ?? 0)
        return try MemoryPlan(
            shape, on: MemoryPlan.Device(memory: deviceMemory, gpu: gpu, occupied: occupied), wishes: wishes)
    }

    /// The plan for a file, with the others of a split model. Blocks for the reading of its header.
    /// - Returns: `nil` also for a file that cannot be read, or of which a part is not there: loading it says why.
    /// - Throws: `model-does-not-fit`.
    public static func plan(
        file: Path, projector: Path? = nil, configuration: Configuration = Configuration(),
        deviceMemory: UInt64 = DeviceMemory.read().usable, occupied: UInt64 = 0,
        gpu: GPUMemory = EngineOpening.gpuMemory(),
        fileSystem: any FileSystem = LocalFileSystem()
    ) throws(LLMError) -> MemoryPlan? {
        // Why a file cannot be read is told by whoever loads it, in words of its own; here it means that there is no plan.
        guard let header = try? GGUFHeader(file: file, fileSystem: fileSystem, extent: .metadata),
            let size = header.fileBytes(at: file, fileSystem: fileSystem)
        else { return nil }
        let shape = projector.flatMap { path in
            // The same of a projector: the plan is then one without it, and loading it says why.
            (try? GGUFHeader(file: path, fileSystem: fileSystem)).flatMap { ProjectorShape($0, fileBytes: 0) }
        }
        return try plan(
            header, fileBytes: size, isWhole: true, projector: shape, configuration: configuration,
            deviceMemory: deviceMemory,
            occupied: occupied, gpu: gpu)
    }
}
