import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import Hearth

@Suite(.timeLimit(.minutes(10))) struct ReleaseProbeTests {
    /// A home with one release of the given weights.
    private func install(
        _ weights: Path, projector: Path? = nil, format: ModelFormat = .gguf, in folder: TemporaryFolder
    ) async throws -> InstalledRelease {
        try await ModelStore(home: folder.path("home")).install(
            "tiny@1.0.0", weights: weights, projector: projector, format: format)
    }

    private func candidate(
        _ release: InstalledRelease, canary: Canary = Canary(prompt: "Hello", timeoutSeconds: 60)
    ) throws -> ProbeCandidate {
        ProbeCandidate(release: release, weights: try #require(release.weights), canary: canary)
    }

    @Test func itAsksTheCanaryAndMeasures() async throws {
        let folder = try TemporaryFolder()
        let release = try await install(try folder.write("x", Data("x".utf8)), in: folder)
        let engine = ScriptedEngine([[.text("Par"), .text("is"), .finish(.endOfGeneration)]])
        let opened = Locked<[ReleaseFiles]>([])
        let probe = EngineReleaseProbe(formats: [.gguf]) { files in
            opened.withLock { $0.append(files) }
            return engine
        }
        let report = try #require(try await probe.probe(candidate(release, canary: Canary(prompt: "Capital?"))))
        #expect(opened.withLock { $0 } == [ReleaseFiles(weights: try #require(release.weights))])
        #expect(report.text == "Paris" && report.generatedTokens == 2 && !report.isTimedOut)
        #expect(await engine.requests == [[ChatMessage(.user, "Capital?")]])
    }

    @Test func whatNoEngineRunsIsNotJudged() async throws {
        let folder = try TemporaryFolder()
        let release = try await install(try folder.write("x", Data("x".utf8)), format: .onnx, in: folder)
        let probe = EngineReleaseProbe(formats: [.gguf]) { _ in throw LLMError(.cannotLoad, "never called") }
        #expect(try await probe.probe(candidate(release)) == nil)
    }

    @Test func aReleaseThatNeverAnswersRunsOutOfTime() async throws {
        let folder = try TemporaryFolder()
        let release = try await install(try folder.write("x", Data("x".utf8)), in: folder)
        let clock = ManualClock()
        let engine = ScriptedEngine([[.text("I"), .waitForCancellation]])
        let probe = EngineReleaseProbe(formats: [.gguf], time: clock.time) { _ in engine }
        let candidate = try candidate(release)
        let task = Task { try await probe.probe(candidate) }
        await engine.stalled()
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(60))
        let report = try #require(try await task.value)
        #expect(report.isTimedOut)
        #expect(candidate.canary.objection(to: report) != nil)
    }

    @Test func aCancelledProbeIsNoReport() async throws {
        let folder = try TemporaryFolder()
        let release = try await install(try folder.write("x", Data("x".utf8)), in: folder)
        let engine = ScriptedEngine([[.waitForCancellation]])
        let probe = EngineReleaseProbe(formats: [.gguf]) { _ in engine }
        let candidate = try candidate(release)
        let task = Task { try await probe.probe(candidate) }
        await engine.stalled()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// Counts how often it lets go of its memory.
    private struct CountingEngine: InferenceEngine {
        let engine: ScriptedEngine
        let unloads = Locked(0)

        var modelInformation: ModelInformation { get async throws { await engine.modelInformation } }

        func generate(
            _ messages: [ChatMessage], options: GenerationOptions
        ) -> AsyncThrowingStream<GenerationEvent, any Error> { engine.generate(messages, options: options) }

        func unload() async {
            await Task.yield()
            unloads.withLock { $0 += 1 }
        }
    }

    /// What comes next is planned with the memory that is free then.
    @Test(arguments: ["answers", "fails", "says nothing more", "takes too long", "is cancelled"])
    func whatWasTriedIsNoLongerInMemory(_ end: String) async throws {
        let folder = try TemporaryFolder()
        let release = try await install(try folder.write("x", Data("x".utf8)), in: folder)
        let clock = ManualClock()
        let steps: [ScriptedEngine.Step] =
            switch end {
            case "answers": [.text("a"), .finish(.endOfGeneration)]
            case "fails": [.text("a"), .fail(LLMError(.generateFailed, "no"))]
            case "says nothing more": [.text("a")]
            default: [.text("a"), .waitForCancellation]
            }
        let engine = CountingEngine(engine: ScriptedEngine([steps]))
        let probe = EngineReleaseProbe(formats: [.gguf], time: clock.time) { _ in engine }
        let candidate = try candidate(release)
        let task = Task { try await probe.probe(candidate) }
        if ["takes too long", "is cancelled"].contains(end) { await engine.engine.stalled() }
        if end == "is cancelled" { task.cancel() }
        if end == "takes too long" {
            await clock.sleepers(atLeast: 1)
            clock.advance(by: .seconds(60))
        }
        _ = await task.result
        #expect(engine.unloads.withLock { $0 } == 1)
    }

    @Test(
        arguments: [
            ("VmHWM:\t    1234 kB", "VmHWM", 1_263_616), ("VmHWM: x kB", "VmHWM", nil), ("VmHWM: 1", "VmHWM", nil),
            ("VmRSS: 1 kB\nVmHWM: 2 kB", "VmHWM", 2048), ("", "VmHWM", nil),
            ("VmHWM: 18446744073709551615 kB", "VmHWM", nil),
        ] as [(String, String, UInt64?)])
    func theSystemsWordOnMemoryIsRead(_ text: String, _ key: String, _ bytes: UInt64?) {
        #expect(PeakMemory.value(key, in: text) == bytes)
    }

    @Test(
        arguments: [
            // size, weights, memory (all in millions), what is made
            (2000, 1000, 4000, nil), (2000, 1000, 2000, "q8_0"), (2000, 1000, 1500, "q6_k"),
            (2000, 1000, 1250, "q5_k_m"),
            (2000, 1000, 1100, "q4_k_m"), (2000, 1000, 1045, "q4_0"),
            // What is loaded with a shorter context is worth it: 7 thousand millions in F16 on 5.5 GB.
            (2000, 1000, 1030, "q4_0"), (2000, 1000, 910, "q4_0"), (14000, 7000, 5500, "q4_0"),
            // Where none fits, none is worth the work.
            (2000, 1000, 909, nil), (2000, 1000, 100, nil), (14000, 7000, 5100, nil),
            (4000, 1000, 2000, "q8_0"),
            (1060, 1000, 1400, "q6_k"), (560, 1000, 500, nil), (0, 1000, 1, nil), (2000, 0, 1, nil),
        ] as [(UInt64, UInt64, UInt64, String?)])
    func theBestThatFitsIsChosen(_ size: UInt64, _ weights: UInt64, _ memory: UInt64, _ expected: String?) {
        let choice = QuantizationChoice(
            size: size * 1_000_000, parameterCount: weights * 1_000_000, deviceMemory: memory * 1_000_000)
        #expect(choice?.candidate.name == expected)
    }

    #if Llama
        /// The real engine on the real default model, with the pattern of a publisher.
        @Test func theDefaultModelPasses() async throws {
            let folder = try TemporaryFolder()
            let release = try await install(TestModel.path, in: folder)
            let start = ContinuousClock.now
            let report = try #require(
                try await EngineReleaseProbe().probe(
                    candidate(
                        release,
                        canary: Canary(
                            prompt: "What is the capital of France?", pattern: "Paris",
                            timeoutSeconds: 300))))
            print(
                "probe: \(start.duration(to: .now)) for the default model, load \(report.loadSeconds) s, answer "
                    + "\(report.answerSeconds) s, \(report.tokensPerSecond) tokens/s, \(report.peakMemoryBytes ?? 0) bytes"
            )
            #expect(!report.text.isEmpty && !report.isTimedOut, "\(report.text)")
            #expect(report.generatedTokens > 1 && report.tokensPerSecond > 0)
        }

        /// They are the user's own conversations, and there is room for so many.
        @Test func whatIsAskedIsNotKeptAsAState() async throws {
            let folder = try TemporaryFolder()
            let release = try await install(TestModel.path, in: folder)
            var configuration = Configuration()
            configuration.stateFolder = folder.path("states")
            let prompt = String(repeating: "The fox walks along the quiet river. ", count: 30)
            let report = try await EngineReleaseProbe(configuration: configuration).probe(
                candidate(release, canary: Canary(prompt: prompt, timeoutSeconds: 300)))
            #expect(report?.generatedTokens ?? 0 > 0)
            #expect(try LocalFileSystem().status(at: folder.path("states")) == nil)
        }

        /// What is loaded stays, and what does not fit beside it is not judged.
        @Test func itIsTriedInTheRoomBesideWhatIsLoaded() async throws {
            let folder = try TemporaryFolder()
            let candidate = try candidate(try await install(TestModel.path, in: folder))
            func probe(_ memory: UInt64, free: UInt64?) -> EngineReleaseProbe {
                EngineReleaseProbe(deviceMemory: memory << 20, freeMemory: { free.map { $0 << 20 } })
            }
            // With 1024 tokens it takes 130 MiB, with 4096 some 200.
            #expect(try await probe(4 << 10, free: 100).probe(candidate) == nil)
            #expect(try await probe(4 << 10, free: 180).probe(candidate)?.generatedTokens ?? 0 > 0)
            // What fits alone no better is refused.
            for free in [nil, 10] as [UInt64?] {
                await #expect(throws: LLMError.self) { try await probe(300, free: free).probe(candidate) }
            }
            var insisting = candidate
            insisting.ignoresMemory = true
            #expect(try await probe(300, free: 10).probe(insisting) != nil)
        }

        @Test(
            arguments: [
                (4096, nil, 0), (4096, 8192, 0), (4096, 4096, 0), (4096, 800, 3584 - 700), (4096, 0, 3584), (0, 0, 0),
            ] as [(UInt64, UInt64?, UInt64)])
        func whatIsTakenIsWhatIsNotFree(_ memory: UInt64, _ free: UInt64?, _ occupied: UInt64) {
            let room = ProbeRoom(deviceMemory: memory << 20, free: free.map { $0 << 20 })
            #expect(room.occupied == occupied << 20)
        }

        /// What sees for a model takes room beside it.
        @Test func aProjectorCountsWhereAModelHasToFit() async throws {
            let (text, seeing) = (try TemporaryFolder(), try TemporaryFolder())
            let alone = try await install(TestModel.path, in: text)
            let both = try await install(TestModel.path, projector: try TestModel.path(.projector), in: seeing)
            let size = alone.receipt.totalSize
            let preparer = QuantizingPreparer(deviceMemory: size + size / 5 + (256 << 20))
            #expect(try await preparer.recipe(for: alone) == nil)
            #expect(try await preparer.recipe(for: both)?.settings == "q4_k_m")
            // Less memory than the projector takes is no more than none.
            #expect(try await QuantizingPreparer(deviceMemory: 1000).recipe(for: both) == nil)
        }

        /// What llama.cpp is sure to refuse is known by its head, before anybody reads all of it.
        @Test func whatCannotBeQuantisedIsKnownByItsHead() async throws {
            let folder = try TemporaryFolder()
            let whole = try await install(TestModel.path, in: folder)
            let preparer = QuantizingPreparer(deviceMemory: 1000)
            let recipe = Recipe(
                engine: "llama.cpp", engineVersion: "1", settings: "q4_0", fileName: "m.gguf", expectedSize: 1,
                summary: "")
            try await preparer.check(recipe, of: whole)
            let weights = try #require(whole.weights)
            try Data(contentsOf: weights.url).dropLast(1000).write(to: weights.url)
            await #expect {
                try await preparer.check(recipe, of: whole)
            } throws: {
                ($0 as? LLMError)?.code == .cannotLoad
            }
        }

        /// A file that only looks like a model is refused before it becomes live.
        @Test func whatOnlyLooksLikeAModelIsRefused() async throws {
            let folder = try TemporaryFolder()
            let weights = try folder.write("x.gguf", Data("GGUF".utf8) + Data(repeating: 0, count: 500))
            let release = try await install(weights, in: folder)
            let manager = ModelManager(
                home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40,
                probe: EngineReleaseProbe())
            await #expect(throws: ActivationError.self) { try await manager.activate(release.identity) }
            let state = try await manager.store.state(of: release.identity.family)
            #expect(state.active == nil && state.isHeldBack(release.identity))
        }

        /// A model that is too large for a device is pulled all the same, made smaller there, and answers.
        @Test func aModelThatIsTooLargeIsPulledAndQuantised() async throws {
            let folder = try TemporaryFolder()
            let large = folder.path("f16.gguf")
            try await LlamaQuantizing.makeF16(of: TestModel.path, at: large)
            // As `hearth publish` writes it.
            let file = try #require(try LocalFileSystem().status(at: large))
            let digest = try LocalFileSystem().digest(ofFile: large).hex
            try folder.write(
                "models.json",
                Data(
                    """
                    {"schemaVersion": 1, "models": [{"id": "m", "version": "1.0.0", "filename": "m-v1.0.0-f16.gguf",
                     "variant": "f16", "sizeBytes": \(file.size), "sha256": "\(digest)", "downloadUrl": "f16.gguf",
                     "requirements": {"memoryBytes": \(file.size + file.size / 5 + (256 << 20))}}]}
                    """.utf8))
            let reference = try ModelReference(parsing: "m")
            func manager(_ mebibytes: UInt64) throws -> ModelManager {
                var configuration = Configuration()
                configuration.origins = ["m": folder.path("models.json").url]
                return try ModelManager(
                    home: folder.path("home"), configuration: configuration,
                    environment: ["HEARTH_NETWORK": "unmetered"],
                    http: DefaultHTTPClient(), deviceMemory: mebibytes << 20)
            }
            // Not even Q4_0 of it would fit here.
            await #expect {
                try await manager(300).pull(reference)
            } throws: {
                ($0 as? DeliveryError)?.code == .notEnoughMemory
            }
            // F16 does not fit into 470 MiB as this is counted, Q8_0 does.
            let manager = try manager(470)
            let live = try await manager.pull(reference).release
            #expect(live.isActive)
            let artifact = try #require(try await manager.store.artifact(of: live))
            #expect(artifact.size < live.receipt.totalSize * 7 / 10)
            #expect(try GGUFHeader(file: artifact.path).quantization == "q8_0")
            #expect(try await manager.weightsToOpen(of: live) == artifact.path)
            #expect(try await QuantizingPreparer(deviceMemory: 8 << 30).recipe(for: live) == nil)
        }

        @Test func aCancelledQuantisationEnds() async throws {
            let folder = try TemporaryFolder()
            let target = folder.path("out.gguf")
            let (begun, source) = AsyncStream<Void>.makeStream()
            // It goes on only once it is cancelled, however busy the machine is.
            let cancelled = DispatchSemaphore(value: 0)
            let task = Task {
                try await LlamaQuantizing.makeF16(of: TestModel.path, at: target) { _ in
                    source.yield()
                    cancelled.wait()
                    cancelled.signal()
                }
            }
            for await _ in begun { break }
            task.cancel()
            cancelled.signal()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    #endif
}
