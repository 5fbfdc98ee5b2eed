import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference

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
