#if Llama
import Foundation
import HearthBase
import HearthInference

/// The actor of seed 003 that holds a model of llama.cpp.
public typealias LlamaContext = LlamaActor

/// The limits of seed 001: `LLMConstants.batchCapacity`.
public typealias LLMConstants = LlamaConfiguration

/// The calls of seed 001.
extension LlamaActor {
    /// Loads a model: ``load(_:role:projector:configuration:supportsVision:progress:)`` with a context of so many tokens.
    public nonisolated func loadModel(
        at path: Path, contextSize: Int, role: EngineRole, mmprojPath: Path? = nil
    ) async throws {
        var settings = configuration
        settings.contextLength = contextSize
        try await load(path, role: role, projector: mmprojPath, configuration: settings)
    }

    /// Unloads a role's model: ``unload(_:)``.
    public nonisolated func unloadModel(role: EngineRole) async { await unload(role) }

    /// Answers a prompt, and yields the pieces of the answer.
    public nonisolated func generate(
        prompt: String, role: EngineRole, continuation: AsyncThrowingStream<String, any Error>.Continuation
    ) async {
        await answer(ChatMessage(.user, prompt), role, continuation)
    }

    /// Answers a question about pictures in JPEG, PNG or BMP. Without a projector only the text is answered.
    public nonisolated func generateWithImages(
        prompt: String, imageDataList: [Data], role: EngineRole,
        continuation: AsyncThrowingStream<String, any Error>.Continuation
    ) async {
        do {
            let images = try imageDataList.map { try ChatImage([UInt8]($0)) }
            await answer(ChatMessage(.user, prompt, images: images), role, continuation)
        } catch {
            continuation.finish(throwing: error)
        }
    }

    private nonisolated func answer(
        _ question: ChatMessage, _ role: EngineRole, _ continuation: AsyncThrowingStream<String, any Error>.Continuation
    ) async {
        do {
            _ = try await generate([question], options: GenerationOptions(), role: role) {
                if case .text(let piece) = $0 { continuation.yield(piece) }
            }
            continuation.finish()
        } catch {
            continuation.finish(throwing: error)
        }
    }
}
#endif
