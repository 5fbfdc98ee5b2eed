#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// The present model after a load that fails or is cancelled.
    @Suite struct Replacing {
        static let story = [ChatMessage(.user, "Write a very long story about a fox.")]

        /// An engine that is answering.
        private struct Answering {
            private let tokens: Int
            let engine: LlamaActor
            let weights: ModelWeights
            let answer: Task<GenerationSummary?, any Error>
            /// An element for each piece of text.
            let pieces: AsyncStream<Void>

            init(tokens: Int = 40) async throws {
                self.tokens = tokens
                let engine = try await LlamaActor.load(
                    TestModel.path, configuration: LlamaConfiguration(contextLength: 256, threadCount: 1))
                let (pieces, source) = AsyncStream<Void>.makeStream()
                answer = Task {
                    defer { source.finish() }
                    var summary: GenerationSummary?
                    let options = GenerationOptions.greedy(maximumNewTokens: tokens)
                    for try await event in engine.generate(Replacing.story, options: options) {
                        if case .text = event { source.yield() }
                        if case .finish(let facts) = event { summary = facts }
                    }
                    return summary
                }
                self.engine = engine
                weights = try engine.answering(.text).weights
                self.pieces = pieces
                await wait(pieces: 1)
            }

            func wait(pieces count: Int) async {
                var left = count
                for await _ in pieces {
                    left -= 1
                    if left == 0 { break }
                }
            }

            func expectWhole() async throws {
                #expect(try await answer.value?.usage.generatedTokens == tokens)
                #expect(try engine.modelInformation.contextLength == 256)
                #expect(try engine.answering(.text).weights === weights)
                let again = try await Answer(
                    engine.generate(capitalOfFrance, options: .greedy(maximumNewTokens: 1)))
                #expect(again.summary != nil)
                await engine.unload()
            }
        }

        @Test func aCancelledLoadLeavesTheModelAndItsAnswers() async throws {
            let present = try await Answering()
            let load = Task { try await present.engine.load(TestModel.path) }
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value }
            try await present.expectWhole()
        }

        /// The load is cancelled while it waits for earlier answers.
        @Test(.enabled(if: TestExtent.isFull)) func aLoadCancelledWhileItWaitsLeavesThem() async throws {
            let present = try await Answering(tokens: 90)
            let load = Task { try await present.engine.load(TestModel.path) }
            // The files are checked by now, and the answer continues before the load.
            await present.wait(pieces: 40)
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value }
            try await present.expectWhole()
        }

        @Test(arguments: TestExtent.isFull ? ["absent.gguf", "broken.gguf"] : ["broken.gguf"], [false, true])
        func aLoadThatCannotBeginLeavesThem(name: String, isProjector: Bool) async throws {
            let folder = try TemporaryFolder()
            _ = try folder.write("broken.gguf", Data("<html>404</html>".utf8))
            let present = try await Answering()
            let path = folder.path(name)
            let error = await #expect(throws: LLMError.self) {
                try await present.engine.load(
                    isProjector ? TestModel.path : path, projector: isProjector ? path : nil)
            }
            #expect(error?.code == .cannotLoad && error?.context.file == path.string)
            try await present.expectWhole()
        }

        @Test(.enabled(if: TestExtent.isFull), arguments: [false, true])
        func aFileForSomethingElseLeavesThem(isProjector: Bool) async throws {
            let eye = try TestModel.path(.projector)
            let present = try await Answering()
            let error = await #expect(throws: LLMError.self) {
                try await present.engine.load(
                    isProjector ? TestModel.path : eye, projector: isProjector ? TestModel.path : nil)
            }
            #expect(error?.code == .cannotLoad)
            #expect(error?.context.file == (isProjector ? TestModel.path : eye).string)
            try await present.expectWhole()
        }

        @Test func aModelThatDoesNotFitLeavesThem() async throws {
            let present = try await Answering()
            var error = await #expect(throws: LLMError.self) {
                try await present.engine.load(
                    TestModel.path,
                    configuration: LlamaConfiguration(
                        contextLength: 8192, threadCount: 1, deviceMemory: 380 << 20))
            }
            #expect(error?.code == .doesNotFit)
            #expect(
                error?.context.expected?.contains("bytes") == true && error?.message.contains("380 MiB") == true)
            error = await #expect(throws: LLMError.self) {
                try await present.engine.load(
                    TestModel.path, configuration: LlamaConfiguration(threadCount: 1, deviceMemory: 64 << 20))
            }
            #expect(error?.code == .doesNotFit)
            try await present.expectWhole()
            // A shorter context fits if none is configured; a configuration that ignores memory gets the configured
            // one.
            try await present.engine.load(
                TestModel.path, configuration: LlamaConfiguration(threadCount: 1, deviceMemory: 420 << 20))
            #expect(try present.engine.modelInformation.contextLength < 4096)
            try await present.engine.load(
                TestModel.path,
                configuration: LlamaConfiguration(
                    contextLength: 512, threadCount: 1, deviceMemory: 64 << 20, ignoresMemory: true))
            #expect(try present.engine.modelInformation.contextLength == 512)
            await present.engine.unload()
        }
    }
}
#endif
