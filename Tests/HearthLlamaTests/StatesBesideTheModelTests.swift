#if Llama
import HearthBase
@testable import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

/// Saved states of conversations and encoded pictures, in the memory that a model leaves free.
extension RealModel.MemoryBesideTheModel {
    /// A prompt of about 190 tokens, whose state has about 4 MiB.
    private static func long(_ word: String) -> [ChatMessage] {
        let text = String(repeating: "The \(word) walks along the quiet river today. ", count: 16)
        return [ChatMessage(.user, text + "Say yes.")]
    }

    /// The reused tokens of a first conversation after a second one has replaced it in the context.
    private func kept(_ engine: LlamaActor, _ meanwhile: () async throws -> Void = {}) async throws -> Int {
        let fox = Self.long("fox")
        for messages in [fox, Self.long("bear"), Self.long("wolf")] {
            _ = try await Answer(engine.generate(messages, options: .greedy(maximumNewTokens: 2)))
        }
        try await meanwhile()
        let again = try await Answer(engine.generate(fox, options: .greedy(maximumNewTokens: 2)))
        return try #require(again.summary).usage.cachedTokens
    }

    @Test(.enabled(if: TestExtent.isFull)) func statesOfConversationsUseTheFreeMemory() async throws {
        func engine(_ room: UInt64) async throws -> LlamaActor {
            let configuration = try Self.configuration(context: 256, room: room, states: 200 << 20)
            return try await LlamaActor.load(TestModel.path, configuration: configuration)
        }
        let room = try Self.bytes(256) + 5 << 20
        let roomy = try await engine(room)
        #expect(await ledger(roomy).kept(for: .text).states == room)
        #expect(try await kept(roomy) > 150)
        let narrow = try await engine(0)
        #expect(try await kept(narrow) < 64)
        try await paris(narrow)
        await narrow.unload()
        // The context for vectors needs the memory of the kept state.
        #expect(try await kept(roomy) { _ = try await roomy.embed(["fox"]) } < 64)
        #expect(await ledger(roomy).kept(for: .text).states == 5 << 20)
        try await paris(roomy)
        await roomy.unload()
    }

    /// With one sequence and no saved state, only the encoded picture can be reused.
    @Test(.enabled(if: TestExtent.isFull)) func picturesUseTheFreeMemory() async throws {
        let projector = try TestModel.path(.projector)
        var answers: [String] = []
        for room in [64 << 20, 0] as [UInt64] {
            let configuration = try Self.configuration(projector: projector, room: room, sequences: 1)
            let engine = try await LlamaActor.load(
                TestModel.path, projector: projector, configuration: configuration)
            let kept = await ledger(engine).kept(for: .text)
            if room == 0 { #expect(kept == KeptBytes(states: 0, pictures: 0)) }
            if room > 0 { #expect(kept.pictures == configuration.deviceMemory / 64) }
            var encoded: [Int] = []
            for red in [255, 128, 255] as [UInt8] {
                let picture = try ChatImage(TestPictures.png(width: 40, height: 30, red: red, blue: 0))
                let question = ChatMessage(.user, "What is this?", images: [picture])
                let answer = try await Answer(
                    engine.generate([question], options: .greedy(maximumNewTokens: 4)))
                answers.append(answer.text)
                encoded.append(try #require(answer.summary).encodedPictures)
            }
            #expect(encoded == [1, 1, room > 0 ? 0 : 1])
            await engine.unload()
        }
        #expect(Array(answers[..<3]) == Array(answers[3...]))
    }
}
#endif
