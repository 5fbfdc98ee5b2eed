#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// Conversations with the same long beginning, such as an agent's, whose states have room only if the beginning is kept
    /// once.
    @Suite struct SharedBeginnings {
        private static let unit = 32
        private let model: LoadedModel

        init() throws {
            model = try LoadedModel(
                path: TestModel.path(.plain),
                configuration: LlamaConfiguration(contextLength: 768, threadCount: 1, stateBytes: 0, sequences: 2),
                progress: { _ in true })
        }

        private func memory(_ bytes: UInt64, folder: Path? = nil) -> ConversationMemory {
            ConversationMemory(
                model.sequences, maker: "m", canGoBack: true, states: StateCache(folder: folder, limit: bytes),
                unit: Self.unit)
        }

        /// A conversation: 200 shared tokens, then its own.
        private func prompt(_ name: Int32, own: Int = 80) -> Prompt {
            Prompt([.tokens(Array(2..<202) + (0..<Int32(own)).map { 1000 + 200 * name + $0 })], text: "")
        }

        /// The bytes of a state of so many tokens.
        private func bytes(_ tokens: Int) throws -> UInt64 {
            let prompt = Prompt([.tokens(Array(2..<Int32(tokens + 2)))], text: "")
            try compute(prompt.ledger[...], at: 0, in: 0)
            defer { model.sequences.clear(0) }
            return UInt64(try #require(model.sequences.state(of: 0, limit: .max)).bytes.count)
        }

        private func compute(_ tokens: ArraySlice<TokenID>, at position: Int, in sequence: Int) throws {
            var batch = TokenBatch(capacity: tokens.count)
            batch.append(tokens, at: position, of: sequence, outputs: .last)
            try #require(model.sequences.context.decode(batch) == 0)
            model.sequences.didCompute(tokens, in: sequence)
        }

        /// Computes a prompt.
        /// - Returns: the number of reused tokens, and the logits after the last one.
        private func turn(_ prompt: Prompt, _ memory: ConversationMemory) throws -> (reused: Int, logits: [Float]) {
            let place = try #require(memory.place(prompt, need: prompt.ledger.count + 20))
            let reused = model.sequences.ledger(place.sequence).count
            try compute(prompt.ledger[reused...], at: reused, in: place.sequence)
            let logits = try model.sequences.context.logits(at: -1)
            defer { memory.end(place.sequence) }
            return (reused, Array(UnsafeBufferPointer(start: logits, count: 1000)))
        }

        @Test(arguments: [false, true]) func eightConversationsKeepItOnce(hasFolder: Bool) throws {
            let folder = try TemporaryFolder()
            // Room for the beginning and the ends, and not for eight whole conversations.
            let limit = try bytes(192) + 9 * (bytes(128) + 10_000)
            #expect(try limit < 6 * bytes(300))
            let memory = memory(limit, folder: hasFolder ? folder.path : nil)
            for name in Int32(0)..<8 {
                let reused = try turn(prompt(name), memory).reused
                #expect(reused == (name == 0 ? 0 : 200), "\(name)")
            }
            for name in Int32(0)..<8 {
                #expect(try turn(prompt(name, own: 100), memory).reused == 280, "\(name)")
            }
            guard hasFolder else { return }
            // Another process finds the same.
            memory.saveAll()
            for slot in 0..<2 { model.sequences.clear(slot) }
            let next = self.memory(limit, folder: folder.path)
            for name in Int32(0)..<8 { #expect(try turn(prompt(name, own: 110), next).reused == 300, "\(name)") }
        }

        /// The next token does not depend on where the tokens before it were kept.
        @Test func restoredPartsAndComputedTokensGiveTheSameNumbers() throws {
            let kept = memory(1 << 30)
            for name in Int32(0)..<3 { _ = try turn(prompt(name), kept) }
            let restored = try turn(prompt(0, own: 100), kept)
            #expect(restored.reused == 280)
            for slot in 0..<2 { model.sequences.clear(slot) }
            let fresh = memory(0)
            _ = try turn(prompt(0), fresh)
            let computed = try turn(prompt(0, own: 100), fresh)
            #expect(computed.reused == 280)
            let difference = zip(restored.logits, computed.logits).map { abs($0 - $1) }.max() ?? .infinity
            #expect(difference < 1e-3, "\(difference)")
        }

        @Test func cellsOfASharedBeginningCountOnce() throws {
            let sequences = model.sequences
            try compute(prompt(0).ledger[...], at: 0, in: 0)
            sequences.copy(0, to: 1, count: 200)
            #expect(sequences.cellCount(of: [0, 1], beside: []) == 280)
            #expect(sequences.cellCount(of: [1], beside: [0]) == 0)
            #expect(sequences.cellCount(of: [0], beside: [1]) == 80)
            sequences.truncate(0, to: 100)
            #expect(sequences.cellCount(of: [0, 1], beside: []) == 200)
            sequences.clear(1)
            #expect(sequences.cellCount(of: [0, 1], beside: []) == 100)
            // Equal tokens that were computed twice have cells of their own.
            try compute(prompt(0).ledger[..<50], at: 0, in: 1)
            #expect(sequences.cellCount(of: [0, 1], beside: []) == 150)
        }

        /// A part that cannot be used leaves the parts before it.
        @Test func aDamagedPartCostsOnlyWhatFollows() throws {
            let folder = try TemporaryFolder()
            let first = memory(1 << 30, folder: folder.path)
            _ = try turn(prompt(0), first)
            first.saveAll()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path.string).sorted()
            #expect(names.count == 9)
            let path = folder.path.joined(names[3])
            var data = try Data(contentsOf: path.url)
            data[data.count - 3] ^= 1
            try data.write(to: path.url)
            for slot in 0..<2 { model.sequences.clear(slot) }
            let second = memory(1 << 30, folder: folder.path)
            #expect(try turn(prompt(0), second).reused == 3 * Self.unit)
            second.saveAll()
            for slot in 0..<2 { model.sequences.clear(slot) }
            #expect(try turn(prompt(0), memory(1 << 30, folder: folder.path)).reused == 279)
        }
    }
}
#endif
