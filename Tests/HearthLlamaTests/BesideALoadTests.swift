#if Llama
    import Dispatch
    import HearthBase
    import HearthInference
    @testable import HearthLlama
    import HearthTestSupport
    import Testing

    extension LlamaActor {
        /// Comes to the engine's thread and leaves.
        fileprivate func visit() {}
    }

    extension RealModel {
        /// What goes on while a model is being read.
        @Suite struct BesideALoad {
            private static func configuration(gibibytes: UInt64 = 8) -> LlamaConfiguration {
                LlamaConfiguration(contextLength: 2048, threadCount: 1, deviceMemory: gibibytes << 30, stateBytes: 0)
            }

            /// A load that stands still in the middle of its file until it is let go.
            struct StandingLoad {
                private let released = DispatchSemaphore(value: 0)
                private let load: Task<Void, any Error>
                private let isStanding = Locked(true)

                init(
                    _ engine: LlamaActor, _ role: EngineRole, sees: Bool = false,
                    configuration: LlamaConfiguration? = nil
                ) async {
                    let (began, source) = AsyncStream<Void>.makeStream()
                    let released = released
                    let isStanding = isStanding
                    load = Task {
                        try await engine.load(
                            TestModel.path, role: role, configuration: configuration, supportsVision: sees
                        ) { _ in
                            source.finish()
                            guard isStanding.withLock({ $0 }) else { return }
                            // Bounded, so that an engine that answers nobody meanwhile is a failure and no standstill.
                            _ = released.wait(timeout: .now() + 30)
                            isStanding.withLock { $0 = false }
                        }
                    }
                    for await _ in began {}
                }

                /// Whether it has not gone on by itself.
                var stands: Bool { isStanding.withLock { $0 } }

                func release() async throws {
                    released.signal()
                    try await load.value
                }
            }

            @Test func theOtherRoleAnswers() async throws {
                let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration())
                let load = await StandingLoad(engine, .vision)
                let answer = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
                #expect(answer.text.contains("Paris"))
                #expect(try await engine.embed(["one"]).count == 1)
                #expect(load.stands)
                #expect(throws: LLMError.self) { try engine.modelInformation(.vision) }
                try await load.release()
                #expect(try engine.modelInformation(.vision).contextLength == 2048)
                await engine.unload()
            }

            /// Who asks for the model that is being read waits for it, also for pictures that the one for text will see.
            @Test(
                arguments: [(.text, .text, false), (.vision, .vision, false), (.vision, .text, true)]
                    as [(EngineRole, EngineRole, Bool)])
            func whoeverAsksForItWaits(asked: EngineRole, loaded: EngineRole, sees: Bool) async throws {
                let engine = LlamaActor(configuration: Self.configuration())
                let load = await StandingLoad(engine, loaded, sees: sees)
                let stream = engine.generate(capitalOfFrance, options: .greedy(), role: asked)
                // By then the engine has looked at it.
                for _ in 0..<1000 { await engine.visit() }
                #expect(engine.isAnswering && load.stands)
                try await load.release()
                #expect(try await Answer(stream).text.contains("Paris"))
                await engine.unload()
            }

            /// No step is taken for requests that only wait for a model.
            @Test func noStepIsTakenForRequestsThatWait() {
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
                mailbox.add(VectorRequest(["a"]))
                #expect(starts() && !hasWork() && mailbox.hasWork())
            }

            /// The time-out counts the time in which a request waits for a model.
            @Test func aRequestThatWaitsForItTimesOut() async throws {
                let clock = ManualClock()
                let engine = LlamaActor(configuration: Self.configuration(), time: clock.time)
                let load = await StandingLoad(engine, .text)
                var options = GenerationOptions.greedy()
                options.timeout = .seconds(60)
                let stream = engine.generate(capitalOfFrance, options: options)
                await clock.sleepers(atLeast: 1)
                clock.advance(by: .seconds(61))
                #expect(try await Answer(stream).summary?.reason == .timedOut)
                #expect(load.stands)
                try await load.release()
                await engine.unload()
            }

            @Test func anUnloadStopsWhoWaitsForIt() async throws {
                let engine = LlamaActor(configuration: Self.configuration())
                let load = await StandingLoad(engine, .text)
                let stream = engine.generate(capitalOfFrance, options: .greedy())
                let unload = Task { await engine.unload(.text) }
                await #expect(throws: CancellationError.self) { _ = try await Answer(stream) }
                #expect(load.stands)
                try await load.release()
                await unload.value
            }

            @Test func whoeverWaitsForItIsStoppedAtOnce() async throws {
                let engine = LlamaActor(configuration: Self.configuration())
                let load = await StandingLoad(engine, .text)
                let stream = engine.generate(capitalOfFrance, options: .greedy())
                engine.stop()
                await #expect(throws: CancellationError.self) { _ = try await Answer(stream) }
                #expect(load.stands)
                try await load.release()
                await engine.unload()
            }

            @Test func whatGaveWayForItIsSaid() async throws {
                let engine = try await LlamaActor.load(
                    TestModel.path, configuration: Self.configuration(gibibytes: 4))
                // On a small device the model for text gives way.
                let load = await StandingLoad(engine, .vision)
                let error = await #expect(throws: LLMError.self) {
                    _ = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
                }
                #expect(error?.code == .modelNotLoaded && load.stands)
                try await load.release()
                await engine.unload()
            }

            /// Loads and unloads keep their order.
            @Test func anUnloadWaitsForIt() async throws {
                let engine = LlamaActor(configuration: Self.configuration())
                let load = await StandingLoad(engine, .text)
                let unload = Task { await engine.unload() }
                while engine.waitingForChange == 0 { await Task.yield() }
                try await load.release()
                await unload.value
                #expect(throws: LLMError.self) { try engine.modelInformation }
            }

            /// A prompt for one model comes in short steps while the other answers.
            @Test func thePromptOfOneLetsTheOtherAnswer() async throws {
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
                // The answer was still under way.
                #expect(!isReading.withLock { $0 } && pieces > 2)
                try await reader?.value
                #expect((1...256).contains(longest.withLock { $0 }))
                await engine.unload()
            }
        }
    }
#endif
