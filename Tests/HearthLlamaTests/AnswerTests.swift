#if Llama
import HearthInference
import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    @Suite struct Answers {
        @Test(arguments: [GenerationOptions.seeded(), .greedy()])
        func knowTheCapitalOfFrance(options: GenerationOptions) async throws {
            let engine = try await SharedEngine.engine
            let answer = try await Answer(engine.generate(capitalOfFrance, options: options))
            #expect(answer.text.contains("Paris"))
            #expect(!answer.text.contains("<|"))
            let summary = try #require(answer.summary)
            #expect(summary.reason == .endOfGeneration)
            #expect(summary.usage.promptTokens == 32)
            // A draw depends on the last digits of the logits, and those depend on the memory plan.
            if options.sampling.temperature == 0 { #expect(summary.usage.generatedTokens == 7) }
            #expect(summary.timings.firstTokenSeconds > 0)
            #expect(summary.timings.prefillTokensPerSecond > 0)
            #expect(summary.timings.decodeTokensPerSecond > 0)
            #expect(summary.droppedBytes == 0)
        }

        @Test func reportPrefillThenDecode() async throws {
            let engine = try await LlamaActor.load(
                TestModel.light, configuration: LlamaConfiguration(contextLength: 2048, threadCount: 1))
            let text = String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 56)
            let answer = try await Answer(
                engine.generate([ChatMessage(.user, text)], options: .greedy(maximumNewTokens: 2)))
            let total = try #require(answer.summary?.usage.promptTokens)
            let cached = try #require(answer.summary?.usage.cachedTokens)
            #expect(total > 512)
            #expect(answer.phases.first == .prefill(done: cached, total: total))
            #expect(answer.phases.dropLast().last == .prefill(done: total, total: total))
            #expect(answer.phases.last == .decode)
            var last = cached
            for case .prefill(let done, _) in answer.phases {
                #expect(done - last <= 512)
                #expect(done >= last)
                last = done
            }
            await engine.unload()
        }

        @Test(.enabled(if: TestExtent.isFull)) func repeatWithTheSameSeed() async throws {
            let engine = try await SharedEngine.engine
            let question = [ChatMessage(.user, "Tell me a story about a fox.")]
            var texts: [String] = []
            for seed: UInt32 in [5, 5, 6, .max, .max] {
                let options = GenerationOptions(
                    sampling: SamplingOptions(temperature: 1.2, seed: seed), maximumNewTokens: 24)
                texts.append(try await Answer(engine.generate(question, options: options)).text)
            }
            #expect(texts[0] == texts[1])
            #expect(texts[0] != texts[2])
            #expect(texts[3] == texts[4])
        }

        /// Top-k of 0 keeps every token, but uses llama.cpp's own chain of samplers.
        @Test(arguments: TestExtent.isFull ? [0.35, 1, 1.8] : [1] as [Float])
        func areThoseOfLlamaCppsOwnSamplers(temperature: Float) async throws {
            let engine = try await SharedEngine.engine
            let question = [ChatMessage(.user, "Tell me a story about a fox.")]
            var texts: [String] = []
            for topK in [nil, 0] {
                // Both start with the same state of the cache.
                _ = try await Answer(engine.generate(question, options: .greedy(maximumNewTokens: 1)))
                let options = GenerationOptions(
                    sampling: SamplingOptions(temperature: temperature, seed: 11, topK: topK),
                    maximumNewTokens: TestExtent.isFull ? 40 : 20)
                texts.append(try await Answer(engine.generate(question, options: options)).text)
            }
            #expect(texts[0] == texts[1])
            #expect(!texts[0].isEmpty)
        }

        @Test func takeEverySampler() async throws {
            let engine = try await SharedEngine.engine
            let sampling = SamplingOptions(
                temperature: 0.35, seed: 1, topK: 40, topP: 0.95, minP: 0.05, repeatPenalty: 1.1)
            let answer = try await Answer(
                engine.generate(capitalOfFrance, options: GenerationOptions(sampling: sampling)))
            #expect(answer.text.contains("Paris"))
            let greedy = SamplingOptions(temperature: 0, repeatPenalty: 1.3)
            let other = try await Answer(
                engine.generate(capitalOfFrance, options: GenerationOptions(sampling: greedy)))
            #expect(other.text.contains("Paris"))
        }

        @Test func speakInWholeCharacters() async throws {
            let engine = try await SharedEngine.engine
            let answer = try await Answer(
                engine.generate(
                    [ChatMessage(.user, "Repeat exactly: 日本語 🎉 👩‍👩‍👧 é")], options: .greedy(maximumNewTokens: 40)))
            #expect(!answer.text.contains("\u{FFFD}"))
            #expect(answer.text.contains("👩‍👩‍👧"))
        }

        @Test func queueBehindEachOther() async throws {
            let engine = try await SharedEngine.engine
            let streams = (0..<5).map { _ in engine.generate(capitalOfFrance, options: .greedy()) }
            for stream in streams { #expect(try await Answer(stream).text.contains("Paris")) }
        }
    }

    @Suite struct Conversations {
        @Test func computeOnlyNewTokens() async throws {
            let engine = try await SharedEngine.engine
            let chat = LanguageModelSession(model: engine, instructions: "You are a helpful assistant.")
            let first = try await Answer(
                chat.streamResponse(
                    to: "Answer in one sentence: what is the capital of France?", options: .greedy()
                ).events)
            let before = try #require(first.summary).usage
            let second = try await Answer(chat.streamResponse(to: "And of Germany?", options: .greedy()).events)
            let after = try #require(second.summary).usage
            // The first turn's prompt and answer are in memory, except the last token, which was never computed.
            #expect(after.cachedTokens == before.promptTokens + before.generatedTokens)
            #expect(after.promptTokens > after.cachedTokens)
            #expect(second.text.contains("Berlin"))
            #expect(chat.transcript.map(\.role) == [.system, .user, .assistant, .user, .assistant])
            #expect(chat.transcript[2].content == first.text)
        }

        @Test func reuseNothingOfAnother() async throws {
            let engine = try await SharedEngine.engine
            _ = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
            let alone = try await Answer(
                engine.generate([ChatMessage(.user, "Name a colour.")], options: .greedy(maximumNewTokens: 8)))
            _ = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
            let again = try await Answer(
                engine.generate([ChatMessage(.user, "Name a colour.")], options: .greedy(maximumNewTokens: 8)))
            #expect(alone.text == again.text)
            let usage = try #require(again.summary).usage
            #expect(usage.cachedTokens < usage.promptTokens / 2 + 20)
        }

        @Test func askTwiceComputesOneToken() async throws {
            let engine = try await SharedEngine.engine
            let first = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
            let second = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
            let usage = try #require(second.summary).usage
            #expect(usage.cachedTokens == usage.promptTokens - 1)
            #expect(first.text == second.text)
        }
    }
}
#endif
