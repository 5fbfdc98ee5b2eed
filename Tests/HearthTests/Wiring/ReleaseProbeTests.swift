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
        let engine = ScriptedEngine([
            [.text("Par"), .text("is"), .finish(.endOfGeneration)], [.thinking("Hm"), .finish(.maximumNewTokens)],
        ])
        let opened = Locked<[ReleaseFiles]>([])
        let probe = EngineReleaseProbe(formats: [.gguf]) { files in
            opened.withLock { $0.append(files) }
            return engine
        }
        let report = try #require(try await probe.probe(candidate(release, canary: Canary(prompt: "Capital?"))))
        #expect(opened.withLock { $0 } == [ReleaseFiles(weights: try #require(release.weights))])
        #expect(report.text == "Paris" && report.generatedTokens == 2 && !report.isTimedOut)
        let own = [ChatMessage(.user, EngineReleaseProbe.question.prompt)]
        #expect(await engine.requests == [[ChatMessage(.user, "Capital?")], own])
        #expect(report.answers.map(\.text) == ["Paris", "Hm"] && report.answers.map(\.generatedTokens) == [2, 1])
        #expect(Canary(prompt: "Capital?").objection(to: report) == nil, "thinking is text")
    }

    /// A context that has no room for the second question is no fault of the model.
    @Test(arguments: [ErrorCode<ModelInformation>.exceededContextWindowSize, .notFinite])
    func theSecondQuestionIsAskedWhereItFits(_ code: ErrorCode<ModelInformation>) async throws {
        let folder = try TemporaryFolder()
        let release = try await install(try folder.write("x", Data("x".utf8)), in: folder)
        let engine = ScriptedEngine([[.text("Paris"), .finish(.endOfGeneration)], [.fail(LLMError(code, "no"))]])
        let probe = EngineReleaseProbe(formats: [.gguf]) { _ in engine }
        let candidate = try candidate(release)
        let task = Task { try await probe.probe(candidate) }
        if code == .exceededContextWindowSize {
            #expect(try #require(try await task.value).answers.isEmpty)
        } else {
            await #expect(throws: LLMError.self) { try await task.value }
        }
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

    /// Counts how often it is unloaded.
    private struct CountingEngine: ForwardingEngine {
        let engine: ScriptedEngine
        let unloads = Locked(0)

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

    #if os(Linux)
    @Test func theMemoryOfAProcessIsRead() {
        #expect(PeakMemory.bytes(of: getpid()) ?? 0 > 1 << 20)
        #expect(PeakMemory.bytes(of: Int32.max) == nil)
        #expect(PeakMemory.measurement()() != nil)
    }
    #endif

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
            EngineReleaseProbe(
                memory: EngineMemory(deviceMemory: memory << 20) { free.map { $0 << 20 } })
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

    /// A file that only looks like a model is refused before it becomes live.
    @Test func whatOnlyLooksLikeAModelIsRefused() async throws {
        let folder = try TemporaryFolder()
        let weights = try folder.write("x.gguf", Data("GGUF".utf8) + Data(repeating: 0, count: 500))
        let release = try await install(weights, in: folder)
        let manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40,
            probe: EngineReleaseProbe())
        let error = await #expect(throws: StoreError.self) { try await manager.activate(release.identity) }
        #expect(error?.code == .probeFailed)
        let state = try await manager.store.state(of: release.identity.family)
        #expect(state.active == nil && state.isHeldBack(release.identity))
    }
    #endif
}
