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

            /// Requests of all kinds from eight tasks, given up at any moment: each stream ends, and the engine is as before.
            @Test func oneHundredMixedRequestsAllEnd() async throws {
                let engine = try await LlamaActor.load(
                    TestModel.path, configuration: Self.configuration(context: 2048))
                let ends = try await withThrowingTaskGroup(of: [String: Int].self) { group in
                    for task in 0..<8 {
                        group.addTask {
                            var random = SeededGenerator(seed: UInt64(task))
                            var ends: [String: Int] = [:]
                            for _ in 0..<13 { ends[try await Self.request(engine, &random), default: 0] += 1 }
                            return ends
                        }
                    }
                    return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
                }
                print("mixed requests: \(ends.sorted { $0.key < $1.key })")
                #expect(ends.values.reduce(0, +) == 104)
                #expect(ends["let go", default: 0] > 10 && ends["length", default: 0] > 10)
                let again = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
                #expect(again.text.contains("Paris"))
                // By then the last one is off the books.
                await engine.unload()
                #expect(!engine.isAnswering)
            }

            private static func request(_ engine: LlamaActor, _ random: inout SeededGenerator) async throws -> String {
                let words = Int.random(in: 1...8, using: &random) == 1 ? 100 : 8
                let text = String(repeating: "red \(Int.random(in: 0...9, using: &random)) ", count: words)
                let kind = Int.random(in: 0...5, using: &random)
                var options = GenerationOptions.seeded(maximumNewTokens: Int.random(in: 1...12, using: &random))
                if kind == 4 { options.timeout = .milliseconds(5) }
                if kind == 5 { options.sampling.repeatPenalty = 1.2 }
                var events = kind < 2 ? Int.random(in: 1...8, using: &random) : .max
                let message = ChatMessage(.user, kind == 3 ? String(repeating: text, count: 90) : text)
                var reason = "let go"
                do {
                    for try await event in engine.generate([message], options: options) {
                        if case .finish(let summary) = event { reason = summary.reason.rawValue }
                        events -= 1
                        if events == 0 { break }
                    }
                } catch let error as LLMError {
                    reason = error.code.rawValue
                }
                return reason
            }
        }
    }
#endif
