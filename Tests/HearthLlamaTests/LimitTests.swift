#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    @Suite struct Limits {
        static let story = [ChatMessage(.user, "Write a very long story about a fox.")]

        @Test(arguments: [0, 1, 5])
        func ofNewTokens(count: Int) async throws {
            let engine = try await SharedEngine.engine
            let answer = try await Answer(
                engine.generate(Self.story, options: .greedy(maximumNewTokens: count)))
            #expect(answer.summary?.reason == .maximumNewTokens)
            #expect(answer.summary?.usage.generatedTokens == count)
            #expect(answer.text.isEmpty == (count == 0))
        }

        @Test func ofTimeBeforeTheFirstToken() async throws {
            let engine = try await SharedEngine.engine
            let answer = try await Answer(
                engine.generate(Self.story, options: GenerationOptions(sampling: .greedy, timeout: .zero)))
            #expect(answer.summary?.reason == .timedOut)
            #expect(answer.text.isEmpty)
        }

        /// The window of one conversation and the shared cells are separate limits.
        @Test func ofTheWindowAreNotThoseOfThePool() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path,
                configuration: LlamaConfiguration(contextLength: 512, cells: 2048, threadCount: 1, sequences: 4))
            let facts = try engine.answering(.text)
            #expect(facts.information.contextLength == 512)
            #expect(facts.admission.cells == 2048 && facts.admission.sequences == 4)
            let question = [ChatMessage(.user, String(repeating: "one two three four ", count: 160))]
            let error = await #expect(throws: LLMError.self) {
                try await engine.generate(question, options: .greedy()) { _ in }
            }
            #expect(error?.code == .exceededContextWindowSize)
            #expect(try await Answer(engine.generate(capitalOfFrance, options: .greedy())).text.contains("Paris"))
            await engine.unload()
        }

        /// The time-out counts from the request, so that waiting is part of it.
        @Test func ofTimeEndARequestThatWaits() async throws {
            let clock = ManualClock()
            let engine = try await LlamaActor.load(
                TestModel.path,
                configuration: LlamaConfiguration(contextLength: 1024, threadCount: 1, sequences: 1),
                time: clock.time)
            var running = engine.generate(Self.story, options: .greedy()).makeAsyncIterator()
            _ = try await running.next()
            let waiting = engine.generate(
                capitalOfFrance, options: GenerationOptions(sampling: .greedy, timeout: .seconds(1)))
            clock.advance(by: .seconds(2))
            let summary = try #require(try await Answer(waiting).summary)
            #expect(summary.reason == .timedOut && summary.usage.generatedTokens == 0)
            #expect(summary.usage.promptTokens == 0, "it was never admitted")
            #expect(try await running.next() != nil)
            await engine.unload()
        }

        @Test func ofTimeKeepTheTextSoFar() async throws {
            let clock = ManualClock()
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: LlamaConfiguration(contextLength: 1024, threadCount: 1),
                time: clock.time)
            var text = ""
            var summary: GenerationSummary?
            for try await event in engine.generate(Self.story, options: .greedy()) {
                switch event {
                case .text(let piece):
                    text += piece
                    clock.advance(by: .seconds(60))
                case .finish(let facts): summary = facts
                default: break
                }
            }
            #expect(summary?.reason == .timedOut)
            #expect(!text.isEmpty)
            #expect(try #require(summary).usage.generatedTokens < 768)
        }

        private func refusal(_ engine: LlamaActor, _ messages: [ChatMessage]) async throws -> LLMError? {
            await #expect(throws: LLMError.self) {
                _ = try await Answer(engine.generate(messages, options: .greedy()))
            }
        }

        /// No text has fewer tokens than the bound from its bytes.
        @Test(arguments: ["a", " ", "\n", "=", "-", "😀", "日", "\u{0}", "<|im_end|>", "                "])
        func ofBytesAreNeverTooStrict(piece: String) async throws {
            let weights = try await SharedEngine.engine.answering(.text).weights
            let text = String(repeating: piece, count: 20_000 / piece.utf8.count)
            for isSpecial in [false, true] {
                let tokens = try weights.vocabulary.tokens(of: text, addSpecial: false, parseSpecial: isSpecial)
                #expect(weights.fewestTokens(inBytes: text.utf8.count) <= tokens.count)
            }
        }

        @Test(.enabled(if: TestExtent.isFull)) func ofTheContext() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: LlamaConfiguration(contextLength: 100, threadCount: 1))
            let window = try engine.modelInformation.contextLength
            #expect(window >= 100)

            let light = try await LlamaActor.load(
                TestModel.light, configuration: LlamaConfiguration(contextLength: 100, threadCount: 1))
            let full = try await Answer(light.generate(Self.story, options: .greedy()))
            await light.unload()
            let usage = try #require(full.summary).usage
            #expect(full.summary?.reason == .contextFull)
            // The last token is shown although the context has no room to compute it.
            #expect(usage.promptTokens + usage.generatedTokens == window + 1)

            let words = String(repeating: "word ", count: window + 100)
            let error = await #expect(throws: LLMError.self) {
                _ = try await Answer(engine.generate([ChatMessage(.user, words)], options: .greedy()))
            }
            #expect(error?.code == .exceededContextWindowSize)
            #expect(error?.message.contains("\(window)") == true)
            #expect(error?.context.found?.hasSuffix("tokens") == true)

            // A text that cannot fit even with the longest tokens is not tokenised.
            let longest = TestExtent.isFull ? 20_000_000 : 2_000_000
            let endless = try await refusal(
                engine, [ChatMessage(.user, String(repeating: "word ", count: longest / 5))])
            #expect(endless?.code == .exceededContextWindowSize)
            let weights = try engine.answering(.text).weights
            #expect(weights.fewestTokens(inBytes: longest) > window)
            #expect(
                endless?.context.found == "at least \(weights.fewestTokens(inBytes: longest)) tokens"
                    && endless?.context.expected == "fewer than \(window) tokens")
            let kept = try await Answer(
                engine.generate(
                    [
                        ChatMessage(.user, String(repeating: "word ", count: longest / 5)),
                        ChatMessage(.assistant, "?"),
                    ]
                        + [ChatMessage(.user, "Hi")], options: .greedy(maximumNewTokens: 1)))
            #expect(kept.dropped == 2 && kept.summary != nil)

            // A conversation that exceeds the window continues without its oldest turns.
            var messages = [ChatMessage(.system, "You are a helpful assistant.")]
            for _ in 0..<12 {
                messages += [
                    ChatMessage(.user, "What is a fox doing?"), ChatMessage(.assistant, "It jumps over it."),
                ]
            }
            messages.append(capitalOfFrance[1])
            let answer = try await Answer(engine.generate(messages, options: .greedy(maximumNewTokens: 40)))
            #expect(answer.text.contains("Paris"))
            #expect(try #require(answer.summary).usage.promptTokens + 40 <= window)
        }
    }
}
#endif
