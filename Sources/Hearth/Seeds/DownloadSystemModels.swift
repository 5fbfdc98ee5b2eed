import Foundation
import HearthBase
import HearthCatalog
import HearthInference

/// A model of the list in "Model Download System".
public typealias OptaModelConfiguration = ModelInfo

/// The list of "Model Download System": three models of MLX on the Hub. Their sizes and memory are estimates of their
/// numbers of parameters, with four bits in groups of 64.
extension ModelInfo {
    /// Llama 3.2 11B Vision, which the plan names and no engine of this package runs.
    public static let llama32_11B_Vision = mlx(
        "Llama-3.2-11B-Vision-Instruct-4bit", "Llama 3.2 11B Vision", parameters: 10_670_000_000, sees: true,
        "Understands pictures. No open engine runs it yet; Qwen 2.5 VL 7B sees pictures here.")
    /// Llama 3.2 3B Instruct, the one to begin with.
    public static let llama32_3B = mlx(
        "Llama-3.2-3B-Instruct-4bit", "Llama 3.2 3B", parameters: 3_213_000_000,
        "A steady writer for summaries and letters.")
    /// Llama 3.2 1B Instruct.
    public static let llama32_1B = mlx(
        "Llama-3.2-1B-Instruct-4bit", "Llama 3.2 1B", parameters: 1_236_000_000,
        "Summaries and rewriting on small devices.")

    /// The list, the largest first.
    public static let all = [llama32_11B_Vision, llama32_3B, llama32_1B]
    /// The preselected model.
    public static var `default`: ModelInfo { llama32_3B }

    /// The repository on the Hub, such as `mlx-community/Llama-3.2-1B-Instruct-4bit`; else the family.
    public var name: String { if case .hub(let repository) = reference { repository.path } else { id.name } }
    /// The publisher's description; empty without one.
    public var description: String { summary ?? "" }
    /// The size in GiB.
    public var sizeGB: Double { Double(size) / Double(1 << 30) }
    /// The memory that the model needs, in whole GiB, rounded up.
    public var minimumRAM: Int { Int((Double(requiredMemory) / Double(1 << 30)).rounded(.up)) }
    /// The size to display; ``sizeText``.
    public var sizeString: String { sizeText }
    /// The memory to display; ``memoryText``.
    public var ramRequirementString: String { memoryText }
    /// Whether the model understands pictures; ``seesImages``.
    public var supportsVision: Bool { seesImages }

    /// Whether an engine of this build runs the model, and the memory of this device suffices.
    public func isCompatibleWithDevice() -> Bool {
        id != Self.llama32_11B_Vision.id && EngineRegistry.standard.formats.contains(format)
            && requiredMemory <= DeviceMemory.read().usable
    }

    private static func mlx(
        _ repository: String, _ name: String, parameters: UInt64, sees: Bool = false, _ summary: String
    ) -> ModelInfo {
        guard let reference = HubReference(organization: "mlx-community", repository: repository),
            let family = reference.family
        else { preconditionFailure("\(repository) is a repository's name") }
        // Four bits, and a scale and a bias of 16 bits for 64 weights.
        let size = parameters / 16 * 9
        return ModelInfo(
            identity: ReleaseIdentity(family: family, version: ReleaseVersion(SemanticVersion(0, 0, 0))),
            displayName: name, summary: summary, format: .mlx, seesImages: sees, size: size,
            requiredMemory: memory(for: size), reference: .hub(reference))
    }
}

/// Loads models in the format of MLX, one at a time, and keeps them in ``ModelCache``.
///
/// ```swift
/// let service = MLXService(hearth)
/// if service.isDeviceSupported { try await service.loadModel(.default) }
/// ```
@MainActor public final class MLXService {
    private let hearth: Hearth
    /// The loaded model.
    public private(set) var modelContainer: LiveModel?
    /// The configuration of the loaded model.
    public private(set) var loadedModelConfig: ModelInfo?

    /// A service over an app's models.
    public init(_ hearth: Hearth) { self.hearth = hearth }

    /// Whether an engine of this app runs MLX models.
    public var isDeviceSupported: Bool { hearth.manager.formats?.contains(.mlx) ?? false }
    /// Whether a model is loaded.
    public var isModelLoaded: Bool { modelContainer != nil }

    /// Loads a model from ``ModelCache`` or from this device, and downloads it if it is not here.
    /// - Throws: `MLXError.deviceNotSupported`; otherwise as ``Hearth/model(_:policy:progress:)``.
    public func loadModel(_ model: ModelInfo) async throws {
        guard isDeviceSupported else { throw MLXError.deviceNotSupported }
        if let cached = await ModelCache.shared.retrieve(for: model) {
            (modelContainer, loadedModelConfig) = (cached, model)
            return
        }
        let here = try await hearth.manager.installed().contains { $0.identity.family == model.id }
        if !here { _ = try await hearth.manager.pull(model.reference) }
        let container = try await hearth.model(model.id.name)
        try await container.load()
        await ModelCache.shared.store(container: container, for: model)
        (modelContainer, loadedModelConfig) = (container, model)
    }
}

/// The error of an MLX model.
public typealias MLXError = LLMError

extension LLMError {
    /// No engine runs MLX models on this device; the code is `engine-missing`.
    public static var deviceNotSupported: LLMError {
        LLMError(
            .engineMissing, "this device cannot run models of MLX",
            context: ErrorContext(remedy: "Choose a GGUF model."), disposition: .usage)
    }
}
