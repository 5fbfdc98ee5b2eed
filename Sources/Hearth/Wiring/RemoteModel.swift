import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore

/// A remote model, described by the headers of its files.
package struct RemoteModel: Sendable {
    /// The header of the weights, including the metadata.
    package let header: GGUFHeader
    /// The size of all weights in bytes, including all parts of a split model.
    package let fileBytes: UInt64
    /// The projector for pictures, if there is one.
    package let projector: ProjectorShape?

    /// Reads the headers of a GGUF release: a few hundred KiB, some MiB for large vocabularies, at most 16 MiB.
    /// - Returns: `nil` for other formats, archives, files that are no model, and longer headers.
    /// - Throws: errors of `head`.
    package static func read(
        _ release: Release, head: @Sendable (RemoteFile, (Data) throws -> Bool) async throws -> Data
    ) async throws -> RemoteModel? {
        guard release.format == .gguf, release.archive == nil,
            let header = try await header(of: release.file, head)
        else { return nil }
        let shards = release.companions.filter { $0.role == .shard }.map(\.size.estimate)
        var projector: ProjectorShape?
        if let file = release.companions.first(where: { $0.role == .projector && !$0.locations.isEmpty }) {
            let bytes = file.size.estimate
            projector =
                try await self.header(of: file, head).flatMap { ProjectorShape($0, fileBytes: bytes) }
                ?? ProjectorShape(fileBytes: bytes)
        }
        let bytes = ([release.file.size.estimate] + shards).saturatedSum
        return RemoteModel(header: header, fileBytes: bytes, projector: projector)
    }

    /// Plans how the model would be loaded on this device. Blocks to ask the GPU for its memory.
    /// - Returns: `nil` if the header is insufficient.
    /// - Throws: `not-enough-memory` with the needed and the available memory.
    package func plan(
        configuration: Configuration = Configuration(), deviceMemory: UInt64 = DeviceMemory.read().usable,
        gpu: GPUMemory = EngineOpening.gpuMemory()
    ) throws(LLMError) -> MemoryPlan? {
        try MemoryPlanning.plan(
            header, fileBytes: fileBytes, isWhole: true, projector: projector, configuration: configuration,
            deviceMemory: deviceMemory, gpu: gpu)
    }

    /// Plans how this device would use the model, as published or quantized. Blocks to ask the GPU for its memory.
    ///
    /// - Parameters:
    ///   - release: the release that the model was read from.
    ///   - quantizes: whether this device quantizes releases, as `ModelManager` does in a build with llama.cpp.
    /// - Returns: the plan, and the quantization or `nil` if there is none; `nil` if the header is insufficient.
    /// - Throws: `not-enough-memory` with the needed and the available memory, after any quantization.
    package func outlook(
        _ release: Release, configuration: Configuration = Configuration(),
        deviceMemory: UInt64 = DeviceMemory.read().usable, gpu: GPUMemory = EngineOpening.gpuMemory(),
        quantizes: Bool = EngineOpening.runsGGUF
    ) throws(LLMError) -> (plan: MemoryPlan, quantization: String?)? {
        let choice =
            quantizes && header.splitCount == 1
            ? QuantizationChoice(release, storedAs: header.quantization, deviceMemory: deviceMemory) : nil
        let model =
            choice.map { RemoteModel(header: header, fileBytes: $0.predictedSize, projector: projector) } ?? self
        let plan = try model.plan(configuration: configuration, deviceMemory: deviceMemory, gpu: gpu)
        return plan.map { ($0, choice?.candidate.name) }
    }

    private static func header(
        of file: RemoteFile, _ head: @Sendable (RemoteFile, (Data) throws -> Bool) async throws -> Data
    ) async throws -> GGUFHeader? {
        let name = file.name.string
        var found: GGUFHeader?
        func look(_ data: Data) -> Bool {
            do {
                found = try GGUFHeader(data: data, name: name, extent: .metadata)
                return true
            } catch let error as GGUFError where error.code == .truncated {
                return false
            } catch {
                // More bytes do not change this error.
                Log.write(.info, "memory", "\(name) tells nothing of itself: \(error)")
                return true
            }
        }
        let data = try await head(file, look)
        if found == nil { _ = look(data) }
        return found
    }
}

extension MemoryPlan {
    /// The use of the GPU as a sentence part, `nil` without a GPU.
    package var gpuText: String? {
        gpuMemory == 0 ? nil : "\(gpuLayers) of \(layers) layers on the GPU, which has \(ByteCount(gpuMemory)) free"
    }
}

/// Refuses releases that fit this device with no context and no quantization, judged by their headers.
struct MemoryPreflight: ReleasePreflight {
    let configuration: Configuration
    let deviceMemory: UInt64
    /// Told the memory needed by a large release, as a sentence to display.
    var tell: @Sendable (String) -> Void
    /// Reads the GPU's memory. Blocks.
    var gpuMemory: @Sendable () -> GPUMemory
    /// The memory of releases by the file that an engine opens.
    private let known = Locked<[Path: ReleaseMemory]>([:])
    /// Whether this device quantizes releases that don't fit.
    var quantizes: Bool

    init(
        configuration: Configuration, deviceMemory: UInt64,
        tell: @escaping @Sendable (String) -> Void = { Log.write(.info, "memory", $0) },
        gpuMemory: @escaping @Sendable () -> GPUMemory = EngineOpening.gpuMemory,
        quantizes: Bool = EngineOpening.runsGGUF
    ) {
        (self.configuration, self.deviceMemory) = (configuration, deviceMemory)
        (self.tell, self.gpuMemory, self.quantizes) = (tell, gpuMemory, quantizes)
    }

    func memory(of release: InstalledRelease, weights: Path) async -> ReleaseMemory? {
        if let known = known.withLock({ $0[weights] }) { return known }
        // A release that does not fit, or whose header tells too little, has no figure.
        let plan = try? await blocking {
            try MemoryPlanning.plan(
                file: weights, projector: release.projector,
                configuration: configuration.engine(of: release.identity.family), deviceMemory: deviceMemory,
                gpu: gpuMemory())
        }
        guard let plan = plan ?? nil else { return nil }
        let memory = ReleaseMemory(bytes: plan.hostBytes, contextLength: plan.contextLength)
        known.withLock { $0[weights] = memory }
        return memory
    }

    func check(_ release: Release, head: RemoteHead) async throws {
        guard !configuration.ignoresMemory else { return }
        // Small releases fit: context and buffers need far less than the rest of the budget.
        let budget = MemoryPlan.Device(memory: deviceMemory).budget
        guard release.totalSize > budget / 4 else { return }
        let model: RemoteModel?
        do {
            model = try await RemoteModel.read(release) { try await head.read(TransferRequest($0), until: $1) }
        } catch let error as CancellationError {
            throw error
        } catch {
            // The transfer meets the same error and reports it better.
            Log.write(.info, "memory", "\(release.identity): the front of its file cannot be read: \(error)")
            return
        }
        let gpu = await blocking { [gpuMemory] in gpuMemory() }
        do {
            guard
                let (plan, quantization) = try model?.outlook(
                    release, configuration: configuration.engine(of: release.identity.family),
                    deviceMemory: deviceMemory, gpu: gpu,
                    quantizes: quantizes)
            else { return }
            let made = quantization.map { "it is quantized to \($0.uppercased()) on this device" }
            let notes = ([made, plan.gpuText].compactMap { $0 } + plan.compromises).map { "; \($0)" }.joined()
            tell(
                "\(release.identity) will take \(ByteCount(plan.hostBytes)) of memory with a context of "
                    + "\(plan.contextLength) tokens\(notes).")
        } catch {
            throw DeliveryError(
                .notEnoughMemory, "\(release.identity) does not fit this device: \(error.message)",
                context: ErrorContext(
                    model: release.identity.description, expected: error.context.expected, found: error.context.found,
                    remedy: "Choose a smaller variant, or ignore the memory of the device."),
                underlying: error)
        }
    }
}
