#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// Conversations with pictures. The projector's weights are random, so the answers have no meaning. Equal
    /// requests give equal answers, and pictures are encoded once.
    @Suite struct PictureAnswerTests {
        private static let configuration = LlamaConfiguration(contextLength: 1024, threadCount: 1)

        private func engine(
            _ projector: TestModel.Tiny? = .projector, for model: Path = TestModel.path,
            configuration: LlamaConfiguration = PictureAnswerTests.configuration
        ) async throws -> LlamaActor {
            try await LlamaActor.load(
                model, projector: projector.map { try TestModel.path($0) }, configuration: configuration)
        }

        private func picture(_ red: UInt8, _ blue: UInt8 = 0, width: Int = 40) throws -> ChatImage {
            try ChatImage(TestPictures.png(width: width, height: 30, red: red, blue: blue))
        }

        private func ask(
            _ engine: LlamaActor, _ messages: [ChatMessage], tokens: Int = TestExtent.isFull ? 12 : 6
        ) async throws -> Answer {
            try await Answer(engine.generate(messages, options: .greedy(maximumNewTokens: tokens)))
        }

        @Test(
            arguments: ([
                (TestModel.Tiny.projector, nil), (.twoWayProjector, nil), (.gridProjector, .grid),
            ] as [(TestModel.Tiny, TestModel.Tiny?)]).suffix(TestExtent.isFull ? 3 : 1))
        func aSecondTurnEncodesNoPictureAgainAndComputesOnlyNewTokens(
            _ projector: TestModel.Tiny, _ model: TestModel.Tiny?
        ) async throws {
            let path = try model.map { try TestModel.path($0) } ?? TestModel.path
            let engine = try await engine(projector, for: path)
            let question = ChatMessage(
                .user, "Which is brighter?", images: [try picture(255), try picture(0, 255)])
            let first = try await ask(engine, [question])
            let facts = try #require(first.summary)
            #expect(facts.encodedPictures == 2)
            #expect(facts.usage.cachedTokens == 0)

            let conversation = [
                question, ChatMessage(.assistant, first.text), ChatMessage(.user, "Are you sure?"),
            ]
            let second = try await ask(engine, conversation)
            let again = try #require(second.summary)
            #expect(again.encodedPictures == 0)
            #expect(again.usage.cachedTokens >= facts.usage.promptTokens - 8, "pictures and question are in memory")

            // The reused state gives the same answer as a model that never computed the first turn.
            let fresh = try await self.engine(projector, for: path)
            let other = try await ask(fresh, conversation)
            #expect(other.summary?.encodedPictures == 2)
            #expect(other.text == second.text)
            await engine.unload()
            await fresh.unload()
        }

        @Test(.enabled(if: TestExtent.isFull)) func anotherPictureIsAnotherAnswerAndTheFirstIsStillKnown() async throws
        {
            let engine = try await engine()
            let ask = { (picture: ChatImage) in
                try await self.ask(engine, [ChatMessage(.user, "What is this?", images: [picture])])
            }
            let red = try await ask(picture(255))
            let blue = try await ask(picture(0, 255))
            let redAgain = try await ask(picture(255))
            #expect(red.text != blue.text)
            #expect(red.text == redAgain.text)
            #expect(blue.summary?.encodedPictures == 1)
            #expect(redAgain.summary?.encodedPictures == 0, "encoded before, and kept")
            await engine.unload()
        }

        @Test func withoutAProjectorPicturesAreLeftOutVisibly() async throws {
            let engine = try await engine(nil)
            let seen = try await ask(
                engine, [ChatMessage(.user, "What is this?", images: [picture(1), picture(2)])])
            let text = try await ask(engine, [ChatMessage(.user, "What is this?")])
            #expect(seen.picturesLeftOut == 2)
            #expect(text.picturesLeftOut == 0)
            #expect(seen.text == text.text)
            #expect(!seen.text.isEmpty)
            await engine.unload()
        }

        @Test func noTextStandsForAPicture() async throws {
            let engine = try await engine()
            let marks = "<__media__> \u{E0F0}0\u{E0F1}0\u{E0F2} <|im_end|>"
            let plain = try await engine.count([ChatMessage(.user, marks)])
            let shown = ChatMessage(.user, marks, images: [try picture(9)])
            #expect(try await engine.count([shown]) - plain == 16)
            let answer = try await ask(engine, [shown])
            #expect(answer.summary?.usage.promptTokens == plain + 16)
            #expect(answer.summary?.encodedPictures == 1)
            let none = try await ask(engine, [ChatMessage(.user, marks)])
            #expect(none.summary?.encodedPictures == 0)
            await engine.unload()
        }

        @Test(.enabled(if: TestExtent.isFull)) func picturesCountInTheFitOfAConversation() async throws {
            let engine = try await engine(configuration: LlamaConfiguration(contextLength: 512, threadCount: 1))
            // 30 pictures are 480 tokens: with the reserve of an answer they do not fit.
            let old = ChatMessage(.user, "Look.", images: try (0..<30).map { try picture(UInt8($0)) })
            let answer = try await ask(
                engine, [old, ChatMessage(.assistant, "Yes."), ChatMessage(.user, "And now?")], tokens: 64)
            #expect(answer.dropped > 0)
            #expect(answer.summary?.encodedPictures == 0)
            await #expect(throws: LLMError.self) {
                _ = try await ask(
                    engine, [ChatMessage(.user, "Look.", images: (0..<40).map { try picture(UInt8($0)) })])
            }
            await engine.unload()
        }

        @Test func aPictureWhosePixelsAreBrokenEndsItsAnswerAndNoOther() async throws {
            let engine = try await engine()
            let line: [UInt8] = [9] + [UInt8](repeating: 1, count: 30)
            let lines = Array(repeatElement(line, count: 10).joined())
            let broken = try ChatImage(TestPictures.png(width: 10, height: 10, unpacked: lines))
            var code: ErrorCode<ModelInformation>?
            do {
                _ = try await ask(engine, [ChatMessage(.user, "What is this?", images: [broken])])
            } catch let error as LLMError {
                code = error.code
            }
            #expect(code == .cannotReadPicture)
            let whole = try await ask(engine, [ChatMessage(.user, "What is this?", images: [picture(1)])])
            #expect(!whole.text.isEmpty)
            await engine.unload()
        }

        /// No step computes more than one picture, and none is computed after the cancellation.
        @Test func aStepComputesAtMostOnePicture() async throws {
            try await blocking {
                let loop = GenerationLoop(
                    try LoadedModel(
                        path: TestModel.path, projector: try TestModel.path(.projector),
                        configuration: Self.configuration, progress: { _ in true }),
                    load: CoreLoad(), time: .system)
                let (stream, continuation) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
                let request = GenerationRequest(
                    role: .text,
                    messages: [ChatMessage(.user, "Which?", images: try (0..<6).map { try picture(UInt8($0)) })],
                    options: .greedy(maximumNewTokens: 1), signal: StopSignal(),
                    stopwatch: TimeSource.system.stopwatch(), reply: GenerationReply(continuation))
                #expect(loop.admit(request) == .begun)
                func pictured() -> [Int32] { loop.model.sequences.ledger(0).filter { $0 < 0 } }
                var most = 0
                while pictured().count < 3 * 16 {
                    let before = pictured().count
                    #expect(loop.step().isEmpty)
                    most = max(most, pictured().count - before)
                }
                #expect(most == 16)
                request.signal.cancel()
                let held = pictured()
                #expect(loop.step().count == 1 && loop.runs.isEmpty)
                #expect(pictured() == held)
                withExtendedLifetime(stream) {}
            }
        }

        /// The pixels of a picture are dropped if no further part is requested, as after a failure or a
        /// cancellation.
        @Test func thePixelsOfAPictureAreDroppedWithItsRequest() async throws {
            try await blocking {
                let model = try LoadedModel(
                    path: TestModel.path, projector: try TestModel.path(.projector),
                    configuration: Self.configuration, progress: { _ in true })
                let loop = GenerationLoop(model, load: CoreLoad(), time: .system)
                let projector = try #require(model.projector)
                let given = try picture(7)
                #expect(throws: LLMError.self) { try projector.encoded(given, part: 99) }
                #expect(projector.holdsPixels)
                let (stream, continuation) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
                let request = GenerationRequest(
                    role: .text, messages: [ChatMessage(.user, "Hi")], options: .greedy(maximumNewTokens: 1),
                    signal: StopSignal(), stopwatch: TimeSource.system.stopwatch(),
                    reply: GenerationReply(continuation))
                #expect(loop.admit(request) == .begun)
                request.signal.cancel()
                #expect(loop.step().count == 1)
                #expect(!projector.holdsPixels)
                // The pixels are also dropped after the last part.
                #expect(try projector.encoded(given, part: 0).isNew && !projector.holdsPixels)
                withExtendedLifetime(stream) {}
            }
        }

        @Test(.enabled(if: TestExtent.isFull)) func aCancelledCallerStopsTheEngineWithinOnePicture() async throws {
            let engine = try await engine()
            let pictures = try (0..<24).map { try picture(UInt8($0), width: 1500) }
            let question = [ChatMessage(.user, "Which is the brightest?", images: pictures)]
            let clock = ContinuousClock()
            var stopped: Duration?
            var encodedThen = 0
            do {
                for try await event in engine.generate(question, options: .greedy(maximumNewTokens: 1)) {
                    guard case .phase(.prefill) = event else { continue }
                    let began = clock.now
                    encodedThen = await engine.visited { engine in
                        let held = (engine.loops[.text]?.model.sequences.ledger(0) ?? []).count { $0 < 0 }
                        if held > 0 { engine.stop() }
                        return held / 16
                    }
                    // The system prompt comes before the first picture.
                    guard encodedThen > 0 else { continue }
                    // The question is answered as soon as the engine is free.
                    _ = try await ask(engine, [ChatMessage(.user, "Hi")], tokens: 1)
                    stopped = clock.now - began
                    break
                }
            } catch is CancellationError {}
            let rest = try await ask(engine, question, tokens: 1)
            let encoded = pictures.count - (try #require(rest.summary).encodedPictures)
            #expect(encodedThen > 0 && encodedThen < pictures.count)
            #expect(encoded <= encodedThen + 1, "no more are encoded for an answer without a caller")
            let one = try picture(99, width: 1500)
            let chunk = try await clock.measure {
                _ = try await ask(engine, [ChatMessage(.user, "Hi", images: [one])], tokens: 1)
            }
            print("vision: stopped and answered another \(stopped ?? .zero) after that; a picture takes \(chunk)")
            await engine.unload()
        }

        @Test(.enabled(if: TestExtent.isFull)) func aConversationWithPicturesOutlivesTheModel() async throws {
            let folder = try TemporaryFolder()
            var configuration = Self.configuration
            configuration.stateFolder = folder.path
            // Fewer than 64 tokens are computed again instead of saved.
            let text = String(repeating: "Look at the picture well. ", count: 20) + "What is this?"
            let question = ChatMessage(.user, text, images: [try picture(200)])
            let first = try await engine(configuration: configuration)
            let answer = try await ask(first, [question])
            await first.unload()
            let second = try await engine(configuration: configuration)
            let next = try await ask(
                second, [question, ChatMessage(.assistant, answer.text), ChatMessage(.user, "Why?")])
            let facts = try #require(next.summary)
            #expect(facts.encodedPictures == 0)
            #expect(facts.usage.cachedTokens >= 100)
            await second.unload()
            // Another projector gives other vectors.
            let other = try await engine(.twoWayProjector, configuration: configuration)
            #expect(try await ask(other, [question]).summary?.usage.cachedTokens == 0)
            await other.unload()
        }
    }
}
#endif
