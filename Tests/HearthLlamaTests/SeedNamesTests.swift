#if Llama
import Foundation
import HearthBase
import HearthInference
import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// Calls by the names of seeds 001 and 003, as their readers write them.
    @Suite struct SeedNames {
        private func text(
            _ generate: (AsyncThrowingStream<String, any Error>.Continuation) async -> Void
        ) async throws -> String {
            let (stream, continuation) = AsyncThrowingStream<String, any Error>.makeStream()
            await generate(continuation)
            return try await stream.reduce("") { $0 + $1 }
        }

        @Test func aModelIsLoadedAskedAndUnloaded() async throws {
            let actor = LlamaContext()
            try await actor.loadModel(at: TestModel.path, contextSize: 512, role: .text)
            #expect(try actor.modelInformation.contextLength == 512)
            #expect(LLMConstants.batchCapacity == 8192)
            let answer = try await text { await actor.generate(prompt: "Say yes.", role: .text, continuation: $0) }
            #expect(!answer.isEmpty)
            let refusal = await #expect(throws: LLMError.self) {
                _ = try await text {
                    await actor.generateWithImages(
                        prompt: "?", imageDataList: [Data("no picture".utf8)], role: .text, continuation: $0)
                }
            }
            #expect(refusal?.code == .cannotReadPicture)
            await actor.unloadModel(role: .text)
            #expect(throws: LLMError.self) { try actor.modelInformation }
            await actor.unload()
        }
    }
}
#endif
