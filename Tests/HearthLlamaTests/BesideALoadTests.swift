#if Llama
import Dispatch
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension LlamaActor {
    /// Waits for the engine's thread once.
    fileprivate func waitForThread() {}
}

extension RealModel {
    /// Requests while a model is being read.
    @Suite struct BesideALoad {
        private static func configuration(gibibytes: UInt64 = 8) -> LlamaConfiguration {
            LlamaConfiguration(contextLength: 2048, threadCount: 1, deviceMemory: gibibytes << 30, stateBytes: 0)
        }

        /// A load that stops in the middle of its file until it is released.
        struct StoppedLoad {
            private let released = DispatchSemaphore(value: 0)
            private let load: Task<Void, any Error>
            private let isHeld = Locked(true)

            init(
                _ engine: LlamaActor, _ role: EngineRole, sees: Bool = false,
                configuration: LlamaConfiguration? = nil
            ) async {
                let (began, source) = AsyncStream<Void>.makeStream()
                let released = released
                let isHeld = isHeld
                load = Task {
                    try await engine.load(
                        TestModel.path, role: role, configuration: configuration, supportsVision: sees
                    ) { _ in
                        source.finish()
                        guard isHeld.withLock({ $0 }) else { return }
                        // Bounded, so that an engine that does not answer during a load fails the test instead of
                        // blocking it.
                        _ = released.wait(timeout: .now() + 30)
                        isHeld.withLock { $0 = false }
                    }
                }
                for await _ in began {}
            }

            /// Whether the load is still stopped.
            var isStopped: Bool { isHeld.withLock { $0 } }

            func release() async throws {
                released.signal()
                try await load.value
            }
        }

        @Test func theOtherRoleAnswers() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration())
            let load = await StoppedLoad(engine, .vision)
            let answer = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
            #expect(answer.text.contains("Paris"))
            #expect(try await engine.embed(["one"]).count == 1)
            #expect(load.isStopped)
            #expect(throws: LLMError.self) { try engine.modelInformation(.vision) }
            try await load.release()
            #expect(try engine.modelInformation(.vision).contextLength == 2048)
            await engine.unload()
        }

        /// A request for the model being read waits for it, also a request for vision that the model for text will
        /// answer.
        @Test(
            arguments: [(.text, .text, false), (.vision, .vision, false), (.vision, .text, true)]
                as [(EngineRole, EngineRole, Bool)])
        func aRequestForItWaits(asked: EngineRole, loaded: EngineRole, sees: Bool) async throws {
            let engine = LlamaActor(configuration: Self.configuration())
            let load = await StoppedLoad(engine, loaded, sees: sees)
            let stream = engine.generate(capitalOfFrance, options: .greedy(), role: asked)
            // The engine has then had time to handle the request.
            for _ in 0..<1000 { await engine.waitForThread() }
            #expect(engine.isAnswering && load.isStopped)
            try await load.release()
            #expect(try await Answer(stream).text.contains("Paris"))
            await engine.unload()
        }

        /// Requests that only wait for a model cause no step.
        @Test func waitingRequestsCauseNoStep() {
            let (_, continuation) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
            let request = GenerationRequest(
                role: .vision, messages: [], options: .greedy(),
                stopwatch: TimeSource.system.stopwatch(), reply: GenerationReply(continuation))
            var mailbox = Mailbox()
            func starts() -> Bool { mailbox.startsServing() }
            func hasWork(_ held: GenerationRequest...) -> Bool { mailbox.hasWork(except: held, holdsVectors: true) }
            #expect(!starts() && !hasWork())
            #expect(mailbox.add(request, Admission(sequences: 1, cells: 1), queue: [.vision]) == nil)
            let (first, second) = (starts(), starts())
            #expect(first && !second)
            #expect(hasWork() && !hasWork(request))
            let (third, fourth) = (starts(), starts())
            #expect(third && !fourth)
            request.signal.expire()
            #expect(hasWork(request))
            mailbox.remove([request])
            #expect(!hasWork() && !starts())
            mailbox.add(VectorRequest([[1]], LoadMark()))
            #expect(starts() && !hasWork() && mailbox.hasWork())
        }

        /// The time-out includes the wait for a model.
        @Test func aRequestThatWaitsForItTimesOut() async throws {
            let clock = ManualClock()
            let engine = LlamaActor(configuration: Self.configuration(), time: clock.time)
            let load = await StoppedLoad(engine, .text)
            var options = GenerationOptions.greedy()
            options.timeout = .seconds(60)
            let stream = engine.generate(capitalOfFrance, options: options)
            await clock.sleepers(atLeast: 1)
            clock.advance(by: .seconds(61))
            #expect(try await Answer(stream).summary?.reason == .timedOut)
            #expect(load.isStopped)
            try await load.release()
            await engine.unload()
        }

        @Test func anUnloadStopsRequestsThatWaitForIt() async throws {
            let engine = LlamaActor(configuration: Self.configuration())
            let load = await StoppedLoad(engine, .text)
            let stream = engine.generate(capitalOfFrance, options: .greedy())
            let unload = Task { await engine.unload(.text) }
            await #expect(throws: CancellationError.self) { _ = try await Answer(stream) }
            #expect(load.isStopped)
            try await load.release()
            await unload.value
        }

        @Test func stopEndsWaitingRequestsAtOnce() async throws {
            let engine = LlamaActor(configuration: Self.configuration())
            let load = await StoppedLoad(engine, .text)
            let stream = engine.generate(capitalOfFrance, options: .greedy())
            engine.stop()
            await #expect(throws: CancellationError.self) { _ = try await Answer(stream) }
            #expect(load.isStopped)
            try await load.release()
            await engine.unload()
        }

        @Test func aRequestForTheUnloadedModelIsRefused() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: Self.configuration(gibibytes: 4))
            // On a small device the load unloads the model for text.
            let load = await StoppedLoad(engine, .vision)
            let error = await #expect(throws: LLMError.self) {
                _ = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
            }
            #expect(error?.code == .modelNotLoaded && load.isStopped)
            try await load.release()
            await engine.unload()
        }

        /// Loads and unloads run in the order of their calls.
        @Test func anUnloadWaitsForIt() async throws {
            let engine = LlamaActor(configuration: Self.configuration())
            let load = await StoppedLoad(engine, .text)
            let unload = Task { await engine.unload() }
            while engine.waitingForChange == 0 { await Task.yield() }
            try await load.release()
            await unload.value
            #expect(throws: LLMError.self) { try engine.modelInformation }
        }

        /// A prompt for one model is computed in short steps while the other answers.
        @Test(.enabled(if: TestExtent.isFull)) func anAnswerContinuesBesideThePromptOfTheOtherModel() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration())
            try await engine.load(TestModel.path, role: .vision)
            let isReading = Locked(true)
            let longest = Locked(0)
            var reader: Task<Void, any Error>?
            var pieces = 0
            for try await event in engine.generate(Replacing.story, options: .greedy(maximumNewTokens: 700)) {
                guard case .text = event else { continue }
                pieces += 1
                reader =
                    reader
                    ?? Task {
                        defer { isReading.withLock { $0 = false } }
                        var before: Int?
                        let stream = engine.generate(
                            Cancellation.long, options: .greedy(maximumNewTokens: 1), role: .vision)
                        for try await event in stream {
                            guard case .phase(.prefill(let done, _)) = event else { continue }
                            if let before { longest.withLock { $0 = max($0, done - before) } }
                            before = done
                        }
                    }
                if !isReading.withLock({ $0 }) { break }
            }
            // The answer was still running.
            #expect(!isReading.withLock { $0 } && pieces > 2)
            try await reader?.value
            #expect((1...256).contains(longest.withLock { $0 }))
            await engine.unload()
        }
    }
}
#endif
