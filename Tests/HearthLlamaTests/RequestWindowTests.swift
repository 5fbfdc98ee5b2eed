#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// Requests that use a part of the context window, or need room for their answer.
    @Suite struct RequestWindowTests {
        private func ask(
            _ engine: LlamaActor, _ change: (inout GenerationOptions) -> Void
        ) async throws -> GenerationSummary {
            var options = GenerationOptions.greedy(maximumNewTokens: 200)
            options.repetition = nil
            change(&options)
            let story = String(repeating: "The fox walks along the quiet river today. ", count: 10)
            let messages = [
                ChatMessage(.user, story), ChatMessage(.assistant, story),
                ChatMessage(.user, "Write a very long story about a fox."),
            ]
            return try #require(await Answer(engine.generate(messages, options: options)).summary)
        }

        @Test func limitThePromptAndTheAnswer() async throws {
            let engine = try await LlamaActor.load(
                TestModel.light,
                configuration: LlamaConfiguration(contextLength: 512, threadCount: 1, deviceMemory: 16 << 30))
            let whole = try await ask(engine) { $0.maximumNewTokens = 1 }.usage.promptTokens
            #expect(whole > 200 && whole < 400)
            // The oldest messages leave a smaller window, or the request is refused.
            let small = try await ask(engine) { $0.window = 128 }
            #expect(small.usage.promptTokens < 64 && small.reason == .contextFull)
            // The last token is shown, and never computed.
            #expect(small.usage.promptTokens + small.usage.generatedTokens == 129)
            var error = await #expect(throws: LLMError.self) {
                try await ask(engine) { ($0.window, $0.keepsAllMessages) = (128, true) }
            }
            #expect(error?.code == .exceededContextWindowSize && (error?.neededTokens ?? 0) >= 128)
            // A larger one changes nothing.
            #expect(try await ask(engine) { ($0.window, $0.maximumNewTokens) = (9999, 1) }.usage.promptTokens == whole)
            // Room for the answer.
            let room = 512 - whole
            #expect(
                try await ask(engine) { ($0.leastAnswer, $0.keepsAllMessages) = (room, true) }.usage.promptTokens
                    == whole)
            error = await #expect(throws: LLMError.self) {
                try await ask(engine) {
                    ($0.leastAnswer, $0.maximumNewTokens, $0.keepsAllMessages) = (room + 1, room + 1, true)
                }
            }
            #expect(error?.code == .exceededContextWindowSize && error?.neededTokens == whole)
            // A shorter answer needs less.
            #expect(
                try await ask(engine) {
                    ($0.leastAnswer, $0.maximumNewTokens, $0.keepsAllMessages) = (room + 1, 1, true)
                }.usage.promptTokens == whole)
            await engine.unload()
        }
    }
}
#endif
