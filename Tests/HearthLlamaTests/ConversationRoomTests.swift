#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

/// Conversations whose states need more room than is available.
extension RealModel.SeveralConversations {
    /// Another conversation with the same beginning starts while the context has no room for all of its saved
    /// state.
    @Test func keepAStateThatHasNoRoomBesideTheRunningOnes() async throws {
        let folder = try TemporaryFolder()
        let model = try LoadedModel(
            path: TestModel.path(.window),
            configuration: LlamaConfiguration(
                contextLength: 256, threadCount: 1, stateBytes: 0, sequences: 2),
            progress: { _ in true })
        func memory() -> ConversationMemory {
            ConversationMemory(model, maker: "m", folder: folder.path, savedBytes: 1 << 30)
        }
        func begin(_ prompt: Prompt, beside others: Int, in memory: ConversationMemory) throws
            -> ConversationMemory.Place
        {
            try #require(memory.place(prompt, need: prompt.ledger.count, beside: others))
        }
        func compute(_ prompt: Prompt, in sequence: Int) throws {
            var batch = TokenBatch(capacity: prompt.ledger.count)
            batch.append(prompt.ledger[...], at: 0, of: sequence, outputs: .last)
            try #require(model.sequences.context.decode(batch) == 0)
            model.sequences.didCompute(prompt.ledger, in: sequence)
        }
        let saved = Prompt([.tokens(Array(2..<122))], text: "")
        let first = memory()
        let place = try begin(saved, beside: 0, in: first)
        try compute(saved, in: place.sequence)
        first.end(place.sequence)
        first.saveAll()
        model.sequences.clear(place.sequence)

        let second = memory()
        let busy = Prompt([.tokens(Array(repeating: 5, count: 150))], text: "")
        let busyPlace = try begin(busy, beside: 0, in: second)
        try compute(busy, in: busyPlace.sequence)
        let other = Prompt([.tokens(Array(2..<82) + [9])], text: "")
        let otherPlace = try begin(other, beside: busy.ledger.count, in: second)
        #expect(otherPlace.plan.reused == 0 && otherPlace.plan.miss == .cold)
        second.end(otherPlace.sequence)
        model.sequences.clear(busyPlace.sequence)
        second.end(busyPlace.sequence)
        // When there is room again, the whole state is used.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path.string).count == 1)
        #expect(try begin(saved, beside: 0, in: second).plan.reused == saved.ledger.count - 1)
    }

    @Test(.enabled(if: TestExtent.isFull)) func theMostRecentlyUsedIsDroppedLast() async throws {
        let folder = try TemporaryFolder()
        // Room for one conversation, of about 200 tokens with 22.5 KiB each.
        let configuration = Self.configuration(folder: folder.path("states"), bytes: 7 << 20)
        let engine = try await LlamaActor.load(TestModel.path, configuration: configuration)
        _ = try await turn(engine, Self.long("fox", sentences: 20))
        let last = try await turn(engine, Self.long("bear", sentences: 20))
        await engine.unload()
        try await engine.load(TestModel.path)
        #expect(try await turn(engine, last.messages).usage.cachedTokens == last.held)
        await engine.unload()
    }

    @Test(.enabled(if: TestExtent.isFull)) func areNotKeptBeyondTheirRoom() async throws {
        let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration(bytes: 0))
        let first = try await turn(engine, Self.long("fox"))
        _ = try await turn(engine, Self.long("bear", sentences: 80))
        #expect(try await turn(engine, first.messages).usage.cachedTokens < 64)
    }

    /// Two conversations that both fit in the context need no saved state.
    @Test(.enabled(if: TestExtent.isFull)) func takeTurnsInTheContextWhereTheyHaveRoom() async throws {
        let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration(bytes: 0))
        var fox = try await turn(engine, Self.long("fox", sentences: 80))
        var bear = try await turn(engine, Self.long("bear", sentences: 80))
        for _ in 0..<2 {
            let held = (fox: try fox.held, bear: try bear.held)
            fox = try await turn(engine, fox.messages)
            bear = try await turn(engine, bear.messages)
            #expect(try fox.usage.cachedTokens == held.fox)
            #expect(try bear.usage.cachedTokens == held.bear)
        }
    }

    @Test(.enabled(if: TestExtent.isFull)) func aStateAboveTheLimitDropsNoOther() async throws {
        // Room for the small conversations, of about 200 tokens with 22.5 KiB each.
        var configuration = Self.configuration(bytes: 16 << 20)
        configuration.sequences = 1
        let engine = try await LlamaActor.load(TestModel.path, configuration: configuration)
        let small = try await turn(engine, Self.long("bear", sentences: 20))
        let other = try await turn(engine, Self.long("wolf", sentences: 20))
        let large = try await turn(engine, Self.long("fox"))
        #expect(try await turn(engine, small.messages).usage.cachedTokens == small.held)
        #expect(try await turn(engine, other.messages).usage.cachedTokens == other.held)
        #expect(try await turn(engine, large.messages).usage.cachedTokens < 64)
    }
}
#endif
