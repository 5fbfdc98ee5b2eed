#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension LlamaActor {
    /// The number of tokens in the first sequence of the model for text.
    fileprivate var computedTokens: Int { loops[.text]?.model.sequences.ledger(0).count ?? 0 }
}

extension RealModel {
    /// Several requests side by side in one context.
    @Suite struct ManyAtOnce {
        static func configuration(_ sequences: Int = 8, context: Int = 4096, queue: Int = 64) -> LlamaConfiguration {
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
            let engine = try await LlamaActor.load(TestModel.light, configuration: Self.configuration())
            for _ in 0..<2 {
                // All requests are queued before the first is read, so that they run together.
                let streams = Self.questions.map {
                    engine.generate($0, options: .greedy(maximumNewTokens: 6))
                }
                for stream in streams { #expect(try await Answer(stream).summary?.reason == .maximumNewTokens) }
            }
            let one = try await Answer(engine.generate(capitalOfFrance, options: .greedy(maximumNewTokens: 8)))
            #expect(one.summary != nil && (!TestExtent.isFull || one.text.contains("Paris")))
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

        /// The cancelled request has a prompt, and no room in the context yet.
        @Test func aCancelledWaitingRequestIsRemoved() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: Self.configuration(2, context: 256))
            var running = engine.generate(Self.story, options: .greedy()).makeAsyncIterator()
            _ = try await running.next()
            let next = Task { try await Answer(engine.generate(Self.questions[0], options: .greedy())) }
            while await !engine.keepsNext() {}
            next.cancel()
            _ = await next.result
            // The first check may come before the step that finds the cancellation.
            _ = await engine.keepsNext()
            #expect(await !engine.keepsNext())
            // No other request started or ended in between.
            #expect(engine.isAnswering)
            await engine.unload()
        }

        @Test func aRequestBeyondTheQueueIsRefused() async throws {
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
            // The released requests free their room.
            running = []
            #expect(try await Answer(waiting).summary?.usage.generatedTokens == 4)
            let next = engine.generate(Self.questions[1], options: .greedy(maximumNewTokens: 4))
            #expect(try await Answer(next).summary != nil)
        }

        /// One model that answers for both roles has one queue.
        @Test func bothRolesOfAModelWaitInOneQueue() async throws {
            let engine = LlamaActor(configuration: Self.configuration(1, queue: 1))
            try await engine.load(TestModel.path, supportsVision: true)
            var running = engine.generate(Self.story, options: .greedy()).makeAsyncIterator()
            _ = try await running.next()
            let waiting = engine.generate(
                Self.questions[0], options: .greedy(maximumNewTokens: 4), role: .vision)
            for role in EngineRole.allCases {
                let error = await #expect(throws: LLMError.self) {
                    _ = try await Answer(engine.generate(Self.questions[1], options: .greedy(), role: role))
                }
                #expect(error?.code == .busy)
            }
            engine.stop()
            await #expect(throws: CancellationError.self) { _ = try await Answer(waiting) }
            await engine.unload()
        }

        /// Each of two models has its own queue.
        @Test func eachModelHasAQueueOfItsOwn() {
            let admission = Admission(sequences: 1, cells: 1, queueLimit: 0)
            func request(_ role: EngineRole) -> GenerationRequest {
                let (_, continuation) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
                return GenerationRequest(
                    role: role, messages: [], options: .greedy(), signal: StopSignal(),
                    stopwatch: TimeSource.system.stopwatch(), reply: GenerationReply(continuation))
            }
            var mailbox = Mailbox()
            let text = mailbox.add(request(.text), admission, queue: [.text])
            let vision = mailbox.add(request(.vision), admission, queue: [.vision])
            let both = mailbox.add(request(.vision), admission, queue: [.text, .vision])
            #expect(text == nil && vision == nil && both?.code == .busy)
        }

        @Test(.enabled(if: TestExtent.isFull)) func answersGoOnWhileManyTextsAreEmbedded() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration())
            var answer = engine.generate(Self.story, options: .greedy(maximumNewTokens: 4)).makeAsyncIterator()
            _ = try await answer.next()
            let isDone = Locked(false)
            let texts = [String](repeating: String(repeating: "word ", count: 60), count: 400)
            let vectors = Task {
                defer { isDone.withLock { $0 = true } }
                return try await engine.embed(texts)
            }
            // All 400 together take longer than an answer of this length, so it ends between them.
            var ended = false
            while let event = try await answer.next() { if case .finish = event { ended = true } }
            #expect(ended && !isDone.withLock { $0 })
            vectors.cancel()
            await #expect(throws: CancellationError.self) { _ = try await vectors.value }
            #expect(try await engine.embed(["a", "b"]).count == 2)
            await engine.unload()
        }

        /// As in an app that indexes its texts in separate tasks, all of which wait for the engine's thread.
        @Test(.enabled(if: TestExtent.isFull)) func answersGoOnWhileManyEmbed() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration())
            var answer = engine.generate(Self.story, options: .greedy(maximumNewTokens: 500)).makeAsyncIterator()
            while let event = try await answer.next() { if case .text = event { break } }
            let waiting = 30
            try await withThrowingTaskGroup(of: Int.self) { group in
                var before: Task<Int, Never>?
                await engine.whileOccupied {
                    before = Task { await engine.computedTokens }
                    for _ in 0..<waiting { group.addTask { try await engine.embed(["word"]).count } }
                    while engine.mailbox.withLock({ $0.vectors.count }) < waiting { await Task.yield() }
                }
                for try await count in group { #expect(count == 1) }
                let computed = await engine.computedTokens
                #expect(computed - (await before?.value ?? computed) >= waiting / 2)
            }
            await engine.unload()
        }

        /// The answers get a step between two computations of one long text.
        @Test(.enabled(if: TestExtent.isFull)) func oneLongTextPausesForOthers() async throws {
            try await blocking {
                let model = try LoadedModel(
                    path: TestModel.path, configuration: Self.configuration(1), progress: { _ in true })
                var pauses = 0
                let text = String(repeating: "word ", count: 300)
                let vector = try model.wholeEmbedder().embed(text, 0, signal: StopSignal()) { pauses += 1 }
                #expect(vector.count == model.weights.embeddingLength)
                #expect(pauses == 300 / 128)
                // After a cancellation in a pause, no further part is computed.
                let signal = StopSignal()
                pauses = 0
                #expect(throws: CancellationError.self) {
                    _ = try model.wholeEmbedder().embed(text, 0, signal: signal) {
                        pauses += 1
                        signal.cancel()
                    }
                }
                #expect(pauses == 1)
            }
        }

        /// Tokens of one model are no tokens of another.
        @Test func vectorsOfOneCallAreOfOneModel() async throws {
            try await blocking {
                let models = try (0..<2).map { _ in
                    try LoadedModel(
                        path: TestModel.path, configuration: Self.configuration(1), progress: { _ in true })
                }
                let weights = models[0].weights
                let request = VectorRequest(try ["a", "b"].map(weights.tokensToEmbed), weights.mark)
                func step(_ model: LoadedModel) throws -> Bool {
                    try request.check(model.weights.mark)
                    return try request.step(model.wholeEmbedder())
                }
                #expect(try step(models[0]) && !request.isDone)
                #expect(throws: VectorRequest.ModelChanged.self) { try step(models[1]) }
                #expect(try step(models[0]) && request.isDone)
            }
            let empty = LlamaActor()
            await #expect(throws: LLMError.self) { _ = try await empty.embed([]) }
        }

        @Test func vectorsDoNotWaitForAnAnswer() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration())
            var iterator = engine.generate(Self.story, options: .greedy(maximumNewTokens: 700))
                .makeAsyncIterator()
            _ = try await iterator.next()
            _ = try await engine.embed(["fox"])
            #expect(engine.isAnswering)
        }

        @Test(.enabled(if: TestExtent.isFull)) func aModelIsReplacedOnceItHasAnswered() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration(2))
            let streams = (0..<4).map { engine.generate(Self.questions[$0], options: .greedy(maximumNewTokens: 8)) }
            try await engine.load(TestModel.path, configuration: Self.configuration(1))
            #expect(!engine.isAnswering)
            for stream in streams { #expect(try await Answer(stream).summary != nil) }
        }
    }
}

extension LlamaActor {
    /// Whether a request with a finished prompt waits for room, checked between two steps.
    fileprivate nonisolated func keepsNext() async -> Bool {
        await visited { $0.mailbox.withLock { $0.waiting.contains { $0.prepared != nil } } }
    }
}
#endif
