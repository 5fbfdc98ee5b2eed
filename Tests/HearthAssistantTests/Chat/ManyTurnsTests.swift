import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

@Suite(.timeLimit(.minutes(10))) struct ManyTurnsTests {
    /// The bytes of the process in memory.
    private static func residentBytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        return pages * 4096
    }

    /// An engine that answers without keeping the requests.
    private struct Endless: InferenceEngine {
        let capabilities: EngineCapabilities = []
        let modelInformation = ModelInformation(description: "endless", contextLength: 8192)
        func generate(
            _ messages: [ChatMessage], options: GenerationOptions,
            onEvent: @escaping @Sendable (GenerationEvent) -> Void
        ) async throws -> GenerationSummary {
            for piece in 0..<100 { onEvent(.text("word\(piece) ")) }
            onEvent(.text(#"[NOTE_ACTION:{"action":"list"}]"#))
            return GenerationSummary(
                reason: .endOfGeneration, usage: TokenUsage(promptTokens: 1, cachedTokens: 0, generatedTokens: 100),
                timings: GenerationTimings(firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0))
        }
    }

    /// Other tests take memory meanwhile, so that the best of three rounds counts.
    @Test func memoryIsFlatOverManyTurns() async throws {
        var grown = Int.max
        for _ in 0..<3 where grown >= 24 << 20 { grown = min(grown, try await Self.growth()) }
        // The messages themselves: about 5 KB each, twice.
        #expect(grown < 24 << 20, "\(grown >> 10) KiB")
    }

    /// The bytes by which the process grows after the first fifth of many turns.
    private static func growth() async throws -> Int {
        let turns = TestExtent.isFull ? 500 : 60
        let clock = ManualClock()
        let store = MemoryConversationStore()
        let runner = ActionRunner(
            registry: ActionRegistry([ListAction()]), stores: [:], journal: nil, approval: DeclineAll(),
            time: clock.time)
        let session = ChatSession(
            id: "c", parts: ChatParts(store: store, runner: runner, time: clock.time), engine: ChatEngine(Endless()))
        var early = 0
        for turn in 0..<turns {
            _ = await ChatFixture.collect(session.send("Question \(turn)"))
            if turn == turns / 5 { early = try residentBytes() }
        }
        let grown = try residentBytes() - early
        #expect(await session.messages.count == turns * 2)
        return grown
    }
}
