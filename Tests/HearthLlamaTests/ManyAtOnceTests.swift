#if Llama
    import HearthBase
    import HearthInference
    @testable import HearthLlama
    import HearthTestSupport
    import Testing

    extension RealModel {
        /// Several requests beside each other in one context.
        @Suite struct ManyAtOnce {
            static func configuration(_ sequences: Int = 8, context: Int = 4096, queue: Int = 64) -> LlamaConfiguration
            {
                LlamaConfiguration(
                    contextLength: context, threadCount: 1, stateBytes: 0, sequences: sequences, queueLimit: queue)
            }

            private static let questions = [
                "What is the capital of France?", "Name three rivers in Europe.", "Explain what a lighthouse is for.",
                "Why is the sky blue?", "List the planets of the solar system.", "How do I boil an egg?",
                "Tell me a joke about a cat.", "What is the largest ocean?",
            ].map { [ChatMessage(.user, $0)] }

            private static let story = [ChatMessage(.user, "Write a very long story about a fox.")]

            @Test func allOfEightAnswer() async throws {
                let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration())
                for _ in 0..<2 {
                    // All are asked before anybody listens, so that they run together.
                    let streams = Self.questions.map {
                        engine.generate($0, options: .greedy(maximumNewTokens: 6))
                    }
                    for stream in streams { #expect(try await Answer(stream).summary?.reason == .maximumNewTokens) }
                }
                let one = engine.generate(capitalOfFrance, options: .greedy())
                #expect(try await Answer(one).text.contains("Paris"))
            }

            @Test func unloadingEndsAll() async throws {
                let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration())
                // Some begin, others wait.
                let streams = (0..<12).map { _ in engine.generate(Self.story, options: .greedy()) }
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    let (began, source) = AsyncStream<Void>.makeStream()
                    for stream in streams {
                        group.addTask {
                            do {
                                for try await event in stream { if case .text = event { source.yield() } }
                                return false
                            } catch is CancellationError {
                                return true
                            }
                        }
                    }
                    for await _ in began { break }
                    await engine.unload()
                    for try await threw in group { #expect(threw) }
                }
                let error = await #expect(throws: LLMError.self) {
                    _ = try await Answer(engine.generate(Self.story, options: .greedy()))
                }
                #expect(error?.code == .modelNotLoaded)
            }

            @Test func oneTooManyIsTold() async throws {
                let engine = try await LlamaActor.load(
                    TestModel.path, configuration: Self.configuration(2, queue: 1))
                var running: [AsyncThrowingStream<GenerationEvent, any Error>.Iterator] = []
                for _ in 0..<2 {
                    var iterator = engine.generate(Self.story, options: .greedy()).makeAsyncIterator()
                    _ = try await iterator.next()
                    running.append(iterator)
                }
                let waiting = engine.generate(Self.questions[0], options: .greedy(maximumNewTokens: 4))
                let error = await #expect(throws: LLMError.self) {
                    _ = try await Answer(engine.generate(Self.questions[1], options: .greedy()))
                }
                #expect(error?.code == .busy)
                #expect(error?.context.expected == "at most 1 waiting requests")
                // Those who let go make room.
                running = []
                #expect(try await Answer(waiting).summary?.usage.generatedTokens == 4)
                #expect(try await Answer(engine.generate(Self.questions[1], options: .greedy())).summary != nil)
            }

            @Test func vectorsDoNotWaitForAnAnswer() async throws {
                let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration())
                var iterator = engine.generate(Self.story, options: .greedy(maximumNewTokens: 700))
                    .makeAsyncIterator()
                _ = try await iterator.next()
                _ = try await engine.embed(["fox"])
                #expect(engine.isAnswering)
            }

            @Test func aModelIsReplacedOnceItHasAnswered() async throws {
                let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration(2))
                let streams = (0..<4).map { engine.generate(Self.questions[$0], options: .greedy(maximumNewTokens: 8)) }
                try await engine.load(TestModel.path, configuration: Self.configuration(1))
                #expect(!engine.isAnswering)
                for stream in streams { #expect(try await Answer(stream).summary != nil) }
            }
        }
    }
#endif
