#if Llama
import Foundation
import HearthBase
import HearthCatalog
import HearthImport
import HearthLlama
import HearthStore
import HearthWorkers

/// Makes one GGUF file of a folder of safetensors, which llama.cpp runs.
struct ImportingPreparer: ReleasePreparer {
    private static let engine = "import"
    /// The program of a worker that imports; `nil` for this process.
    var worker: Path?
    var deviceMemory = DeviceMemory.read().usable
    /// The type of weights that were not quantized before.
    var quantization = ImportQuantization.automatic
    /// Whether MLX itself runs a format, so that nothing is imported.
    var isNative: @Sendable (ModelFormat) -> Bool = { _ in false }

    func isRequired(for release: InstalledRelease) -> Bool {
        let format = release.receipt.format
        return format.isSafetensors && !isNative(format)
    }

    func recipe(for release: InstalledRelease) async throws -> Recipe? {
        guard await blocking({ isRequired(for: release) }) else { return nil }
        let receipt = release.receipt
        let size = receipt.files.filter { $0.role == .weights || $0.role == .shard }.map(\.size).saturatedSum
        let choice = receipt.format == .safetensors ? type(of: size) : nil
        let files = receipt.files.sorted { $0.name < $1.name }.map { "\($0.name.string) \($0.digest)" }
        let content = SHA256Digest(hashing: Data(files.joined(separator: "\n").utf8))
        let type = choice?.name ?? "as-stored"
        return Recipe(
            engine: Self.engine,
            engineVersion: ModelImport.version + (choice == nil ? "" : " \(LlamaQuantizer.version)"),
            settings: "\(type) \(content)", fileName: "\(receipt.identity.family)-\(type).gguf",
            // Weights of 2 and 3 bits become weights of 4; quantized ones are written whole first.
            expectedSize: size.addingSaturating(choice?.predictedSize ?? size),
            summary: "imported as one GGUF file" + (choice.map { ", \($0.name.uppercased())" } ?? ""))
    }

    /// The type that the settings ask for, or that makes 16-bit weights fit this device; `nil` for the stored one.
    private func type(of size: UInt64) -> (name: String, predictedSize: UInt64)? {
        let count = size / 2
        switch quantization {
        case .asStored: return nil
        case .automatic:
            return QuantizationChoice(size: size, parameterCount: count, deviceMemory: deviceMemory).map {
                ($0.candidate.name, $0.predictedSize)
            }
        default:
            let bits = QuantizationChoice.candidates.first { $0.name == quantization.rawValue }?.bitsPerWeight ?? 16
            return (quantization.rawValue, UInt64(Double(count) * bits / 8 * 1.1))
        }
    }

    func fitsAfterPreparation(_ release: Release) -> Bool {
        release.format == .safetensors && quantization == .automatic
            && QuantizationChoice(
                size: release.totalSize, parameterCount: release.totalSize / 2, deviceMemory: deviceMemory) != nil
    }

    func check(_ recipe: Recipe, of release: InstalledRelease) async throws {
        _ = try await blocking { try ModelImport(folder: release.folder) }
    }

    func build(
        _ recipe: Recipe, of release: InstalledRelease, at target: Path,
        progress: @escaping @Sendable (Double) -> Void
    ) async throws {
        let name = String(recipe.settings.prefix { $0 != " " })
        guard let type = LlamaQuantizer.Target(rawValue: name) else {
            return try await run(
                .importFolder(source: release.folder.string, target: target.string), release, target.parent, progress)
        }
        let whole = target.withSuffix(".whole")
        try await run(.importFolder(source: release.folder.string, target: whole.string), release, target.parent) {
            progress($0 / 2)
        }
        try await run(
            .quantize(source: whole.string, target: target.string, type: type.rawValue), release, target.parent
        ) { progress(0.5 + $0 / 2) }
        try await blocking { try LocalFileSystem().removeFile(whole) }
    }

    private func run(
        _ job: WorkerJob, _ release: InstalledRelease, _ folder: Path, _ progress: @escaping @Sendable (Double) -> Void
    ) async throws {
        guard let worker else {
            _ = try await job.run { progress(Double($0)) }
            return
        }
        var start = WorkerStart(worker, readable: [release.folder], writable: [folder])
        if case .quantize = job {
            start.limits.dataBytes = [release.receipt.totalSize, release.receipt.totalSize, 2 << 30].saturatedSum
        } else {
            start.limits.dataBytes = 1 << 30
        }
        _ = try await job.run(by: start, model: release.identity.description) { progress(Double($0)) }
    }
}

/// Prepares releases by their format: folders of safetensors are imported, GGUF files quantized where they do not fit.
struct EnginePreparer: ReleasePreparer {
    let importing: ImportingPreparer
    let quantizing: QuantizingPreparer

    private func preparer(_ format: ModelFormat) -> any ReleasePreparer {
        format.isSafetensors ? importing : quantizing
    }

    func isRequired(for release: InstalledRelease) -> Bool {
        preparer(release.receipt.format).isRequired(for: release)
    }

    func recipe(for release: InstalledRelease) async throws -> Recipe? {
        try await preparer(release.receipt.format).recipe(for: release)
    }

    func fitsAfterPreparation(_ release: Release) -> Bool { preparer(release.format).fitsAfterPreparation(release) }

    func check(_ recipe: Recipe, of release: InstalledRelease) async throws {
        try await preparer(release.receipt.format).check(recipe, of: release)
    }

    func build(
        _ recipe: Recipe, of release: InstalledRelease, at target: Path,
        progress: @escaping @Sendable (Double) -> Void
    ) async throws {
        try await preparer(release.receipt.format).build(recipe, of: release, at: target, progress: progress)
    }
}
#endif
