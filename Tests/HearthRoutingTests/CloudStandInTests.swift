import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthRouting

/// The engines against programs of others: the stand-in that the vendors' clients judge, and llama-server.
@Suite(.timeLimit(.minutes(10)))
struct CloudStandInTests {
    private static let hasPython = CloudStandIn.python != nil

    private func engine(
        _ kind: CloudKind, _ server: CloudStandIn, key: String = "stand-in-key",
        onCredits: (@Sendable (Int) -> Void)? = nil
    ) throws -> CloudEngine {
        CloudEngine(try CloudSettings(kind, url: server.url, key: key), onCredits: onCredits)
    }

    private func failure(_ engine: CloudEngine, _ text: String, _ events: CloudEvents = CloudEvents()) async
        -> LLMError?
    {
        do {
            _ = try await engine.generate([ChatMessage(.user, text)], options: GenerationOptions()) {
                events.append($0)
            }
            return nil
        } catch {
            return error as? LLMError
        }
    }

    @Test(.enabled(if: hasPython), arguments: CloudKind.allCases)
    func textThinkingAndUsageArrive(_ kind: CloudKind) async throws {
        let server = try CloudStandIn()
        let credits = Locked<[Int]>([])
        let engine = try engine(kind, server, onCredits: { left in credits.withLock { $0.append(left) } })
        try await engine.checkHealth()
        let events = CloudEvents()
        // Enough for the least budget of thinking that Anthropic takes.
        let options = GenerationOptions(maximumNewTokens: 4096, stopStrings: ["END"])
        let messages = [ChatMessage(.system, "Be brief."), ChatMessage(.user, "Hi")]
        let summary = try await engine.generate(messages, options: options) { events.append($0) }
        #expect(events.text == "Grüße 🌍!")
        #expect(events.all.thinking == "They greet.")
        #expect(summary.reason == .endOfGeneration)
        #expect(summary.usage == TokenUsage(promptTokens: 7, cachedTokens: 3, generatedTokens: 5))
        #expect(credits.withLock { $0 } == (kind == .geminiRelay ? [41] : []))
    }

    @Test(.enabled(if: hasPython), arguments: CloudKind.allCases)
    func picturesArrive(_ kind: CloudKind) async throws {
        let server = try CloudStandIn()
        let events = CloudEvents()
        let images = [try ChatImage(TestPictures.png), try ChatImage(TestPictures.jpeg)]
        _ = try await engine(kind, server).generate(
            [ChatMessage(.user, "What?", images: images)], options: GenerationOptions()
        ) { events.append($0) }
        #expect(
            events.text == "image/png \(TestPictures.png.count); image/jpeg \(TestPictures.jpeg.count); ")
    }

    private struct Weather: Tool {
        struct Arguments: Codable { var city: String }
        let name = "weather"
        let description = "Tells the weather."
        func call(_ arguments: Arguments) async throws -> String { "sunny in \(arguments.city)" }
    }

    @Test(.enabled(if: hasPython), arguments: CloudKind.allCases)
    func aSessionRunsTools(_ kind: CloudKind) async throws {
        let server = try CloudStandIn()
        let session = LanguageModelSession(model: try engine(kind, server), tools: [Weather()])
        #expect(try await session.respond(to: "Weather?").content == "Result: sunny in Köln")
        #expect(try await session.respond(to: "And now?").content.isEmpty == false)
    }

    @Test(.enabled(if: hasPython), arguments: CloudKind.allCases)
    func errorsAreTold(_ kind: CloudKind) async throws {
        let server = try CloudStandIn()
        let wrong = await failure(try engine(kind, server, key: "wrong-key"), "Hi")
        #expect(wrong?.code == .unauthorised)
        let limited = await failure(try engine(kind, server), "error 429")
        #expect(limited?.code == .rateLimited)
        #expect(limited?.context.retryAfterSeconds == 7)
        #expect(await failure(try engine(kind, server), "error 500")?.code == .unreachable)
        let events = CloudEvents()
        #expect(await failure(try engine(kind, server), "cut", events)?.code == .answerInterrupted)
        #expect(events.text.hasPrefix("Grüße "))
    }

    /// The address of a llama-server, for `make verify STAGE=cloud`.
    private static let llamaServer = ProcessInfo.processInfo.environment["HEARTH_CLOUD_LLAMA"].flatMap {
        URL(string: $0)
    }

    @Test(.enabled(if: llamaServer != nil)) func llamaServerIsACloud() async throws {
        let engine = CloudEngine(try CloudSettings(.openai, url: Self.llamaServer, model: "default"))
        try await engine.checkHealth()
        let events = CloudEvents()
        let options = GenerationOptions(sampling: .greedy, maximumNewTokens: 48)
        let summary = try await engine.generate(
            [ChatMessage(.user, "Name the capital of France.")], options: options
        ) { events.append($0) }
        #expect(events.text.contains("Paris"))
        #expect(summary.reason == .endOfGeneration)
        #expect(summary.usage.promptTokens > 0 && summary.usage.generatedTokens > 0)
        let short = try await engine.generate(
            [ChatMessage(.user, "Count to a hundred.")], options: GenerationOptions(maximumNewTokens: 8)
        ) { _ in }
        #expect(short.reason == .maximumNewTokens)
        // More than its context holds: cut once, and answered.
        let turns = (0..<40).flatMap { index in
            [
                ChatMessage(.user, String(repeating: "word \(index) ", count: 60)),
                ChatMessage(.assistant, String(repeating: "and ", count: 60)),
            ]
        }
        let long = await failure(engine, String(repeating: "word ", count: 9000))
        #expect(long?.code == .exceededContextWindowSize)
        let dropped = CloudEvents()
        _ = try await engine.generate(
            turns + [ChatMessage(.user, "Say yes.")], options: GenerationOptions(maximumNewTokens: 8)
        ) { dropped.append($0) }
        #expect(dropped.all.dropped.first.map { $0 > 31 } == true)
        let task = Task {
            try await engine.generate(
                [ChatMessage(.user, "Tell a long story.")], options: GenerationOptions()
            ) { _ in }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await engine.checkHealth()
    }
}
