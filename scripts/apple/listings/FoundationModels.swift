// The code of docs/apple.md on Foundation Models and MLX. Compiled by make apple.
import FoundationModels
import Hearth
import HearthDelivery
import HearthFoundationModels
import HearthInference
import MLXLMCommon

#if canImport(FoundationModels, _version: 2)
@available(iOS 27.0, macOS 27.0, *)
func answer(_ hearth: Hearth) async throws -> String {
    let model = try await HearthLanguageModel(hearth.model("qwen3-0.6b"))
    let session = FoundationModels.LanguageModelSession(model: model, instructions: "One sentence.")
    return try await session.respond(to: "Capital of France?").content
}
#endif

@available(iOS 26.0, macOS 26.0, *)
func orchestrator() async throws -> (any InferenceEngine)? {
    var engines = EngineRegistry.standard
    engines.register(model: SystemModelEngine.name, SystemModelEngine())
    let hearth = try Hearth(engines: engines)
    guard SystemModelEngine().unavailability == nil else { return nil }
    return try await hearth.orchestrator(default: SystemModelEngine.name)
}

func engine(_ manager: ModelManager, tokenizers: any TokenizerLoader) async throws -> MLXSwiftEngine {
    let id = "mlx-community/Qwen3-4B-4bit"
    let container = try await loadModelContainer(from: HearthDownloader(manager), using: tokenizers, id: id)
    let facts = ModelInformation(description: id, contextLength: 8192)
    return MLXSwiftEngine(container, information: facts, capabilities: [.thinking])
}
