import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthStore
import HearthTestSupport
import Testing

@testable import HearthCommand

/// What an engine of another package needs, and where it runs then.
@Suite(.timeLimit(.minutes(10))) struct EngineSeamTests {
    /// The smallest useful engine: it repeats the question, and stops with its task.
    private struct EchoEngine: InferenceEngine {
        let modelInformation = ModelInformation(description: "echo", contextLength: 1000)
        let capabilities: EngineCapabilities = []

        func generate(
            _ messages: [ChatMessage], options: GenerationOptions,
            onEvent: @escaping @Sendable (GenerationEvent) -> Void
        ) async throws -> GenerationSummary {
            let words = messages.last?.content.split(separator: " ") ?? []
            for word in words.prefix(options.maximumNewTokens) {
                try Task.checkCancellation()
                onEvent(.text("\(word) "))
            }
            return GenerationSummary(
                reason: words.count > options.maximumNewTokens ? .maximumNewTokens : .endOfGeneration,
                usage: TokenUsage(
                    promptTokens: words.count, cachedTokens: 0,
                    generatedTokens: min(words.count, options.maximumNewTokens)),
                timings: GenerationTimings(firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0))
        }
    }

    private static var engines: EngineRegistry {
        var engines = EngineRegistry()
        engines.register(.gguf) { _ in EchoEngine() }
        return engines
    }

    @Test func itRunsInASession() async throws {
        let session = LanguageModelSession(model: EchoEngine())
        let response = try await session.respond(to: "one two three", options: GenerationOptions(maximumNewTokens: 2))
        #expect(response.content == "one two " && response.summary.reason == .maximumNewTokens)
        #expect(session.transcript.map(\.content) == ["one two three", "one two "])
    }

    @Test func itRunsInThePool() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("echo-v1.0.0-q4_1.gguf", Data("x".utf8))
        var surroundings = Surroundings()
        surroundings.engines = Self.engines
        let hearth = try Hearth(home: folder.path("home"), configuration: Configuration(), surroundings)
        _ = try await hearth.manager.pull(.file(file))
        let model = try await hearth.find(ModelReference(parsing: "echo"))
        var phases: [GenerationPhase] = []
        var text = ""
        for try await event in LanguageModelSession(model: model).streamResponse(to: "hello pool").events {
            if case .phase(let phase) = event { phases.append(phase) }
            if case .text(let piece) = event { text += piece }
        }
        #expect(text == "hello pool " && phases == [.loading(fraction: nil)])
        #expect(try await hearth.manager.store.state(of: #require(Family("echo"))).probation?.answers == 1)
        await hearth.close()
    }

    @Test func itRunsInTheCommandLine() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("echo.gguf", Data("x".utf8))
        var probe = CommandProbe(home: folder.path("home"))
        probe.engines = Self.engines
        #expect(await probe.run("chat", file.string, "--prompt", "hello terminal") == 0)
        #expect(probe.output.contents == "hello terminal \n")
        #expect(probe.errors.contents.contains("ended by stop"))
        // Without an engine for its format, a model is refused by name.
        probe.engines = EngineRegistry()
        #expect(await probe.run("chat", file.string, "--prompt", "hello") == 1)
        #expect(probe.errors.contents.contains("no engine runs echo.gguf"))
        #expect(probe.errors.contents.contains("[engine-missing]"))
    }
}
