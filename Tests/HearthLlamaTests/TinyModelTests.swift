#if Llama
    import HearthBase
    import HearthInference
    import HearthLlama
    import HearthTestSupport
    import Testing

    extension RealModel {
        /// The models of `scripts/tiny-models.py` do what the paths they were made for need.
        @Suite struct TinyModelTests {
            @Test(arguments: [TestModel.Tiny.recurrent, .window, .grid])
            func aModelWithRandomWeightsAnswersAndAnswersTheSameAgain(_ model: TestModel.Tiny) async throws {
                let engine = try await LlamaActor.load(
                    TestModel.path(model), configuration: LlamaConfiguration(contextLength: 512, threadCount: 1))
                let first = try await Answer(
                    engine.generate(capitalOfFrance, options: .greedy(maximumNewTokens: 12)))
                let second = try await Answer(
                    engine.generate(capitalOfFrance, options: .greedy(maximumNewTokens: 12)))
                #expect(!first.text.isEmpty)
                #expect(first.text == second.text)
                #expect(first.summary?.usage.promptTokens == second.summary?.usage.promptTokens)
                await engine.unload()
            }

            @Test func theDefaultModelWithAThinkingTemplateBeginsInItsThinking() async throws {
                let engine = try await LlamaActor.load(
                    TestModel.path(.thinking), configuration: LlamaConfiguration(contextLength: 512, threadCount: 1))
                // Half of them are the answer's.
                let answer = try await Answer(
                    engine.generate(capitalOfFrance, options: .greedy(maximumNewTokens: 40)))
                #expect(!answer.thinking.isEmpty)
                await engine.unload()
            }
        }
    }
#endif
