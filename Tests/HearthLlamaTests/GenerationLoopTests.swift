#if Llama
    import CLlama
    import HearthBase
    import HearthInference
    @testable import HearthLlama
    import HearthTestSupport
    import Testing

    extension RealModel {
        /// The steps themselves, driven by hand on one thread.
        @Suite struct Steps {
            /// A loop over a fresh model, and the requests made of it.
            private final class Bench {
                let loop: GenerationLoop
                private(set) var streams: [AsyncThrowingStream<GenerationEvent, any Error>] = []

                init(
                    sequences: Int = 8, context: Int = 4096, batch: Int = 512, threads: Int? = 1, gpuLayers: Int = -1,
                    hasGPU: Bool = false, load: CoreLoad = CoreLoad()
                ) throws {
                    loop = GenerationLoop(
                        try LoadedModel(
                            path: TestModel.path,
                            configuration: LlamaConfiguration(
                                contextLength: context, batchSize: batch, threadCount: threads, gpuLayers: gpuLayers,
                                stateBytes: 0, sequences: sequences),
                            hasGPU: hasGPU, load: load, progress: { _ in true }),
                        time: .system)
                }

                func ask(_ text: String, tokens: Int = 16) -> GenerationRequest {
                    let (stream, continuation) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
                    streams.append(stream)
                    return GenerationRequest(
                        role: .text, messages: [ChatMessage(.user, text)],
                        options: .greedy(maximumNewTokens: tokens), signal: StopSignal(),
                        stopwatch: TimeSource.system.stopwatch(), continuation: continuation)
                }

                /// Steps until nobody is left.
                func finish() { while !loop.runs.isEmpty { _ = loop.step() } }

                /// Has all that run leave at the next step, since nobody needs the rest of what they say.
                func letGo() {
                    for run in loop.runs { run.request.signal.cancel() }
                    _ = loop.step()
                    #expect(loop.runs.isEmpty)
                }
            }

            /// Computed together the odds differ in their last digits from those computed alone, so two answers may part at a
            /// close choice. What is said must be what the model, alone and answering token by token, holds for the best or nearly so.
            private func expectOwnAnswer(_ ledger: [llama_token], from first: Int, _ model: LoadedModel) throws {
                model.clearMemory(0)
                var prompt = TokenBatch(capacity: first)
                prompt.append(ledger[..<first], at: 0, outputs: .last)
                #expect(model.context.decode(prompt) == 0)
                for (position, token) in ledger.enumerated().dropFirst(first) {
                    let odds = try #require(llama_get_logits_ith(model.context.raw, -1))
                    let all = UnsafeBufferPointer(start: odds, count: model.vocabulary.count)
                    let best = try #require(all.max())
                    #expect(all[Int(token)] > best - 0.5, "token \(position - first): \(best - all[Int(token)])")
                    var batch = TokenBatch(capacity: 1)
                    batch.append([token], at: position, outputs: .last)
                    #expect(model.context.decode(batch) == 0)
                }
            }

            private static let longText = String(repeating: "The fox walks along the quiet river. ", count: 180)

            /// Beside a GPU nothing interrupts a computation, also where no layer lies on it.
            @Test(arguments: [(-1, false, 512), (0, false, 512), (-1, true, 256), (0, true, 256), (7, true, 256)])
            func aStepIsShortWhereNothingInterruptsIt(layers: Int, hasGPU: Bool, tokens: Int) async throws {
                try await blocking {
                    // What there is on this machine is not asked.
                    let bench = try Bench(gpuLayers: layers, hasGPU: hasGPU)
                    #expect(bench.loop.admit(bench.ask(Self.longText)) == .begun)
                    _ = bench.loop.step()
                    #expect(bench.loop.model.ledger(0).count == tokens)
                    bench.letGo()
                }
            }

            @Test func aStepIsShortWhereAnotherModelAnswers() async throws {
                try await blocking {
                    let bench = try Bench()
                    #expect(bench.loop.admit(bench.ask(Self.longText)) == .begun)
                    _ = bench.loop.step(isBesideOthers: true)
                    // Before anything is known of this machine.
                    #expect(bench.loop.model.ledger(0).count == 64)
                    _ = bench.loop.step(isBesideOthers: true)
                    #expect(bench.loop.model.ledger(0).count <= 64 + 256)
                    let before = bench.loop.model.ledger(0).count
                    _ = bench.loop.step()
                    #expect(bench.loop.model.ledger(0).count == before + 512)
                    bench.letGo()
                }
            }

            /// Programs that come while a prompt is read get their cores before it is read to the end.
            @Test(.enabled(if: LlamaConfiguration.coreCount > 1), arguments: [false, true])
            func threadsAdaptWhilePromptsAreRead(isBesideAnswers: Bool) async throws {
                try await blocking {
                    let cores = Double(LlamaConfiguration.coreCount)
                    var free = cores
                    var reading = CoreLoad.Reading(time: 0, idle: 0, process: 0, thread: 0)
                    let load = CoreLoad {
                        // A second between two readings.
                        reading.time += 1
                        reading.idle += free
                        return reading
                    }
                    let bench = try Bench(batch: 64, threads: nil, load: load)
                    if isBesideAnswers {
                        #expect(bench.loop.admit(bench.ask("Write a story.", tokens: 500)) == .begun)
                        while bench.loop.runs[0].phase == .prefill { _ = bench.loop.step() }
                    }
                    #expect(bench.loop.admit(bench.ask(Self.longText, tokens: 500)) == .begun)
                    let run = try #require(bench.loop.runs.last)
                    _ = bench.loop.step()
                    if !isBesideAnswers { #expect(bench.loop.model.context.threadCount == Int(cores)) }
                    free = 0
                    while run.phase == .prefill, bench.loop.model.context.threadCount > 1 { _ = bench.loop.step() }
                    #expect(run.phase == .prefill)
                    free = cores
                    while run.phase == .prefill, bench.loop.model.context.threadCount == 1 { _ = bench.loop.step() }
                    #expect(run.phase == .prefill)
                    bench.letGo()
                }
            }

            private static let subjects = ["fox", "ship", "train", "robot", "village", "lake", "king", "storm"]

            /// Of eight that answer together each says what it would say alone, also when others leave in the middle.
            @Test(arguments: [[], [0], [2, 7]])
            func eachAnswersForItself(cancelled: [Int]) async throws {
                try await blocking {
                    let bench = try Bench()
                    let requests = Self.subjects.map { bench.ask("Write a story about a \($0).", tokens: 20) }
                    var runs: [GenerationRun] = []
                    // One after the other, so that prompts are read beside answers.
                    for request in requests {
                        #expect(bench.loop.admit(request) == .begun)
                        runs.append(try #require(bench.loop.runs.last))
                        _ = bench.loop.step()
                    }
                    for index in cancelled { requests[index].signal.cancel() }
                    bench.finish()
                    #expect(Set(runs.map(\.sequence)).count == 8)
                    let alone = try Bench(sequences: 1)
                    for (index, run) in runs.enumerated() where !cancelled.contains(index) {
                        let ledger = bench.loop.model.ledger(run.sequence)
                        #expect(ledger.count == run.prompt.ledger.count + 19)
                        #expect(ledger.starts(with: run.prompt.ledger))
                        try expectOwnAnswer(ledger, from: run.prompt.ledger.count, alone.loop.model)
                    }
                }
            }

            private static func long(_ word: String, sentences: Int = 163) -> String {
                String(repeating: "The \(word) walks along the quiet river today. ", count: sentences)
            }

            @Test func aLongPromptHoldsUpNoAnswerForMoreThanAChunk() async throws {
                try await blocking {
                    let bench = try Bench()
                    #expect(bench.loop.admit(bench.ask("Write a story about a fox.", tokens: 60)) == .begun)
                    _ = bench.loop.step()
                    let story = try #require(bench.loop.runs.first)
                    #expect(story.phase == .decode)
                    #expect(bench.loop.admit(bench.ask(Self.long("bear", sentences: 80))) == .begun)
                    let other = bench.loop.runs[1]
                    #expect(other.prompt.ledger.count > 700)
                    var steps = 0
                    while other.phase == .prefill {
                        let before = (story.position, other.position)
                        _ = bench.loop.step()
                        steps += 1
                        // Every step brings the story its token, however much of the prompt is left.
                        #expect(story.position == before.0 + 1)
                        #expect((1...256).contains(other.position - before.1))
                    }
                    #expect(
                        ((other.prompt.ledger.count + 255) / 256...(other.prompt.ledger.count + 31) / 32).contains(
                            steps))
                    // A short one between them is read at once.
                    #expect(bench.loop.admit(bench.ask("Hello.")) == .begun)
                    _ = bench.loop.step()
                    #expect(bench.loop.runs.last?.phase == .decode)
                    bench.letGo()
                }
            }

            @Test func oneAloneReadsItsPromptInFullChunks() async throws {
                try await blocking {
                    let bench = try Bench()
                    #expect(bench.loop.admit(bench.ask(Self.long("bear"))) == .begun)
                    let run = bench.loop.runs[0]
                    _ = bench.loop.step()
                    #expect(run.position == 512)
                    bench.letGo()
                }
            }

            @Test func nobodyOvertakesAndRoomIsKept() async throws {
                try await blocking {
                    let bench = try Bench(sequences: 3, context: 1024)
                    let first = bench.ask(Self.long("fox", sentences: 40), tokens: 200)
                    let large = bench.ask(Self.long("bear", sentences: 60), tokens: 300)
                    let small = bench.ask("Hello.", tokens: 4)
                    #expect(bench.loop.admit(first) == .begun)
                    // Together they could outgrow the context.
                    #expect(bench.loop.admit(large) == .mustWait)
                    #expect(bench.loop.admit(large) == .mustWait)
                    for _ in 0..<4 { _ = bench.loop.step() }
                    #expect(bench.loop.admit(large) == .mustWait)
                    bench.letGo()
                    #expect(bench.loop.admit(large) == .begun)
                    #expect(bench.loop.admit(small) == .begun)
                    // What the first left behind has made room.
                    let held = (0..<3).map { bench.loop.model.ledger($0).count }.reduce(0, +)
                    #expect(held <= 1024)
                    bench.letGo()
                }
            }

            @Test func aCommonFrontIsComputedOnce() async throws {
                try await blocking {
                    let bench = try Bench()
                    let system = Self.long("fox", sentences: 20)
                    #expect(bench.loop.admit(bench.ask(system + "Say one.", tokens: 40)) == .begun)
                    _ = bench.loop.step()
                    // The first still answers.
                    #expect(bench.loop.admit(bench.ask(system + "Say two.", tokens: 4)) == .begun)
                    let second = bench.loop.runs[1]
                    #expect(second.sequence != bench.loop.runs[0].sequence)
                    #expect(second.position > 150)
                    bench.finish()
                    #expect(second.phase == .finished)
                }
            }

            /// Most of what the first has said and heard is a system prompt that others have too.
            @Test func anotherConversationWithTheSameFrontLeavesTheFirstAsItIs() async throws {
                try await blocking {
                    let bench = try Bench()
                    let system = Self.long("fox", sentences: 20)
                    #expect(bench.loop.admit(bench.ask(system + "Write a story about it.", tokens: 90)) == .begun)
                    let first = bench.loop.runs[0].sequence
                    bench.finish()
                    let held = bench.loop.model.ledger(first)
                    #expect(held.count > 250)
                    #expect(bench.loop.admit(bench.ask(system + "Say two.", tokens: 4)) == .begun)
                    let second = bench.loop.runs[0]
                    #expect(second.sequence != first && second.position > 150)
                    bench.finish()
                    #expect(bench.loop.model.ledger(first) == held)
                }
            }

            /// One alone takes only the room that it may come to need, the least recently used first.
            @Test func oneAloneLeavesTheOthersWhereThereIsRoom() async throws {
                try await blocking {
                    let bench = try Bench(context: 1024)
                    for word in ["fox", "bear", "wolf"] {
                        #expect(bench.loop.admit(bench.ask(Self.long(word, sentences: 20), tokens: 4)) == .begun)
                        bench.finish()
                    }
                    let held = { (0..<8).filter { !bench.loop.model.ledger($0).isEmpty } }
                    #expect(held() == [0, 1, 2])
                    let length = bench.loop.model.ledger(2).count
                    #expect((180..<250).contains(length))
                    // Beside this one there is room for one of them, not for two.
                    let last = bench.ask(Self.long("lake", sentences: 20), tokens: 1024 - 2 * length - 20)
                    #expect(bench.loop.admit(last) == .begun)
                    #expect(bench.loop.runs[0].sequence == 3)
                    #expect(held() == [2])
                    bench.letGo()
                }
            }

            @Test func givesUpABatchOnlyWhenNobodyWantsIt() async throws {
                try await blocking {
                    let bench = try Bench()
                    let requests = (0..<3).map { bench.ask("Write a story about \($0) foxes.", tokens: 60) }
                    for request in requests { #expect(bench.loop.admit(request) == .begun) }
                    while bench.loop.runs.contains(where: { $0.phase == .prefill }) { _ = bench.loop.step() }
                    _ = bench.loop.step()
                    let group = bench.loop.model.listeners
                    requests[0].signal.cancel()
                    requests[1].signal.expire()
                    #expect(!group.isSet)
                    let third = bench.loop.runs[2]
                    let before = third.position
                    #expect(bench.loop.step().count == 2)
                    #expect(third.position == before + 1)
                    requests[2].signal.cancel()
                    #expect(group.isSet)
                    // All sequences are free again.
                    #expect(bench.loop.step().count == 1)
                    #expect(bench.loop.model.conversations.table.slots.allSatisfy { !$0.isBusy })
                }
            }

            /// Stands for something that is no text.
            private final class Picture: PromptPicture {
                let ledger: [llama_token] = [-5, -6, -7]
                private(set) var places: [(position: Int, sequence: Int)] = []

                /// Takes its positions with a token that means nothing.
                func compute(in context: OpaquePointer, at position: Int, of sequence: Int) -> Int32 {
                    places.append((position, sequence))
                    var batch = llama_batch_init(Int32(ledger.count), 0, 1)
                    defer { llama_batch_free(batch) }
                    batch.n_tokens = Int32(ledger.count)
                    for index in ledger.indices {
                        batch.token[index] = 5
                        batch.pos[index] = llama_pos(position + index)
                        batch.n_seq_id[index] = 1
                        batch.seq_id[index]?[0] = llama_seq_id(sequence)
                        batch.logits[index] = 0
                    }
                    return llama_decode(context, batch)
                }
            }

            /// Something llama.cpp refuses to compute.
            private final class BrokenPicture: PromptPicture {
                let ledger: [llama_token] = [-9]
                func compute(in context: OpaquePointer, at position: Int, of sequence: Int) -> Int32 { -3 }
            }

            /// What is wrong with one step fails all that are in it, and nobody else; afterwards the engine answers as before.
            @Test(arguments: [false, true])
            func aFailedStepEndsWhoIsInItAndLeavesTheEngineUsable(isPicture: Bool) async throws {
                let streams = try await blocking {
                    let broken: [PromptPart] =
                        isPicture ? [.picture(BrokenPicture()), .tokens([4])] : [.tokens([4, .max, 5])]
                    let bench = try Bench()
                    #expect(bench.loop.admit(bench.ask("Hello.", tokens: 8)) == .begun)
                    bench.finish()
                    let other = bench.ask("Write a story about a fox.", tokens: 12)
                    #expect(bench.loop.admit(other) == .begun)
                    for _ in 0..<3 { _ = bench.loop.step() }
                    let run = try GenerationRun(
                        bench.ask("", tokens: 4), prompt: Prompt([.tokens([1, 2, 3])] + broken, text: ""),
                        model: bench.loop.model, time: .system)
                    #expect(bench.loop.admit(run) == .begun)
                    while run.phase != .finished { _ = bench.loop.step() }
                    let model = bench.loop.model
                    #expect(model.ledger(run.sequence).isEmpty && model.context.holds(0, in: run.sequence))
                    #expect(bench.loop.runs.count == (isPicture ? 1 : 0))
                    bench.finish()
                    #expect(model.conversations.table.slots.allSatisfy { !$0.isBusy })
                    for slot in model.conversations.table.slots.indices {
                        let ledger = model.ledger(slot)
                        #expect(model.conversations.table.slots[slot].held.tokens == ledger)
                        let isHeld = model.context.holds(ledger.count, in: slot)
                        #expect(isHeld)
                    }
                    #expect(bench.loop.admit(bench.ask("Hello.", tokens: 8)) == .begun)
                    bench.finish()
                    return bench.streams
                }
                let first = try await Answer(streams[0])
                for stream in isPicture ? [streams[2]] : [streams[1], streams[2]] {
                    let error = await #expect(throws: LLMError.self) { _ = try await Answer(stream) }
                    #expect(error?.code == .generateFailed)
                }
                if isPicture { #expect(try await Answer(streams[1]).summary?.usage.generatedTokens == 12) }
                let again = try await Answer(streams[3])
                #expect(again.text == first.text && again.summary?.reason == first.summary?.reason)
            }

            @Test func aPictureStandsBetweenTokens() async throws {
                try await blocking {
                    let picture = Picture()
                    let parts: [PromptPart] = [.tokens([1, 2, 3]), .picture(picture), .tokens([4, 5])]
                    let prompt = Prompt(parts, text: "")
                    #expect(prompt.ledger == [1, 2, 3, -5, -6, -7, 4, 5])
                    // Never a part of one.
                    #expect((0...8).map(prompt.reusable) == [0, 1, 2, 3, 3, 3, 6, 7, 8])
                    guard case .tokens(0..<3) = prompt.step(at: 0), case .tokens(2..<3) = prompt.step(at: 2),
                        case .picture = prompt.step(at: 3), case .tokens(6..<8) = prompt.step(at: 6)
                    else { return #expect(Bool(false)) }

                    let bench = try Bench()
                    #expect(bench.loop.admit(bench.ask("Hello.", tokens: 20)) == .begun)
                    _ = bench.loop.step()
                    let request = bench.ask("", tokens: 4)
                    let run = try GenerationRun(request, prompt: prompt, model: bench.loop.model, time: .system)
                    #expect(bench.loop.admit(run) == .begun)
                    bench.finish()
                    #expect(picture.places.map(\.position) == [3])
                    #expect(picture.places.map(\.sequence) == [run.sequence])
                    let ledger = bench.loop.model.ledger(run.sequence)
                    #expect(ledger.starts(with: prompt.ledger) && ledger.count > prompt.ledger.count)
                }
            }
        }
    }
#endif
