#if Llama
    import HearthBase
    import HearthInference
    import HearthLlama
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
                    case .phase, .truncated, .picturesLeftOut, .thinking, .toolCall: break
                    }
                }
                #expect(summary?.reason == .timedOut)
                #expect(!text.isEmpty)
                #expect(try #require(summary).usage.generatedTokens < 768)
            }

            @Test func ofTheContext() async throws {
                let engine = try await LlamaActor.load(
                    TestModel.path, configuration: LlamaConfiguration(contextLength: 100, threadCount: 1))
                let window = try engine.modelInformation.contextLength
                #expect(window >= 100)

                let full = try await Answer(engine.generate(Self.story, options: .greedy()))
                let usage = try #require(full.summary).usage
                #expect(full.summary?.reason == .contextFull)
                // The last token is shown although there is no room to go on from it.
                #expect(usage.promptTokens + usage.generatedTokens == window + 1)

                let words = String(repeating: "word ", count: window + 100)
                let error = await #expect(throws: LLMError.self) {
                    _ = try await Answer(engine.generate([ChatMessage(.user, words)], options: .greedy()))
                }
                #expect(error?.code == .exceededContextWindowSize)
                #expect(error?.message.contains("\(window)") == true)
                #expect(error?.context.found?.hasSuffix("tokens") == true)

                // A conversation that outgrew the window goes on without its oldest turns.
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
