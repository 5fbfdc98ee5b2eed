import Foundation
import HearthBase
import HearthDelivery
import HearthInference

/// A model that is still elsewhere, as the front of its files tells of it.
public struct RemoteModel: Sendable {
    /// Of the weights, read as far as the metadata.
    public let header: GGUFHeader
    /// The bytes of all weights, those of further parts too.
    public let fileBytes: UInt64
    /// What makes pictures readable for it.
    public let projector: ProjectorShape?

    /// Reads the front of a GGUF release: a few hundred KiB as a rule, some MiB for large vocabularies, 16 MiB at most.
    /// - Returns: `nil` for another format, for archives, and for what is no model or hides behind a longer header.
    /// - Throws: what reading throws.
    public static func read(
        _ release: Release, head: @Sendable (RemoteFile, (Data) throws -> Bool) async throws -> Data
    ) async throws -> RemoteModel? {
        guard release.format == .gguf, release.archive == nil,
            let header = try await header(of: release.file, head)
        else { return nil }
        let shards = release.companions.filter { $0.role == .shard }.map(\.size.estimate)
        var projector: ProjectorShape?
        if let file = release.companions.first(where: { $0.role == .projector && !$0.locations.isEmpty }) {
            projector = try await self.header(of: file, head).flatMap {
                ProjectorShape($0, fileBytes: file.size.estimate)
            }
        }
        let bytes = shards.reduce(release.file.size.estimate) { sum, size in
            let (total, overflows) = sum.addingReportingOverflow(size)
            return overflows ? .max : total
        }
        return RemoteModel(header: header, fileBytes: bytes, projector: projector)
    }

    /// How it would be loaded here. Blocks where the GPU is asked for its memory.
    /// - Returns: `nil` when the header says too little.
    /// - Throws: `model-does-not-fit`, with both numbers.
    public func plan(
        configuration: Configuration = Configuration(), deviceMemory: UInt64 = DeviceMemory.read().usable,
        gpu: GPUMemory = EngineOpening.gpuMemory()
    ) throws(LLMError) -> MemoryPlan? {
        try MemoryPlanning.plan(
            header, fileBytes: fileBytes, isWhole: true, projector: projector, configuration: configuration,
            deviceMemory: deviceMemory, gpu: gpu)
    }

    /// How it would be used here: as it comes, or as it is quantised on this device. Blocks where the GPU is asked for its memory.
    ///
    /// - Parameters:
    ///   - release: what it was read of.
    ///   - quantizes: whether releases are quantised here, as `ModelManager` has it done in a build with llama.cpp.
    /// - Returns: with what is made of it first, `nil` where that is nothing; `nil` when the header says too little.
    /// - Throws: `model-does-not-fit`, with both numbers, of what is made of it where something is.
    public func outlook(
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
                // More bytes do not mend it.
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
    /// What goes to the GPU, for people; `nil` without one.
    public var gpuText: String? {
        gpuMemory == 0 ? nil : "\(gpuLayers) of \(layers) layers on the GPU, which has \(ByteCount(gpuMemory)) free"
    }
}

/// Refuses releases that no context and no quantisation makes fit this device, with the numbers of their own headers.
struct MemoryPreflight: ReleasePreflight {
    let configuration: Configuration
    let deviceMemory: UInt64
    /// Told what a large release will take, as a sentence for people.
    var tell: @Sendable (String) -> Void = { Log.write(.info, "memory", $0) }
    /// What the GPU has. Blocks.
    var gpuMemory: @Sendable () -> GPUMemory = EngineOpening.gpuMemory
    /// Whether what does not fit is quantised here.
    var quantizes = EngineOpening.runsGGUF

    func check(_ release: Release, head: RemoteHead) async throws {
        guard !configuration.ignoresMemory else { return }
        // The shortest context and the room to work are less than the weights by far: what is this small fits.
        let budget = MemoryPlan.Device(memory: deviceMemory).budget
        guard release.totalSize > budget / 4 else { return }
        let model: RemoteModel?
        do {
            model = try await RemoteModel.read(release) { try await head.read($0, until: $1) }
        } catch let error as CancellationError {
            throw error
        } catch {
            // Whatever is wrong there, the transfer meets it too, and says it better.
            Log.write(.info, "memory", "\(release.identity): the front of its file cannot be read: \(error)")
            return
        }
        let gpu = try await blocking { [gpuMemory] in gpuMemory() }
        do {
            guard
                let (plan, quantization) = try model?.outlook(
                    release, configuration: configuration, deviceMemory: deviceMemory, gpu: gpu,
                    quantizes: quantizes)
            else { return }
            let made = quantization.map { "it is quantised to \($0.uppercased()) on this device" }
            let notes = ([made, plan.gpuText].compactMap { $0 } + plan.compromises).map { "; \($0)" }.joined()
            tell(
                "\(release.identity) will take \(ByteCount(plan.hostBytes)) of memory with a context of "
                    + "\(plan.contextLength) tokens\(notes).")
        } catch {
            throw DeliveryError(
                .notEnoughMemory, "\(release.identity) does not fit this device: \(error.message)",
                context: ErrorContext(
                    model: release.identity.description, expected: error.context.expected, found: error.context.found,
                    remedy: "Choose a smaller variant, or insist with --ignore-memory."),
                underlying: error)
        }
    }
}
