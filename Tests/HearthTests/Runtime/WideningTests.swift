import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import Hearth

/// Context windows that grow when a request needs more.
@Suite(.timeLimit(.minutes(5))) struct WideningTests {
    /// Engines that were made for 8192 tokens and open 1024; each token takes a MiB of memory. A prompt has as many tokens as
    /// bytes.
    private final class Engines: Sendable {
        private struct Engine: InferenceEngine, TokenReader {
            let window: Int
            let gate: Barrier?
            let log: Locked<[String]>

            var modelInformation: ModelInformation {
                var information = ModelInformation(description: "windowed", contextLength: window)
                information.trainedContextLength = 8192
                return information
            }

            var capabilities: EngineCapabilities { [] }

            func generate(
                _ messages: [ChatMessage], options: GenerationOptions,
                onEvent: @escaping @Sendable (GenerationEvent) -> Void
            ) async throws -> GenerationSummary {
                let count = messages.reduce(0) { $0 + $1.content.utf8.count }
                guard count + max(1, options.leastAnswer) <= window else {
                    throw ContextFit.exceeded(tokens: "\(count)", window: window)
                }
                onEvent(.text("a"))
                if let gate { try await gate.pass() }
                let none = GenerationTimings(
                    firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0)
                return GenerationSummary(
                    reason: .endOfGeneration,
                    usage: TokenUsage(promptTokens: count, cachedTokens: 0, generatedTokens: 1), timings: none)
            }

            func unload() async { log.withLock { $0.append("unload \(window)") } }
        }

        let log = Locked<[String]>([])
        let gates = Locked<[Barrier]>([])
        /// Windows that cannot be loaded although they fit by plan.
        let broken = Locked<Set<Int>>([])

        var registry: EngineRegistry {
            var registry = EngineRegistry()
            registry.register(.gguf) { request in
                let bytes = UInt64(request.configuration.contextLength ?? 1024) << 20
                let budget = MemoryPlan.Device(memory: request.deviceMemory, occupied: request.occupied).budget
                guard bytes <= budget else { throw LLMError(.doesNotFit, "too large") }
                return bytes
            } open: { [log, gates, broken] request in
                let window = request.configuration.contextLength ?? 1024
                log.withLock { $0.append("open \(window)") }
                if broken.withLock({ $0.contains(window) }) { throw LLMError(.cannotLoad, "broken") }
                return Engine(window: window, gate: gates.withLock { $0.isEmpty ? nil : $0.removeFirst() }, log: log)
            }
            return registry
        }
    }

    private let folder: TemporaryFolder
    private let engines = Engines()

    init() throws { folder = try TemporaryFolder() }

    /// A model on a device with memory for `tokens`.
    private func model(memory tokens: Int, _ configuration: Configuration = Configuration()) async throws -> LiveModel {
        let hearth = try Hearth(
            home: folder.path("home"), configuration: configuration, environment: ["HEARTH_NETWORK": "offline"],
            deviceMemory: UInt64(tokens) * (1 << 20) / 7 * 8 + (1 << 20), engines: engines.registry,
            pressure: Plenty())
        let release = try await hearth.manager.store.install(
            "one@1.0.0", weights: try folder.write("one", Data("one".utf8)))
        _ = try await hearth.manager.store.activate(release.identity)
        return try await hearth.find(ModelReference(parsing: "one"), policy: .localOnly)
    }

    private func ask(_ model: LiveModel, _ tokens: Int) async throws -> Int {
        let messages = [ChatMessage(.user, String(repeating: "a", count: tokens))]
        let options = GenerationOptions(maximumNewTokens: 100)
        return try await model.generate(messages, options: options) { _ in }.usage.promptTokens
    }

    private var log: [String] { engines.log.withLock { $0 } }

    @Test func aPromptThatIsTooLongOpensALargerWindow() async throws {
        let model = try await model(memory: 30_000)
        #expect(try await ask(model, 900) == 900)
        #expect(log == ["open 1024"])
        // The answer needs 100 tokens of the window.
        #expect(try await ask(model, 925) == 925)
        #expect(log == ["open 1024", "unload 1024", "open 2048"])
        #expect(try await ask(model, 8000) == 8000)
        #expect(log.suffix(2) == ["unload 2048", "open 8192"])
        // The answer gets what the largest window leaves.
        #expect(try await ask(model, 8180) == 8180)
        let error = await #expect(throws: LLMError.self) { try await ask(model, 8192) }
        #expect(error?.code == .exceededContextWindowSize && error?.neededTokens == 8192)
        #expect(log.count == 5)
    }

    /// The window is then just large enough, or stays as it is.
    @Test func memoryLimitsTheWindow() async throws {
        let model = try await model(memory: 2400)
        #expect(try await ask(model, 2100) == 2100)
        #expect(log.suffix(1) == ["open 2304"])
        let error = await #expect(throws: LLMError.self) { try await ask(model, 3000) }
        #expect(error?.code == .exceededContextWindowSize)
        #expect(try await ask(model, 2303) == 2303, "with a shorter answer")
        #expect(log == ["open 1024", "unload 1024", "open 2304"])
    }

    @Test func aConfiguredWindowStays() async throws {
        var configuration = Configuration()
        configuration.contextLength = 512
        let model = try await model(memory: 30_000, configuration)
        let error = await #expect(throws: LLMError.self) { try await ask(model, 600) }
        #expect(error?.code == .exceededContextWindowSize)
        #expect(try await ask(model, 500) == 500)
        #expect(log == ["open 512"])
    }

    @Test func runningAnswersEndBeforeTheWindowGrows() async throws {
        let gate = Barrier()
        engines.gates.withLock { $0 = [gate] }
        let model = try await model(memory: 30_000)
        let started = Barrier()
        let running = Task {
            try await model.generate([ChatMessage(.user, "Why?")], options: GenerationOptions()) { event in
                if case .text = event { started.open() }
            }
        }
        try await started.pass()
        let large = Task { try await ask(model, 3000) }
        let small = Task { try await ask(model, 20) }
        for _ in 0..<2000 { await Task.yield() }
        #expect(log == ["open 1024"])
        gate.open()
        #expect(try await running.value.usage.promptTokens == 4)
        #expect(try await large.value == 3000)
        #expect(try await small.value == 20)
        #expect(log == ["open 1024", "unload 1024", "open 4096"])
    }

    /// Idle models are unloaded to save memory, so the next load begins with the usual window.
    @Test func anUnloadedModelHasItsUsualWindowAgain() async throws {
        let model = try await model(memory: 30_000)
        #expect(try await ask(model, 5000) == 5000)
        model.retire()
        #expect(try await ask(model, 10) == 10)
        #expect(log == ["open 1024", "unload 1024", "open 8192", "unload 8192", "open 1024"])
        let error = await #expect(throws: LLMError.self) { try await ask(model, 9000) }
        #expect(error?.code == .exceededContextWindowSize, "longer than the model's own length")
        #expect(log.count == 5)
    }

    @Test func aWindowThatCannotBeOpenedIsGivenUp() async throws {
        let model = try await model(memory: 30_000)
        engines.broken.withLock { $0 = [4096, 3328] }
        for _ in 0..<2 { #expect(try await ask(model, 3000) == 3000) }
        #expect(
            log == [
                "open 1024", "unload 1024", "open 4096", "open 1024", "unload 1024", "open 3328", "open 1024",
                "unload 1024", "open 3072",
            ])
    }

    @Test func withoutAWindowThatOpensTheUsualOneServes() async throws {
        let model = try await model(memory: 30_000)
        engines.broken.withLock { $0 = [2048, 1280] }
        #expect(try await ask(model, 1000) == 1000)
        let error = await #expect(throws: LLMError.self) { try await ask(model, 1100) }
        #expect(error?.code == .exceededContextWindowSize)
        #expect(log == ["open 1024", "unload 1024", "open 2048", "open 1024", "unload 1024", "open 1280", "open 1024"])
    }

    /// A first request whose prompt nearly fills the model's own length is answered.
    @Test func theLargestWindowLeavesLittleToTheAnswer() async throws {
        let model = try await model(memory: 30_000)
        #expect(try await ask(model, 8150) == 8150)
        #expect(log == ["open 1024", "unload 1024", "open 8192"])
    }

    /// A request with a window of its own opens a larger one only when its prompt needs it, and none beyond its limit.
    @Test func aRequestLimitsItsWindow() async throws {
        let model = try await model(memory: 30_000)
        func ask(_ tokens: Int, window: Int) async throws -> Int {
            var options = GenerationOptions(maximumNewTokens: 100)
            options.window = window
            let messages = [ChatMessage(.user, String(repeating: "a", count: tokens))]
            return try await model.generate(messages, options: options) { _ in }.usage.promptTokens
        }
        #expect(try await ask(500, window: 8192) == 500)
        #expect(log == ["open 1024"])
        let error = await #expect(throws: LLMError.self) { try await ask(1500, window: 1024) }
        #expect(error?.code == .exceededContextWindowSize)
        #expect(log == ["open 1024"])
        #expect(try await ask(1500, window: 1600) == 1500)
        #expect(log == ["open 1024", "unload 1024", "open 2048"])
    }

    @Test(
        arguments: [
            (1024, 1024, 8192, [2048, 1280]), (1024, 2900, 8192, [4096, 3072]), (1024, 3000, 8192, [4096, 3328, 3072]),
            (1024, 8191, 8192, [8192]), (1024, 5000, 6000, [6000, 5120]), (1024, 5990, 6000, [6000]),
            (1024, 1000, 8192, [2048, 1280]), (1024, 8192, 8192, []), (0, 10, 8192, []),
            (1024, .max, .max, []), (1024, .max - 1, .max, [.max]),
        ] as [(Int, Int, Int, [Int])])
    func windowsToTry(present: Int, prompt: Int, trained: Int, windows: [Int]) {
        let need = WindowNeed(prompt: prompt, answer: 100)
        #expect(EnginePool.windows(from: present, for: need, trained: trained) == windows)
    }

    @Test(arguments: [(1024, []), (1500, [2048, 1536]), (9000, [8192, 7936])] as [(Int, [Int])])
    func aLimitedRequestTriesNoLongerWindow(limit: Int, windows: [Int]) {
        let need = WindowNeed(prompt: min(limit - 10, 7800), answer: 100, limit: limit)
        #expect(EnginePool.windows(from: 1024, for: need, trained: 8192) == windows)
    }
}
