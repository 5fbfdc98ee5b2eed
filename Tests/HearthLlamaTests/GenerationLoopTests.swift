#if Llama
import CLlama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// The steps of a loop, called by the test on one thread.
    @Suite struct Steps {
        /// Checks an answer that was computed together with others. Its logits differ in their last digits from
        /// those of a model that computes alone, so a close choice may differ. Each token must be the best, or
        /// nearly the best, of the model alone.
        private func expectOwnAnswer(_ ledger: [llama_token], from first: Int, _ model: LoadedModel) throws {
            model.sequences.clear(0)
            var prompt = TokenBatch(capacity: first)
            prompt.append(ledger[..<first], at: 0, outputs: .last)
            #expect(model.sequences.context.decode(prompt) == 0)
            for (position, token) in ledger.enumerated().dropFirst(first) {
                let odds = try #require(llama_get_logits_ith(model.sequences.context.raw, -1))
                let all = UnsafeBufferPointer(start: odds, count: model.vocabulary.count)
                let best = try #require(all.max())
                #expect(all[Int(token)] > best - 0.5, "token \(position - first): \(best - all[Int(token)])")
                var batch = TokenBatch(capacity: 1)
                batch.append([token], at: position, outputs: .last)
                #expect(model.sequences.context.decode(batch) == 0)
            }
        }

        /// With a GPU no computation can be interrupted, also if it holds no layer.
        @Test(
            .enabled(if: TestExtent.isFull),
            arguments: [(-1, false, 512), (0, false, 512), (-1, true, 256), (0, true, 256), (7, true, 256)])
        func aStepIsShortOnDevicesThatCannotStop(layers: Int, hasGPU: Bool, tokens: Int) async throws {
            try await blocking {
                // The test does not use this machine's devices.
                let bench = try StepBench(gpuLayers: layers, hasGPU: hasGPU)
                #expect(bench.loop.admit(bench.ask(StepBench.longText)) == .begun)
                _ = bench.loop.step()
                #expect(bench.loop.model.sequences.ledger(0).count == tokens)
                bench.cancelAll()
            }
        }

        @Test(.enabled(if: TestExtent.isFull)) func aStepIsShortWhereAnotherModelAnswers() async throws {
            try await blocking {
                let bench = try StepBench()
                #expect(bench.loop.admit(bench.ask(StepBench.longText)) == .begun)
                _ = bench.loop.step(isBesideOthers: true)
                // This is the size before the first measurement.
                #expect(bench.loop.model.sequences.ledger(0).count == 128)
                _ = bench.loop.step(isBesideOthers: true)
                #expect(bench.loop.model.sequences.ledger(0).count <= 128 + 256)
                let before = bench.loop.model.sequences.ledger(0).count
                _ = bench.loop.step()
                #expect(bench.loop.model.sequences.ledger(0).count == before + 512)
                bench.cancelAll()
            }
        }

        /// Programs that start during a prompt get their cores before the prompt is finished.
        @Test(
            .enabled(if: TestExtent.isFull), .enabled(if: LlamaConfiguration.coreCount > 1),
            arguments: [false, true])
        func threadsAdaptWhilePromptsAreRead(isBesideAnswers: Bool) async throws {
            try await blocking {
                let cores = Double(LlamaConfiguration.coreCount)
                var free = cores
                var reading = CoreLoad.Reading(time: 0, idle: 0, process: 0, thread: 0)
                let load = CoreLoad {
                    // One second passes between two readings.
                    reading.time += 1
                    reading.idle += free
                    return reading
                }
                let bench = try StepBench(batch: 64, threads: nil, load: load)
                if isBesideAnswers {
                    #expect(bench.loop.admit(bench.ask("Write a story.", tokens: 500)) == .begun)
                    while bench.loop.runs[0].phase == .prefill { _ = bench.loop.step() }
                }
                #expect(bench.loop.admit(bench.ask(StepBench.longText, tokens: 500)) == .begun)
                let run = try #require(bench.loop.runs.last)
                _ = bench.loop.step()
                if !isBesideAnswers { #expect(bench.loop.model.sequences.context.threadCount == Int(cores)) }
                free = 0
                while run.phase == .prefill, bench.loop.model.sequences.context.threadCount > 1 {
                    _ = bench.loop.step()
                }
                #expect(run.phase == .prefill)
                free = cores
                while run.phase == .prefill, bench.loop.model.sequences.context.threadCount == 1 {
                    _ = bench.loop.step()
                }
                #expect(run.phase == .prefill)
                bench.cancelAll()
            }
        }

        private static let subjects = ["fox", "ship", "train", "robot", "village", "lake", "king", "storm"]

        /// Each of eight simultaneous answers equals the answer alone, also if others are cancelled.
        @Test(arguments: TestExtent.isFull ? [[], [0], [2, 7]] : [[2, 7]])
        func eachAnswersForItself(cancelled: [Int]) async throws {
            try await blocking {
                let bench = try StepBench(TestModel.path)
                let tokens = TestExtent.isFull ? 20 : 8
                let requests = Self.subjects.map { bench.ask("Write a story about a \($0).", tokens: tokens) }
                var runs: [Generation] = []
                // The requests are admitted one after the other, so that prompts are computed beside answers.
                for request in requests {
                    #expect(bench.loop.admit(request) == .begun)
                    runs.append(try #require(bench.loop.runs.last))
                    _ = bench.loop.step()
                }
                for index in cancelled { requests[index].signal.cancel() }
                bench.finish()
                #expect(Set(runs.map(\.sequence)).count == 8)
                let alone = try StepBench(TestModel.path, sequences: 1)
                for (index, run) in runs.enumerated() where !cancelled.contains(index) {
                    // The short extent compares the answers beside the cancelled ones, and one more.
                    guard TestExtent.isFull || [1, 3, 6].contains(index) else { continue }
                    let ledger = bench.loop.model.sequences.ledger(run.sequence)
                    #expect(ledger.count == run.prompt.ledger.count + tokens - 1)
                    #expect(ledger.starts(with: run.prompt.ledger))
                    try expectOwnAnswer(ledger, from: run.prompt.ledger.count, alone.loop.model)
                }
            }
        }

        @Test(.enabled(if: TestExtent.isFull)) func aLongPromptHoldsUpNoAnswerForMoreThanAChunk() async throws {
            try await blocking {
                let bench = try StepBench()
                #expect(bench.loop.admit(bench.ask("Write a story about a fox.", tokens: 60)) == .begun)
                _ = bench.loop.step()
                let story = try #require(bench.loop.runs.first)
                #expect(story.phase == .decode)
                #expect(bench.loop.admit(bench.ask(StepBench.long("bear", sentences: 80))) == .begun)
                let other = bench.loop.runs[1]
                #expect(other.prompt.ledger.count > 700)
                var steps = 0
                while other.phase == .prefill {
                    let before = (story.position, other.position)
                    _ = bench.loop.step()
                    steps += 1
                    // Every step gives the story one token, also during a long prompt.
                    #expect(story.position == before.0 + 1)
                    #expect((1..<256 + BatchPlan.tile).contains(other.position - before.1))
                }
                #expect(
                    ((other.prompt.ledger.count + 255) / 256...(other.prompt.ledger.count + 63) / 64).contains(
                        steps))
                // A short prompt in between is computed at once.
                #expect(bench.loop.admit(bench.ask("Hello.")) == .begun)
                _ = bench.loop.step()
                #expect(bench.loop.runs.last?.phase == .decode)
                bench.cancelAll()
            }
        }

        @Test func aSingleRequestComputesItsPromptInFullChunks() async throws {
            try await blocking {
                let batch = TestExtent.isFull ? 512 : 128
                let bench = try StepBench(batch: batch)
                #expect(bench.loop.admit(bench.ask(StepBench.long("bear"))) == .begun)
                let run = bench.loop.runs[0]
                _ = bench.loop.step()
                #expect(run.position == batch)
                bench.cancelAll()
            }
        }

        @Test func requestsKeepTheirOrderAndTheirRoom() async throws {
            try await blocking {
                let bench = try StepBench(sequences: 3, context: 512)
                let first = bench.ask(StepBench.long("fox", sentences: 20), tokens: 100)
                let large = bench.ask(StepBench.long("bear", sentences: 30), tokens: 150)
                let small = bench.ask("Hello.", tokens: 4)
                #expect(bench.loop.admit(first) == .begun)
                // Together both could exceed the context.
                #expect(bench.loop.admit(large) == .lacksRoom)
                #expect(bench.loop.admit(large) == .lacksRoom)
                for _ in 0..<4 { _ = bench.loop.step() }
                #expect(bench.loop.admit(large) == .lacksRoom)
                bench.cancelAll()
                #expect(bench.loop.admit(large) == .begun)
                #expect(bench.loop.admit(small) == .begun)
                // The state of the first conversation was dropped for the new one.
                let held = (0..<3).map { bench.loop.model.sequences.ledger($0).count }.reduce(0, +)
                #expect(held <= 512)
                bench.cancelAll()
            }
        }

        /// Conversations with a common beginning take its cells once, also after the first has ended.
        @Test func aCommonBeginningIsCountedOnce() async throws {
            try await blocking {
                let bench = try StepBench(sequences: 4, context: 512)
                let text = StepBench.long("fox", sentences: 30)
                let requests = (0..<3).map { bench.ask(text + " Question \($0)?", tokens: 40) }
                #expect(bench.loop.admit(requests[0]) == .begun)
                // Nothing is computed yet that could be shared.
                #expect(bench.loop.admit(requests[1]) == .lacksRoom)
                while bench.loop.runs[0].phase == .prefill { _ = bench.loop.step() }
                #expect(bench.loop.runs[0].need * 2 > 512)
                #expect(bench.loop.admit(requests[1]) == .begun)
                #expect(bench.loop.admit(requests[2]) == .begun)
                let shared = try #require(bench.loop.runs.last?.shares)
                #expect(shared.donor === bench.loop.runs[0] && shared.count > 250)
                let (heir, other) = (bench.loop.runs[1], bench.loop.runs[2])
                requests[0].signal.cancel()
                while bench.loop.runs.count == 3 { _ = bench.loop.step() }
                let (left, right) = (heir.shares?.donor, other.shares?.donor)
                #expect((left == nil && right === heir) || (right == nil && left === other))
                bench.finish()
            }
        }

        /// With cells for a whole context of each sequence, none reads another's cells, and common beginnings are
        /// copied.
        @Test(.enabled(if: TestExtent.isFull)) func sequencesWithCellsOfTheirOwnAnswerTheSame() async throws {
            try await blocking {
                let bench = try StepBench(TestModel.path, sequences: 3, context: 1024, cells: 3072)
                let sequences = bench.loop.model.sequences
                let (isOwn, length, cells) = (
                    sequences.context.hasOwnCells, sequences.context.length, sequences.context.cells
                )
                #expect(isOwn && length == 1024 && cells == 3072)
                let text = StepBench.long("fox", sentences: 20)
                var runs: [Generation] = []
                func begin(_ question: String) throws {
                    #expect(bench.loop.admit(bench.ask(question, tokens: 8)) == .begun)
                    runs.append(try #require(bench.loop.runs.last))
                }
                try begin("Hello.")
                try begin(text + " What is it about?")
                while runs[1].phase == .prefill { _ = bench.loop.step() }
                try begin(text + " Who walks?")
                #expect(sequences.ledger(runs[2].sequence).count > 150)
                #expect(sequences.ledger(runs[2].sequence).count < runs[2].prompt.ledger.count)
                bench.finish()
                let alone = try StepBench(TestModel.path, sequences: 1)
                for run in runs {
                    let ledger = sequences.ledger(run.sequence)
                    #expect(ledger.starts(with: run.prompt.ledger))
                    try expectOwnAnswer(ledger, from: run.prompt.ledger.count, alone.loop.model)
                }
            }
        }

        /// A prompt that is made again for another model reports the dropped messages once.
        @Test func aPromptMadeAgainTellsDroppedMessagesOnce() async throws {
            let (stream, continuation) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
            try await blocking {
                let benches = try (0..<2).map { _ in try StepBench(sequences: 1, context: 256) }
                #expect(benches[0].loop.admit(benches[0].ask("Write a story.", tokens: 8)) == .begun)
                let messages = [
                    ChatMessage(.user, String(repeating: "word ", count: 400)), ChatMessage(.assistant, "?"),
                    ChatMessage(.user, "Hi"),
                ]
                let request = GenerationRequest(
                    role: .text, messages: messages, options: .greedy(maximumNewTokens: 1),
                    stopwatch: TimeSource.system.stopwatch(), reply: GenerationReply(continuation))
                let generation = try Generation(
                    request, made: PromptMaker(benches[0].loop.model).make(request), model: benches[0].loop.model,
                    time: .system)
                request.prepared = generation
                #expect(benches[0].loop.admit(request) == .mustWait)
                #expect(benches[1].loop.admit(request) == .begun)
                benches[1].finish()
                benches[0].cancelAll()
            }
            var dropped: [Int] = []
            for try await event in stream { if case .truncated(let count) = event { dropped.append(count) } }
            #expect(dropped == [2])
        }
    }
}
#endif
