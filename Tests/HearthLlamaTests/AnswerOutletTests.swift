#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

@Suite struct AnswerOutletTests {
    private final class Reader {
        var seen: [GenerationEvent] = []
    }

    private let clock = ManualClock()
    private let reader = Reader()
    private let outlet: AnswerOutlet

    init() {
        outlet = AnswerOutlet(time: clock.time) { [reader] in reader.seen.append($0) }
    }

    /// Yields the events of one token, possibly none.
    private func token(_ pieces: GenerationEvent...) {
        for piece in pieces { outlet.yield(piece) }
        outlet.endToken()
    }

    @Test func theFirstPieceDoesNotWait() {
        outlet.yield(.phase(.decode))
        token(.text("a"))
        #expect(reader.seen == [.phase(.decode), .text("a")])
    }

    @Test func piecesOfOneFrameGoTogether() {
        token(.thinking("a"))
        clock.advance(by: .milliseconds(8))
        token(.thinking("b"))
        clock.advance(by: .milliseconds(8))
        token(.text("c"))
        #expect(reader.seen == [.thinking("a")])
        clock.advance(by: .milliseconds(8))
        token(.text("d"))
        #expect(reader.seen == [.thinking("a"), .thinking("b"), .text("c"), .text("d")])
    }

    @Test func slowPiecesNeverWait() {
        for count in 1...5 {
            token(.text("a"))
            #expect(reader.seen.count == count)
            clock.advance(by: AnswerOutlet.frame)
        }
    }

    /// The last piece of the thinking and the first piece of the answer.
    @Test func piecesOfOneTokenStayTogether() {
        for count in 1...5 {
            token(.thinking("a"), .text("b"))
            #expect(reader.seen.count == 2 * count)
            clock.advance(by: AnswerOutlet.frame)
        }
    }

    /// As with the tokens of a call, which have no shown text before its end.
    @Test func aPieceDoesNotWaitForTokensWithoutText() {
        token(.text("a"))
        clock.advance(by: .milliseconds(8))
        token(.text("b"))
        clock.advance(by: .milliseconds(8))
        token()
        #expect(reader.seen == [.text("a")])
        clock.advance(by: .milliseconds(8))
        token()
        #expect(reader.seen == [.text("a"), .text("b")])
    }

    @Test(arguments: [GenerationEvent.phase(.decode), .toolCall(ToolCall(id: "1", name: "add", arguments: "{}"))])
    func otherEventsDeliverTheWaitingPieces(event: GenerationEvent) {
        token(.text("a"))
        token(.text("b"))
        outlet.yield(event)
        #expect(reader.seen == [.text("a"), .text("b"), event])
    }

    @Test func waitingPiecesAreDeliveredOnce() {
        token(.text("a"))
        token(.text("b"))
        outlet.handOver()
        outlet.handOver()
        #expect(reader.seen == [.text("a"), .text("b")])
    }
}

extension RealModel {
    /// The clock does not advance, so every piece after the first waits until the outlet is told to hand it over.
    @Suite struct HeldPieces {
        private let clock = ManualClock()

        private static let story = "Write a story about a fox."

        /// The number of pieces a reader sees after two tokens of an answer and a third from a given step.
        private func pieces(_ third: @escaping @Sendable (StepBench) throws -> Void) async throws -> Int {
            let (stream, continuation) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
            try await blocking { [clock] in
                let bench = try StepBench(TestModel.path, time: clock.time)
                #expect(bench.loop.admit(bench.ask(Self.story, tokens: 60, of: continuation)) == .begun)
                let run = try #require(bench.loop.runs.first)
                while run.phase == .prefill { _ = bench.loop.step() }
                _ = bench.loop.step()
                try third(bench)
                continuation.finish()
                bench.cancelAll()
            }
            var count = 0
            do {
                for try await event in stream where event.isText { count += 1 }
            } catch is CancellationError {}
            return count
        }

        @Test func waitDuringAStepOfTheirAnswer() async throws {
            #expect(try await pieces { _ = $0.loop.step() } == 1)
        }

        /// The loop reports the end of each token to the outlet.
        @Test func waitNoLongerThanAFrame() async throws {
            let count = try await pieces { [clock] bench in
                clock.advance(by: AnswerOutlet.frame)
                _ = bench.loop.step()
            }
            #expect(count == 3)
        }

        @Test(.enabled(if: TestExtent.isFull)) func doNotWaitForAPrompt() async throws {
            let count = try await pieces { bench in
                #expect(bench.loop.admit(bench.ask(StepBench.longText)) == .begun)
                _ = bench.loop.step()
            }
            #expect(count == 2)
        }

        @Test(.enabled(if: TestExtent.isFull)) func doNotWaitForAnotherModel() async throws {
            // The piece also does not wait for the step after this one.
            #expect(try await pieces { _ = $0.loop.step(isBesideOthers: true) } == 3)
        }

        @Test func areDeliveredWhenTheAnswerEndsEarly() async throws {
            let count = try await pieces { bench in
                _ = bench.loop.step()
                bench.cancelAll()
            }
            #expect(count == 3)
        }

        @Test(.enabled(if: TestExtent.isFull)) func doNotWaitForJobsBetweenTwoSteps() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: LlamaConfiguration(contextLength: 1024, threadCount: 1),
                time: clock.time)
            var events = engine.generate([ChatMessage(.user, Self.story)], options: .greedy(maximumNewTokens: 700))
                .makeAsyncIterator()
            var first: GenerationEvent?
            repeat { first = try await events.next() } while first?.isText == false
            // There is a step between two calls, and the second call delivers its piece.
            for _ in 0..<3 { _ = try await engine.embed(["fox"]) }
            #expect(try await events.next()?.isText == true)
            #expect(engine.isAnswering)
        }
    }
}

extension GenerationEvent {
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
}
#endif
