import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// What of an engine's answers counts while its release is on probation, and what its end leaves on the disk.
@Suite(.timeLimit(.minutes(10))) struct WatchedEngineTests {
    private let folder: TemporaryFolder
    private let manager: ModelManager
    private let release: ReleaseIdentity

    init() async throws {
        folder = try TemporaryFolder()
        manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
        let installed = try await manager.store.install(
            "tiny@1.0.0", weights: try folder.write("x", Data("x".utf8)))
        release = try await manager.activate(installed.identity).identity
    }

    private func probation() async throws -> Probation? {
        try await manager.store.state(of: release.family).probation
    }

    /// The marks that are on the disk.
    private func marks() -> [String] {
        let names = FileManager.default.enumerator(atPath: folder.path("home/marks").string)
        return (names?.compactMap { $0 as? String } ?? []).filter { $0.split(separator: "/").count == 3 }
    }

    private func watched(_ engine: ScriptedEngine) -> WatchedEngine {
        WatchedEngine(TextToolEngine(engine), of: release, in: manager)
    }

    /// Listens to an answer to its end.
    private func hear(_ engine: WatchedEngine, _ options: GenerationOptions = GenerationOptions()) async throws {
        for try await _ in engine.generate([ChatMessage(.user, "?")], options: options) {}
    }

    @Test(
        arguments: [
            ([.text("a"), .finish(.endOfGeneration)], 1), ([.text("a"), .finish(.stopString)], 1),
            ([.text("a"), .finish(.maximumNewTokens)], 1), ([.text("a"), .finish(.contextFull)], 1),
            ([.thinking("a"), .finish(.maximumNewTokens)], 1),
            // What was cut short, and what says nothing.
            ([.text("a"), .finish(.timedOut)], 0), ([.finish(.endOfGeneration)], 0), ([.text("a")], 0),
            ([.text("a"), .toolCall(ToolCall(id: "1", name: "t", arguments: "{}")), .finish(.endOfGeneration)], 0),
            ([.text("a"), .fail(LLMError(.generateFailed, "no"))], 0),
        ] as [([ScriptedEngine.Step], Int)])
    func onlyAnAnswerCounts(_ steps: [ScriptedEngine.Step], _ expected: Int) async throws {
        let engine = watched(ScriptedEngine([steps]))
        do { try await hear(engine) } catch is LLMError {}
        await engine.stop()
        #expect(try await probation()?.answers == expected)
        #expect(marks().isEmpty)
    }

    private struct Weather: Tool {
        struct Arguments: Codable { var city: String }
        let name = "weather"
        let description = "Tells the weather."
        func call(_ arguments: Arguments) -> String { "sunny" }
    }

    /// Of a turn with calls only its end is an answer, also where the calls are text.
    @Test(arguments: [(FinishReason.stopString, 1), (.endOfGeneration, 1), (.maximumNewTokens, 1)])
    func aCallWrittenInTextIsNoAnswer(_ reason: FinishReason, _ expected: Int) async throws {
        let call = #"call>{"name": "weather", "arguments": {"city": "Paris"}}"#
        let scripted = ScriptedEngine([
            [.text("Well. <tool_"), .text(call), .finish(reason)], [.text("Sunny."), .finish(.endOfGeneration)],
        ])
        let engine = watched(scripted)
        _ = try await LanguageModelSession(model: engine, tools: [Weather()]).respond(to: "Paris?")
        #expect(await scripted.requests.count == (reason == .maximumNewTokens ? 1 : 2))
        #expect(try await probation()?.answers == expected)
    }

    @Test func preparingForAQuestionProvesNothing() async throws {
        let script: [ScriptedEngine.Step] = [.text("a"), .finish(.maximumNewTokens)]
        let scripted = ScriptedEngine(Array(repeating: script, count: 5))
        let engine = watched(scripted)
        for _ in 1...3 {
            let session = LanguageModelSession(model: engine)
            session.prewarm()
            // A turn waits for it; this one is none of the model's, and so makes nothing of its own.
            let asked = await scripted.requests.count
            while await scripted.requests.count == asked { await Task.yield() }
        }
        #expect(await scripted.preparations.count == 3)
        try await hear(engine)
        await engine.stop()
        #expect(try await probation()?.answers == 1)
    }

    @Test func threeAnswersEndTheProbation() async throws {
        let engine = watched(
            ScriptedEngine(Array(repeating: [.text("a"), .finish(.endOfGeneration)], count: 3)))
        for count in 1...3 {
            try await hear(engine)
            #expect(try await probation()?.answers == (count < 3 ? count : nil))
        }
    }

    // MARK: - The end

    /// Whoever stops it and ends the program looks as if the answer had ended that, unless the mark goes first.
    @Test func afterItsEndNothingIsLeft() async throws {
        let scripted = ScriptedEngine([[.text("a"), .waitForCancellation], [.text("b"), .finish(.endOfGeneration)]])
        let engine = watched(scripted)
        let listener = Task { try await hear(engine) }
        await scripted.stalled()
        #expect(marks().count == 1)
        // As a command does that was cancelled itself.
        listener.cancel()
        let end = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await engine.stop()
            return marks()
        }
        #expect(await end.value.isEmpty)
        _ = await listener.result
        await #expect(throws: CancellationError.self) { try await hear(engine) }
        #expect(await scripted.requests.count == 1, "no other begins")
    }

    /// An answer that nobody let go of is stopped as well.
    @Test func itStopsWhatIsUnderWay() async throws {
        let scripted = ScriptedEngine([[.text("a"), .waitForCancellation]])
        let engine = watched(scripted)
        let listener = Task { try await hear(engine) }
        await scripted.stalled()
        await engine.stop()
        #expect(marks().isEmpty)
        // Nobody cancelled the one who listens: without a word what he heard would look whole.
        await #expect(throws: CancellationError.self) { try await listener.value }
    }

    /// The home is held by somebody else, and nobody waits for that for ever.
    @Test func itWaitsNoLongerThanItIsTold() async throws {
        let clock = ManualClock()
        let lock = try #require(try FileLock.tryAcquire(manager.store.layout.lock))
        let held = ModelManager(
            home: folder.path("home"), origins: [], time: clock.time, network: UnmonitoredNetwork(),
            deviceMemory: 1 << 40)
        let scripted = ScriptedEngine([[.text("a"), .waitForCancellation]])
        let engine = WatchedEngine(scripted, of: release, in: held)
        let listener = Task { try await hear(engine) }
        await scripted.stalled()
        clock.advance(by: .seconds(3))
        // The record of these seconds waits for the lock.
        let end = Task { await engine.stop(within: .milliseconds(1), clock.time) }
        await clock.sleepers(atLeast: 2)
        clock.advance(by: .milliseconds(1))
        await end.value
        #expect(marks().isEmpty, "that goes first")
        lock.release()
        clock.advance(by: .seconds(20))
        _ = await listener.result
        await #expect(throws: CancellationError.self) { try await hear(engine) }
    }
}
