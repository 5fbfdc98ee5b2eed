#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// The memory of a model that gives vectors and does not answer.
    @Suite struct EncoderMemory {
        /// An encoder has no cache, and its contexts need at most the predicted memory.
        @Test func theMemoryOfAnEncoderIsPredicted() async throws {
            let configuration = LlamaConfiguration(contextLength: 512, threadCount: 1)
            let log = await RecordedLog.start(.debug)
            defer { log.stop() }
            let engine = try await LlamaActor.load(TestModel.path(.vectors), configuration: configuration)
            _ = try await engine.embed(["fox"])
            let entry = try #require(await engine.visited { $0.memory }.entries[.text])
            let (loaded, embedding) = (try #require(entry.plan?.estimate), try #require(entry.vectors?.estimate))
            #expect(loaded.cache == 0 && embedding.cache == 0)
            #expect(loaded.compute == 500 * (4 * (4 * 64 + 3 * 128) + 2 * 500) + 4 * 49_152 * 8)
            // 1.19 MiB for the computation and a row of logits for each conversation, for every context length.
            let measured = log.messages(of: "llama").filter { $0.contains("CPU compute buffer size") }
                .compactMap { $0.split(separator: "=").last?.split(separator: " ").first.flatMap { Double($0) } }
            let working = Double(loaded.compute - 4 * 49_152 * 8) / 1_048_576
            #expect(measured.contains { $0 <= working && $0 > working / 1.6 }, "\(working) \(measured)")
            // In a context for vectors each token needs a row of logits and a vector.
            let most = Double(embedding.compute - 500 * 4 * (49_152 + 64)) / 1_048_576
            #expect(measured.count { $0 <= most } >= 2, "\(most) \(measured)")
            await engine.unload()
        }
    }
}
#endif
