#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    @Suite struct SeveralConversations {
        /// A conversation whose first prompt has about 1,500 tokens.
        static func long(_ word: String, sentences: Int = 163) -> [ChatMessage] {
            let text = String(repeating: "The \(word) walks along the quiet river today. ", count: sentences)
            return [ChatMessage(.user, text + "Say yes.")]
        }

        static func configuration(folder: Path? = nil, bytes: UInt64? = nil) -> LlamaConfiguration {
            LlamaConfiguration(
                contextLength: 2048, threadCount: 1, deviceMemory: 16 << 30, stateFolder: folder, stateBytes: bytes)
        }

        struct Turn {
            let answer: Answer
            let messages: [ChatMessage]
            var usage: TokenUsage {
                get throws { try #require(answer.summary).usage }
            }
            /// The number of the conversation's tokens in memory. The token that ended it, or was shown last, was
            /// never computed.
            var held: Int {
                get throws {
                    let summary = try #require(answer.summary)
                    let usage = summary.usage
                    return usage.promptTokens + usage.generatedTokens
                        - (summary.reason == .maximumNewTokens ? 1 : 0)
                }
            }
        }

        func turn(_ engine: LlamaActor, _ messages: [ChatMessage]) async throws -> Turn {
            let answer = try await Answer(engine.generate(messages, options: .greedy(maximumNewTokens: 6)))
            return Turn(
                answer: answer,
                messages: messages + [ChatMessage(.assistant, answer.text), ChatMessage(.user, "Why?")])
        }

        @Test(.enabled(if: TestExtent.isFull)) func reuseTheirComputedTokens() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration())
            let first = try await turn(engine, Self.long("fox"))
            #expect(try first.usage.promptTokens > 1400)
            #expect(first.answer.summary?.cacheMiss == .cold)
            // The context has no room for both.
            let other = try await turn(engine, Self.long("bear", sentences: 80))
            #expect(try other.usage.cachedTokens < 64)
            // Each continues from its own state.
            let second = try await turn(engine, first.messages)
            #expect(try second.usage.cachedTokens == first.held)
            #expect(second.answer.summary?.cacheMiss == nil)
            let otherSecond = try await turn(engine, other.messages)
            #expect(try otherSecond.usage.cachedTokens == other.held)
            let third = try await turn(engine, second.messages)
            #expect(try third.usage.cachedTokens == second.held)
            // A restored state and a computed one give the same answer.
            let fresh = try await LlamaActor.load(TestModel.path, configuration: Self.configuration())
            #expect(try await turn(fresh, first.messages).answer.text == second.answer.text)
        }

        /// The answer is longer than the prompt and fills the context, so the second answer needs the cells of the
        /// first.
        @Test(.enabled(if: TestExtent.isFull)) func aRepeatedPromptIsReusedInASmallContext() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path,
                configuration: LlamaConfiguration(contextLength: 256, threadCount: 1, deviceMemory: 16 << 30))
            let story = [ChatMessage(.user, "Write a very long story about a fox.")]
            let first = try await Answer(engine.generate(story, options: .greedy()))
            let prompt = try #require(first.summary).usage.promptTokens
            #expect(prompt < 64 && first.summary?.reason == .contextFull)
            for _ in 1...2 {
                let again = try await Answer(engine.generate(story, options: .greedy()))
                #expect(again.summary?.usage.cachedTokens == prompt - 1)
                #expect(again.summary?.cacheMiss == .repeated)
                #expect(again.text == first.text)
            }
        }

        /// Without flash attention, values are stored in another order.
        @Test(.enabled(if: TestExtent.isFull), arguments: [(CacheType.q8, FlashAttention.automatic), (.f16, .off)])
        func outliveTheModelOnlyForTheSameKindOfCache(type: CacheType, flashAttention: FlashAttention) async throws {
            let folder = try TemporaryFolder()
            var configuration = Self.configuration(folder: folder.path("states"))
            configuration.cacheType = type
            configuration.flashAttention = flashAttention
            let engine = try await LlamaActor.load(TestModel.path, configuration: configuration)
            let first = try await turn(engine, Self.long("bear", sentences: 20))
            await engine.unload()
            try await engine.load(TestModel.path)
            let second = try await turn(engine, first.messages)
            #expect(try second.usage.cachedTokens == first.held)
            await engine.unload()
            // A restored state and a computed one give the same answer.
            configuration.stateFolder = nil
            let fresh = try await LlamaActor.load(TestModel.path, configuration: configuration)
            #expect(try await turn(fresh, first.messages).answer.text == second.answer.text)
            await fresh.unload()
            configuration.stateFolder = folder.path("states")
            configuration.cacheType = .f16
            configuration.flashAttention = .on
            let other = try await LlamaActor.load(TestModel.path, configuration: configuration)
            let third = try await turn(other, first.messages)
            #expect(try third.usage.cachedTokens == 0)
            #expect(third.answer.summary?.cacheMiss == .cold)
            await other.unload()
        }

        @Test(.enabled(if: TestExtent.isFull)) func outliveTheModel() async throws {
            let folder = try TemporaryFolder()
            let states = folder.path("states")
            let configuration = Self.configuration(folder: states)
            let first: Turn
            let other: Turn
            do {
                let engine = try await LlamaActor.load(TestModel.path, configuration: configuration)
                first = try await turn(engine, Self.long("fox", sentences: TestExtent.isFull ? 163 : 16))
                other = try await turn(engine, Self.long("bear", sentences: 10))
                await engine.unload()
                try await engine.load(TestModel.path)
                let second = try await turn(engine, first.messages)
                #expect(try second.usage.cachedTokens == first.held)
                let usage = try second.usage
                print("second turn: \(usage.promptTokens) tokens, \(usage.cachedTokens) of them from the disk")
                await engine.unload()
            }
            let files = try FileManager.default.contentsOfDirectory(atPath: states.string)
            #expect(files.count == 2)
            for file in files {
                let attributes = try FileManager.default.attributesOfItem(atPath: states.string + "/" + file)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
            // Another engine, as after a restart of the process.
            let engine = try await LlamaActor.load(TestModel.path, configuration: configuration)
            let second = try await turn(engine, other.messages)
            #expect(try second.usage.cachedTokens == other.held)
            print()
        }

        @Test func beginColdWhenTheirStatesAreGoneOrWrong() async throws {
            let folder = try TemporaryFolder()
            let states = folder.path("states")
            let configuration = Self.configuration(folder: states)
            let engine = try await LlamaActor.load(TestModel.path, configuration: configuration)
            let first = try await turn(engine, Self.long("fox", sentences: 10))
            await engine.unload()
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: states.string).first)
            let path = Path(states.string + "/" + name)
            var bytes = try Data(contentsOf: path.url)
            bytes[bytes.count - 5] ^= 4
            try bytes.write(to: path.url)
            try Data("HKVS".utf8).write(to: Path(states.string + "/short.state").url)
            try Data().write(to: Path(states.string + "/empty.state").url)
            try await engine.load(TestModel.path)
            let second = try await turn(engine, first.messages)
            #expect(try second.usage.cachedTokens == 0)
            #expect(second.answer.summary?.reason != nil)
            // Damaged states are deleted, so that they are not read again; a file that does not begin like a state
            // stays.
            #expect(try FileManager.default.contentsOfDirectory(atPath: states.string) == ["empty.state"])
        }

        /// Complete files with states that llama.cpp did not write.
        @Test(.enabled(if: TestExtent.isFull)) func beginColdWithALogEntryWhenTheirStatesAreRefused() async throws {
            let log = await RecordedLog.start(.warning)
            defer { log.stop() }
            let folder = try TemporaryFolder()
            let states = folder.path("states")
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: Self.configuration(folder: states))
            let first = try await turn(engine, Self.long("fox", sentences: 20))
            await engine.unload()
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: states.string).first)
            let url = Path(states.string + "/" + name).url
            var state = try #require(StateFile(decoding: try Data(contentsOf: url)))
            state.state[state.state.startIndex] ^= 1
            try state.encoded().write(to: url)
            try await engine.load(TestModel.path)
            #expect(try await turn(engine, first.messages).usage.cachedTokens == 0)
            #expect(log.messages(of: "llama.memory").contains { $0.contains("cannot be restored") })
            #expect(try FileManager.default.contentsOfDirectory(atPath: states.string).isEmpty)
            await engine.unload()
        }

        /// A failure of the disk costs one cold start, and the saved state stays.
        @Test func keepTheirStatesWhenTheDiskRefusesOnce() async throws {
            let folder = try TemporaryFolder()
            let disk = FaultyFileSystem()
            let prompt = Prompt([.tokens(Array(2..<122))], text: "")
            let model = try LoadedModel(
                path: TestModel.path(.window),
                configuration: LlamaConfiguration(contextLength: 256, threadCount: 1, stateBytes: 0),
                progress: { _ in true })
            func memory() -> ConversationMemory {
                ConversationMemory(
                    model, maker: "m", folder: folder.path, savedBytes: 1 << 30, fileSystem: disk)
            }
            func reused(by memory: ConversationMemory) throws -> Int {
                model.sequences.clear(0)
                return try #require(memory.place(prompt, need: 128)).plan.reused
            }
            let first = memory()
            #expect(try reused(by: first) == 0)
            var batch = TokenBatch(capacity: prompt.ledger.count)
            batch.append(prompt.ledger[...], at: 0, outputs: .last)
            #expect(model.sequences.context.decode(batch) == 0)
            model.sequences.didCompute(prompt.ledger, in: 0)
            first.end(0)
            first.saveAll()
            let second = memory()
            disk.fail(call: 1, of: .openExisting, errno: EMFILE)
            #expect(try reused(by: second) == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path.string).count == 1)
            #expect(try reused(by: memory()) == prompt.ledger.count - 1)
        }

        /// Two models with different windows share a folder, like two roles.
        @Test(.enabled(if: TestExtent.isFull)) func keepTheStatesOfOtherModelsInTheFolder() async throws {
            let folder = try TemporaryFolder()
            let configuration = Self.configuration(folder: folder.path("states"))
            let engine = try await LlamaActor.load(TestModel.path, configuration: configuration)
            let first = try await turn(engine, Self.long("fox"))
            await engine.unload()
            var other = configuration
            other.contextLength = 512
            for path in [TestModel.path, try TestModel.path(.window)] {
                let small = try await LlamaActor.load(path, configuration: other)
                #expect(try await turn(small, capitalOfFrance).usage.cachedTokens == 0)
                await small.unload()
            }
            try await engine.load(TestModel.path)
            #expect(try await turn(engine, first.messages).usage.cachedTokens == first.held)
            await engine.unload()
        }
    }
}
#endif
