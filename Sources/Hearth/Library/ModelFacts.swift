import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference

#if Llama
import HearthImport
#endif

/// Facts of a model from its file's header.
package struct ModelFacts: Sendable, Encodable {
    package let name: String?
    package let architecture: String?
    package let quantization: String?
    package let parameterCount: UInt64?
    package let contextLength: Int?
    package let license: String?
    package let hasChatTemplate: Bool
    /// Whether the model embeds or ranks texts and does not answer.
    package let isEncoderOnly: Bool
    package let ranksTexts: Bool
    package let tensorCount: UInt64
    package let formatVersion: UInt32
    package let sizeBytes: UInt64
    /// What was imported, and what the import changed; of a file that was not imported absent and empty.
    package let imported: String?
    package let importNotes: [String]?
    /// The memory needed on this device, if requested.
    package var memory: MemoryFacts?

    /// Facts without the memory needed.
    package init(header: GGUFHeader, size: UInt64) {
        name = header.name
        architecture = header.architecture
        quantization = header.quantization
        // The first file of a split model has only some of the tensors.
        parameterCount = header.splitCount == 1 ? header.tensors?.parameterCount : nil
        contextLength = header.contextLength
        license = header.license
        hasChatTemplate = header.hasChatTemplate
        isEncoderOnly = header.isEncoderOnly
        ranksTexts = header.ranksTexts
        tensorCount = header.tensorCount
        formatVersion = header.version
        sizeBytes = size
        #if Llama
        imported = header.metadata[ModelImport.summaryKey]?.text
        importNotes = header.metadata[ModelImport.notesKey]?.text?.split(separator: "\n").map(String.init)
        #else
        (imported, importNotes) = (nil, nil)
        #endif
    }

    /// Reads a file's header. Blocks.
    package init(file: Path) throws {
        let size = try LocalFileSystem().status(of: try LocalFileSystem().open(file, .read)).size
        let header = try GGUFHeader(file: file)
        self.init(header: header, size: header.fileBytes(at: file) ?? size)
    }

    /// Facts from the header of a remote file.
    package init(
        remote model: RemoteModel, of release: Release, configuration: Configuration, on device: MemoryPlan.Device
    ) {
        self.init(header: model.header, size: model.fileBytes)
        var made: String?
        memory = MemoryFacts {
            let outlook = try model.outlook(
                release, configuration: configuration.engine(of: release.identity.family),
                deviceMemory: device.memory, gpu: device.gpu)
            made = outlook?.quantization
            return outlook?.plan
        }
        memory?.quantizedTo = made
    }
}

/// A model's predicted memory on a device.
package struct MemoryFacts: Sendable, Encodable {
    package var fits = true
    package var contextLength: Int?
    package var cacheType: String?
    /// `off` if the plan or the settings switch flash attention off.
    package var flashAttention: String?
    package var weightsBytes: UInt64?
    package var cacheBytes: UInt64?
    package var computeBytes: UInt64?
    package var projectorBytes: UInt64?
    package var totalBytes: UInt64?
    /// The part in the machine's memory.
    package var hostBytes: UInt64?
    /// The quantization on this device, if the published model does not fit.
    package var quantizedTo: String?
    /// The memory available to models.
    package var availableBytes: UInt64?
    /// Deviations from the settings or defaults, to display.
    package var compromises: [String]?
    /// The layers on the GPU and in total, with a GPU.
    package var gpuLayers: Int?
    package var layers: Int?
    package var gpuFreeBytes: UInt64?
    /// Why the model does not fit.
    package var problem: String?

    /// Plans the loading of files on a device. Blocks.
    package init?(
        weights: Path, projector: Path?, configuration: Configuration, on device: MemoryPlan.Device
    ) {
        self.init {
            try MemoryPlanning.plan(
                file: weights, projector: projector, configuration: configuration, deviceMemory: device.memory,
                gpu: device.gpu)
        }
    }

    /// Uses a memory plan; `nil` if the header is insufficient.
    package init?(_ planning: () throws -> MemoryPlan?) {
        do {
            guard let plan = try planning() else { return nil }
            self.init(plan)
        } catch {
            self.init(problem: (error as? any HearthFailure)?.message ?? "\(error)")
        }
    }

    private init(problem: String) {
        fits = false
        self.problem = problem
    }

    package init(_ plan: MemoryPlan) {
        contextLength = plan.contextLength
        cacheType = plan.cacheType.rawValue
        flashAttention = plan.flashAttention.rawValue
        weightsBytes = plan.estimate.weights
        cacheBytes = plan.estimate.cache
        computeBytes = plan.estimate.compute
        projectorBytes = plan.estimate.projector > 0 ? plan.estimate.projector : nil
        totalBytes = plan.estimate.total
        hostBytes = plan.hostBytes
        availableBytes = plan.budget
        compromises = plan.compromises.isEmpty ? nil : plan.compromises
        gpuText = plan.gpuText
        guard plan.gpuMemory > 0 else { return }
        gpuLayers = plan.gpuLayers
        layers = plan.layers
        gpuFreeBytes = plan.gpuMemory
    }

    /// The GPU's part, to display.
    package var gpuText: String?

    private enum CodingKeys: CodingKey {
        case fits, contextLength, cacheType, flashAttention, weightsBytes, cacheBytes, computeBytes, projectorBytes
        case totalBytes
        case hostBytes
        case quantizedTo, availableBytes, compromises, gpuLayers, layers, gpuFreeBytes, problem
    }
}
