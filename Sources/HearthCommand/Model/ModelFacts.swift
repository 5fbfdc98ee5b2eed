import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference

/// Facts of a model from its file's header.
struct ModelFacts: Sendable, Encodable {
    let name: String?
    let architecture: String?
    let quantization: String?
    let parameterCount: UInt64?
    let contextLength: Int?
    let license: String?
    let hasChatTemplate: Bool
    /// Whether the model embeds or ranks texts and does not answer.
    let isEncoderOnly: Bool
    let ranksTexts: Bool
    let tensorCount: UInt64
    let formatVersion: UInt32
    let sizeBytes: UInt64
    /// The memory needed on this device, if requested.
    var memory: MemoryFacts?

    /// Facts without the memory needed.
    init(header: GGUFHeader, size: UInt64) {
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
    }

    /// Reads a file's header. Blocks.
    init(file: Path) throws {
        let size = try LocalFileSystem().status(of: try LocalFileSystem().open(file, .read)).size
        let header = try GGUFHeader(file: file)
        self.init(header: header, size: header.fileBytes(at: file) ?? size)
    }

    /// Facts from the header of a remote file.
    init(
        remote model: RemoteModel, of release: Release, configuration: Configuration, on device: MemoryPlan.Device
    ) {
        self.init(header: model.header, size: model.fileBytes)
        var made: String?
        memory = MemoryFacts {
            let outlook = try model.outlook(
                release, configuration: configuration, deviceMemory: device.memory, gpu: device.gpu)
            made = outlook?.quantization
            return outlook?.plan
        }
        memory?.quantizedTo = made
    }

    /// The purpose of a model that does not answer.
    private var purpose: String? {
        if ranksTexts { return "ranking: it compares texts, which no engine of this build does" }
        return isEncoderOnly ? "embeddings: it gives vectors of texts and does not answer" : nil
    }

    /// The facts as lines of a table.
    var rows: [(String, String)] {
        var rows: [(String, String)] = []
        func add(_ name: String, _ value: String?) { if let value { rows.append((name, value)) } }
        add("name in the file", name)
        add("architecture", architecture)
        add("quantization", quantization)
        add("parameters", parameterCount.map(Self.count))
        add("context", contextLength.map { "up to \($0) tokens" })
        add("license", license)
        add("made for", purpose)
        add("chat template", isEncoderOnly ? nil : hasChatTemplate ? "yes" : "no")
        add("format", "GGUF version \(formatVersion), \(tensorCount) tensors")
        add("memory needed", memory?.text)
        return rows
    }

    /// The facts on one line.
    var sentence: String {
        let facts = [architecture, quantization, parameterCount.map { "\(Self.count($0)) parameters" }]
        return "a GGUF file of version \(formatVersion), \(ByteCount(sizeBytes)), "
            + (facts.compactMap { $0 } + ["\(tensorCount) tensors"]).joined(separator: ", ")
    }

    /// `135 million`, `1.5 billion`.
    private static func count(_ number: UInt64) -> String {
        if number >= 1_000_000_000 { return "\(Double((number + 50_000_000) / 100_000_000) / 10) billion" }
        if number >= 1_000_000 { return "\((number + 500_000) / 1_000_000) million" }
        return "\(number)"
    }
}

/// A model's predicted memory on a device.
struct MemoryFacts: Sendable, Encodable {
    var fits = true
    var contextLength: Int?
    var cacheType: String?
    /// `off` if the plan or the settings switch flash attention off.
    var flashAttention: String?
    var weightsBytes: UInt64?
    var cacheBytes: UInt64?
    var computeBytes: UInt64?
    var projectorBytes: UInt64?
    var totalBytes: UInt64?
    /// The part in the machine's memory.
    var hostBytes: UInt64?
    /// The quantization on this device, if the published model does not fit.
    var quantizedTo: String?
    /// The memory available to models.
    var availableBytes: UInt64?
    /// Deviations from the settings or defaults, to display.
    var compromises: [String]?
    /// The layers on the GPU and in total, with a GPU.
    var gpuLayers: Int?
    var layers: Int?
    var gpuFreeBytes: UInt64?
    /// Why the model does not fit.
    var problem: String?

    /// Plans the loading of files on a device. Blocks.
    init?(
        weights: Path, projector: Path?, configuration: Configuration, on device: MemoryPlan.Device
    ) {
        self.init {
            try MemoryPlanning.plan(
                file: weights, projector: projector, configuration: configuration, deviceMemory: device.memory,
                gpu: device.gpu)
        }
    }

    /// Uses a memory plan; `nil` if the header is insufficient.
    init?(_ planning: () throws -> MemoryPlan?) {
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

    init(_ plan: MemoryPlan) {
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

    private var gpuText: String?

    private enum CodingKeys: CodingKey {
        case fits, contextLength, cacheType, flashAttention, weightsBytes, cacheBytes, computeBytes, projectorBytes
        case totalBytes
        case hostBytes
        case quantizedTo, availableBytes, compromises, gpuLayers, layers, gpuFreeBytes, problem
    }

    /// The facts on one line.
    var text: String {
        guard let hostBytes, let availableBytes, let contextLength, let weightsBytes, let cacheBytes, let computeBytes
        else { return problem ?? "unknown" }
        let type = cacheType.flatMap { $0 == CacheType.f16.rawValue ? nil : " as \($0)" } ?? ""
        let projector = projectorBytes.map { ", projector \(ByteCount($0))" } ?? ""
        let made = quantizedTo.map { "quantized to \($0.uppercased()) on this device" }
        let attention = flashAttention == FlashAttention.off.rawValue ? "flash attention off" : nil
        let notes = ([made, attention, gpuText].compactMap { $0 } + (compromises ?? [])).map { "; \($0)" }.joined()
        return
            "\(ByteCount(hostBytes)) of \(ByteCount(availableBytes)) with a context of \(contextLength) tokens: "
            + "weights \(ByteCount(weightsBytes)), cache \(ByteCount(cacheBytes))\(type), "
            + "working memory \(ByteCount(computeBytes))\(projector)\(notes)"
    }
}
