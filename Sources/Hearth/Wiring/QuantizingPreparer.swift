#if Llama
import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthLlama
import HearthStore
import HearthWorkers

/// Quantizes GGUF models that are too large for this device, with llama.cpp.
package struct QuantizingPreparer: ReleasePreparer {
    private static let engine = "llama.cpp"
    /// The program of a worker that quantizes; `nil` for this process.
    var worker: Path?
    var deviceMemory = DeviceMemory.read().usable
    var fileSystem: any FileSystem = LocalFileSystem()

    package func recipe(for release: InstalledRelease) async throws -> Recipe? {
        let receipt = release.receipt
        guard receipt.format == .gguf, let weights = release.weights,
            let file = receipt.files.first(where: { $0.role == .weights }),
            // llama.cpp would join the parts of a split model into one file.
            !receipt.files.contains(where: { $0.role == .shard })
        else { return nil }
        // The projector is in memory too, and not quantized.
        let projector = receipt.files.first { $0.role == .projector }?.size ?? 0
        let deviceMemory = deviceMemory > projector ? deviceMemory - projector : 0
        // Most models fit, which needs no look at the header.
        guard QuantizationChoice(size: file.size, parameterCount: 1, deviceMemory: deviceMemory) != nil else {
            return nil
        }
        let header = try await blocking { [fileSystem] in try GGUFHeader(file: weights, fileSystem: fileSystem) }
        guard header.splitCount == 1, let count = header.tensors?.parameterCount,
            let choice = QuantizationChoice(size: file.size, parameterCount: count, deviceMemory: deviceMemory)
        else { return nil }
        let name = choice.candidate.name
        let before = (header.quantization ?? "the file").uppercased()
        return Recipe(
            engine: Self.engine, engineVersion: LlamaQuantizer.version, settings: name,
            fileName: "\(receipt.identity.family)-\(name).gguf", expectedSize: choice.predictedSize,
            summary: "\(name.uppercased()), since \(before) does not fit the memory of this device")
    }

    package func fitsAfterPreparation(_ release: Release) -> Bool {
        // The name of a variant usually is the type of its weights.
        QuantizationChoice(release, storedAs: release.identity.variant?.name, deviceMemory: deviceMemory) != nil
    }

    package func check(_ recipe: Recipe, of release: InstalledRelease) async throws {
        guard let weights = release.weights else { return }
        try await blocking { [fileSystem] in try LlamaQuantizer.check(weights, fileSystem: fileSystem) }
    }

    package func build(
        _ recipe: Recipe, of release: InstalledRelease, at target: Path,
        progress: @escaping @Sendable (Double) -> Void
    ) async throws {
        guard let weights = release.weights, let kind = LlamaQuantizer.Target(rawValue: recipe.settings) else {
            throw FileError(errno: ENOENT, doing: "quantize", path: release.folder)
        }
        let job = WorkerJob.quantize(source: weights.string, target: target.string, type: kind.rawValue)
        guard let worker else {
            _ = try await job.run { progress(Double($0)) }
            return
        }
        var start = WorkerStart(worker, readable: [weights], writable: [target.parent])
        // Tensors are computed one after the other, as wide numbers.
        let size = try LocalFileSystem().status(at: weights)?.size ?? 0
        start.limits.dataBytes = size.addingSaturating(size).addingSaturating(2 << 30)
        _ = try await job.run(by: start, model: release.identity.description) { progress(Double($0)) }
    }
}
#endif
