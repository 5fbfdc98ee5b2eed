import HearthBase
import HearthInference

/// Plans the loading of a model on this device and whether it fits.
package enum MemoryPlanning {
    /// This device with the free memory of its GPU. Blocks.
    package static func device() -> MemoryPlan.Device {
        MemoryPlan.Device(memory: DeviceMemory.read().usable, gpu: EngineOpening.gpuMemory())
    }

    /// Plans a model from its header, which may come from the first bytes of a remote file.
    ///
    /// - Parameters:
    ///   - header: the header, including its metadata.
    ///   - fileBytes: the length of the file.
    ///   - projector: the sizes of the projector, if the model has one.
    ///   - isWhole: whether `fileBytes` includes all parts of a split model.
    ///   - configuration: context, cache type and flash attention, as far as they are set.
    ///   - deviceMemory: the bytes available to a process.
    ///   - occupied: the part of `deviceMemory` already in use.
    ///   - gpu: the memory of the GPU; the driver is asked by default, as for loading.
    /// - Returns: `nil` if the header is insufficient: another format, or part of a split model.
    /// - Throws: `not-enough-memory` with the needed and the available memory.
    package static func plan(
        _ header: GGUFHeader, fileBytes: UInt64, isWhole: Bool = false, projector: ProjectorShape? = nil,
        configuration: Configuration = Configuration(),
        deviceMemory: UInt64 = DeviceMemory.read().usable, occupied: UInt64 = 0,
        gpu: GPUMemory = EngineOpening.gpuMemory()
    ) throws(LLMError) -> MemoryPlan? {
        guard header.splitCount == 1 || isWhole, let shape = ModelShape(header, fileBytes: fileBytes) else {
            return nil
        }
        // One sequence, if each allocates memory before its use.
        let settings = MemoryPlan.Settings(
            contextLength: configuration.contextLength, cells: configuration.server.cells,
            cacheType: configuration.cacheType,
            flashAttention: configuration.flashAttention ?? .automatic,
            sequences: configuration.server.slots ?? (shape.recurrentBytes > 0 ? 1 : Admission.defaultSequences),
            projector: projector?.bytes ?? 0)
        return try MemoryPlan(
            shape, on: MemoryPlan.Device(memory: deviceMemory, gpu: gpu, occupied: occupied), settings: settings)
    }

    /// Plans a file with all parts of a split model. Blocks to read the header.
    /// - Returns: `nil` also for an unreadable file or a missing part; the load reports the error.
    /// - Throws: `not-enough-memory`.
    package static func plan(
        file: Path, projector: Path? = nil, configuration: Configuration = Configuration(),
        deviceMemory: UInt64 = DeviceMemory.read().usable, occupied: UInt64 = 0,
        gpu: GPUMemory = EngineOpening.gpuMemory(),
        fileSystem: any FileSystem = LocalFileSystem()
    ) throws(LLMError) -> MemoryPlan? {
        // The load reports why a file is unreadable; here there is just no plan.
        guard let header = try? GGUFHeader(file: file, fileSystem: fileSystem, extent: .metadata),
            let size = header.fileBytes(at: file, fileSystem: fileSystem)
        else { return nil }
        let shape = projector.map { path -> ProjectorShape in
            // Of a projector that cannot be read, the length counts; the load reports the error.
            let bytes = (try? fileSystem.status(at: path))?.size ?? 0
            let header = try? GGUFHeader(file: path, fileSystem: fileSystem)
            return header.flatMap { ProjectorShape($0, fileBytes: bytes) } ?? ProjectorShape(fileBytes: bytes)
        }
        return try plan(
            header, fileBytes: size, isWhole: true, projector: shape, configuration: configuration,
            deviceMemory: deviceMemory,
            occupied: occupied, gpu: gpu)
    }
}
