#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// The models of `scripts/tiny-models.py` have the properties for which they were made.
    @Suite struct TinyModelTests {
        @Test(arguments: [TestModel.Tiny.recurrent, .window, .grid, .plain])
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
            // Half of the tokens are reserved for the answer.
            let answer = try await Answer(
                engine.generate(capitalOfFrance, options: .greedy(maximumNewTokens: 40)))
            #expect(!answer.thinking.isEmpty)
            await engine.unload()
        }

        /// The engine ends the thinking in the model's place, and the time for it does not count towards the
        /// model's speed.
        @Test(arguments: [
            ThinkingOptions.disabled, ThinkingOptions(maximumTokens: 0),
            ThinkingOptions(
                control: {
                    let control = ThinkingControl()
                    control.answerNow()
                    return control
                }()),
        ])
        func thinkingThatIsNotWantedIsClosedBeforeTheFirstToken(_ thinking: ThinkingOptions) async throws {
            let engine = try await LlamaActor.load(
                TestModel.path(.thinking), configuration: LlamaConfiguration(contextLength: 512, threadCount: 1))
            let options = GenerationOptions(sampling: .greedy, maximumNewTokens: 40, thinking: thinking)
            let watch = TimeSource.system.stopwatch()
            let answer = try await Answer(engine.generate(capitalOfFrance, options: options))
            let elapsed = watch.elapsed.seconds
            #expect(answer.thinking.isEmpty)
            #expect(!answer.text.isEmpty)
            let summary = try #require(answer.summary)
            #expect(summary.timings.firstTokenSeconds > 0 && summary.timings.firstTokenSeconds <= elapsed)
            // The prompt of about forty tokens and the closing mark are computed first.
            #expect(summary.timings.prefillTokensPerSecond > 0)
            let prefill =
                Double(summary.usage.promptTokens - summary.usage.cachedTokens)
                / summary.timings.prefillTokensPerSecond
            #expect(summary.timings.firstTokenSeconds > prefill)
            await engine.unload()
        }

        @Test func answerNowEndsTheThinkingUnderWay() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path(.thinking), configuration: LlamaConfiguration(contextLength: 2048, threadCount: 1))
            let control = ThinkingControl()
            let options = GenerationOptions(
                sampling: .greedy, maximumNewTokens: 1000, thinking: ThinkingOptions(control: control))
            // An untrained model thinks as long as the limits allow.
            let story = [ChatMessage(.user, "Write a very long story about a fox.")]
            var thought = 0
            var said = ""
            var summary: GenerationSummary?
            for try await event in engine.generate(story, options: options) {
                switch event {
                case .thinking:
                    thought += 1
                    if thought == 5 { control.answerNow() }
                case .text(let piece):
                    said += piece
                    if said.count > 20 { engine.stop() }
                case .finish(let facts): summary = facts
                default: break
                }
                if said.count > 20 { break }
            }
            #expect(thought >= 5 && thought < 500)
            #expect(said.count > 20 && summary == nil)
            await engine.unload()
        }

        /// If a vocabulary has no token for the beginning of text, the end of text is used for warming up, else the
        /// first token.
        @Test(arguments: [(["bos", "eos"], false), (["bos"], true)] as [([String], Bool)])
        func aVocabularyWithoutTheUsualTokensWarmsUp(missing: [String], hasEnd: Bool) throws {
            let folder = try TemporaryFolder()
            var bytes = try Data(contentsOf: TestModel.path(.recurrent).url)
            func replace(_ old: String, _ new: String) throws {
                let place = try #require(bytes.range(of: Data(old.utf8)))
                bytes.replaceSubrange(place, with: Data(new.utf8))
            }
            // Only GPT-2's vocabulary type has default tokens; this type has none unless the file declares them.
            let kind = try #require(bytes.range(of: Data("tokenizer.ggml.model".utf8)))
            let value = kind.upperBound..<kind.upperBound + 32
            let name = try #require(bytes.range(of: Data("gpt2".utf8), in: value))
            bytes.replaceSubrange(name, with: Data("rwkv".utf8))
            for name in missing {
                try replace("tokenizer.ggml.\(name)_token_id", "tokenizer.ggml.\(name.prefix(1))xs_token_id")
            }
            let model = try LoadedModel(
                path: try folder.write("odd.gguf", bytes),
                configuration: LlamaConfiguration(contextLength: 256, threadCount: 1), progress: { _ in true })
            #expect((model.vocabulary.warmUpToken == 0) == !hasEnd)
            if hasEnd { #expect(model.vocabulary.isEndOfGeneration(model.vocabulary.warmUpToken)) }
            #expect(model.sequences.ledger(0).isEmpty)
        }
    }
}
#endif
