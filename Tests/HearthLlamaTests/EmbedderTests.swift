#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// The pooling of token vectors that the file of weights declares, with a tiny random model and added metadata.
    @Suite struct Embedders {
        private static let short = "The fox walks home."
        /// A text of more than two chunks.
        private static let long =
            "The fox" + String(repeating: " sees the quiet river and waits for rain.", count: 30)

        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private enum Fact {
            case number(UInt32)
            case flag(Bool)
            case text(String)

            var bytes: [UInt8] {
                switch self {
                case .number(let value): Fact.little(UInt32(4)) + Fact.little(value)
                case .flag(let value): Fact.little(UInt32(7)) + [value ? 1 : 0]
                case .text(let value): Fact.little(UInt32(8)) + Fact.string(value)
                }
            }

            static func little(_ value: some FixedWidthInteger) -> [UInt8] {
                withUnsafeBytes(of: value.littleEndian) { Array($0) }
            }

            static func string(_ text: String) -> [UInt8] { little(UInt64(text.utf8.count)) + Array(text.utf8) }
        }

        /// A copy of the tiny model with metadata added before its own.
        private func model(_ facts: [(key: String, fact: Fact)]) throws -> Path {
            var file = try Data(contentsOf: TestModel.path(.window).url)
            var added = facts.flatMap { Fact.string("gemma2." + $0.key) + $0.fact.bytes }
            // The tensors stay aligned to 32 bytes.
            let padding = Fact.string("test.padding") + Fact.text("").bytes
            let missing = (32 - (added.count + padding.count) % 32) % 32
            added += Fact.string("test.padding") + Fact.text(String(repeating: " ", count: missing)).bytes
            let count = file[16..<24].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            file.replaceSubrange(16..<24, with: Fact.little(count + UInt64(facts.count) + 1))
            file.insert(contentsOf: added, at: 24)
            return try folder.write("\(UUID().uuidString).gguf", file)
        }

        /// The vector of each text, and the number of pauses between two computations.
        private func embed(
            _ texts: [String], _ facts: [(key: String, fact: Fact)]
        ) async throws -> (vectors: [[Float]], pauses: Int) {
            let path = try model(facts)
            return try await blocking {
                let model = try LoadedModel(
                    path: path, configuration: LlamaConfiguration(contextLength: 1024, threadCount: 1),
                    progress: { _ in true })
                let embedder = try model.wholeEmbedder()
                var pauses = 0
                let vectors = try texts.enumerated().map { index, text in
                    try embedder.embed(text, index, signal: StopSignal()) { pauses += 1 }
                }
                return (vectors, pauses)
            }
        }

        private func dot(_ left: [Float], _ right: [Float]) -> Float {
            zip(left, right).reduce(0) { $0 + $1.0 * $1.1 }
        }

        private func pooling(_ pooling: EmbeddingPooling) -> [(key: String, fact: Fact)] {
            [("pooling_type", .number(pooling.rawValue))]
        }

        @Test func theFirstTokenDoesNotDependOnLaterOnes() async throws {
            let first = try await embed([Self.short, Self.long, "The"], pooling(.first))
            #expect(first.pauses >= 2)
            #expect(dot(first.vectors[0], first.vectors[1]) > 0.999)
            #expect(dot(first.vectors[0], first.vectors[2]) > 0.999)
            let mean = try await embed([Self.short, Self.long], pooling(.mean))
            #expect(dot(mean.vectors[0], mean.vectors[1]) < 0.999)
            #expect(dot(first.vectors[0], mean.vectors[0]) < 0.999)
        }

        /// Each of two layers attends to the last 64 tokens: an earlier token does not reach the last one.
        @Test(.enabled(if: TestExtent.isFull)) func theLastTokenIsThatOfTheWholeText() async throws {
            let other = "The cat" + Self.long.dropFirst("The fox".count)
            let texts = [Self.long, other, Self.long + " Why", "The"]
            let last = try await embed(texts, pooling(.last)).vectors
            #expect(dot(last[0], last[1]) > 0.999)
            #expect(dot(last[0], last[2]) < 0.999)
            let mean = try await embed([Self.long, "The"], pooling(.mean)).vectors
            #expect(dot(last[0], mean[0]) < 0.999)
            // With a single token both poolings are equal.
            #expect(dot(last[3], mean[1]) > 0.999)
        }

        /// A model without a cache gets the whole text at once, and a question to it is an error.
        @Test func aModelForVectorsAloneRefusesQuestions() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path(.vectors), configuration: LlamaConfiguration(threadCount: 1))
            let long = String(repeating: "word ", count: 300)
            let error = await #expect(throws: LLMError.self) {
                for try await _ in engine.generate([ChatMessage(.user, long)], options: .greedy()) {}
            }
            #expect(error?.code == .generateFailed && error?.disposition == .usage)
            #expect(error?.message == "this model is an encoder, it does not answer")
            let facts = try engine.modelInformation
            #expect(facts.isEncoderOnly && facts.embeddingLength == 64)
            let vectors = try await engine.embed([long, "word", long])
            #expect(abs(dot(vectors[0], vectors[0]) - 1) < 1e-3 && dot(vectors[0], vectors[1]) < 0.999)
            #expect(dot(vectors[0], vectors[2]) > 0.9999)
            await engine.unload()

            let pauses = try await blocking {
                let model = try LoadedModel(
                    path: TestModel.path(.vectors), configuration: LlamaConfiguration(threadCount: 1),
                    progress: { _ in true })
                var pauses = 0
                _ = try model.wholeEmbedder().embed(long, 0, signal: StopSignal()) { pauses += 1 }
                return pauses
            }
            #expect(pauses == 0)
        }

        /// Its positions are learned: the later tokens of a longer text would be beyond their table, and the
        /// process would end.
        @Test func noTextIsLongerThanTheModelHasPositions() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path(.vectors), configuration: LlamaConfiguration(threadCount: 1))
            #expect(try engine.modelInformation.contextLength == 500)
            let text = String(repeating: "word ", count: 505)
            let error = await #expect(throws: LLMError.self) { _ = try await engine.embed([text]) }
            #expect(error?.code == .exceededContextWindowSize)
            #expect(try await engine.embed([String(text.prefix(490 * 5))]).count == 1)
            await engine.unload()
        }

        /// A model whose tokens attend to later ones gets the whole text at once.
        @Test func aModelThatLooksAheadComputesATextInOneCall() async throws {
            let made = try await embed(
                [Self.short, Self.long, "The"], pooling(.first) + [("attention.causal", .flag(false))])
            #expect(made.pauses == 0)
            #expect(dot(made.vectors[0], made.vectors[2]) < 0.999)
            #expect(dot(made.vectors[0], made.vectors[1]) < 0.999)
        }

        @Test func aModelThatRanksMakesNoVectors() async throws {
            let error = await #expect(throws: LLMError.self) {
                _ = try await embed(["a"], [("pooling_type", .number(4))])
            }
            #expect(error?.code == .generateFailed && error?.message.contains("ranks") == true)
            let path = try model([("pooling_type", .number(4))])
            let length = try await blocking {
                try LoadedModel(
                    path: path, configuration: LlamaConfiguration(contextLength: 256, threadCount: 1),
                    progress: { _ in true }
                ).information.embeddingLength
            }
            #expect(length == 0)
        }
    }
}
#endif
