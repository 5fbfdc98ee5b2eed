#if Llama
import CLlama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// The tokens in sequences when steps share cells, fail, or contain pictures.
    @Suite struct StepMemory {
        @Test func aCommonBeginningIsComputedOnce() async throws {
            try await blocking {
                let bench = try StepBench()
                let system = StepBench.long("fox", sentences: 20)
                #expect(bench.loop.admit(bench.ask(system + "Say one.", tokens: 40)) == .begun)
                _ = bench.loop.step()
                // The first request is still answering.
                #expect(bench.loop.admit(bench.ask(system + "Say two.", tokens: 4)) == .begun)
                let second = bench.loop.runs[1]
                #expect(second.sequence != bench.loop.runs[0].sequence)
                #expect(second.position > 150)
                bench.finish()
                #expect(second.phase == .finished)
            }
        }

        /// Most tokens of the first conversation are a system prompt that other conversations share.
        @Test func anotherConversationWithTheSameBeginningKeepsTheFirst() async throws {
            try await blocking {
                let bench = try StepBench()
                let system = StepBench.long("fox", sentences: 20)
                #expect(bench.loop.admit(bench.ask(system + "Write a story about it.", tokens: 90)) == .begun)
                let first = bench.loop.runs[0].sequence
                bench.finish()
                let held = bench.loop.model.sequences.ledger(first)
                #expect(held.count > 250)
                #expect(bench.loop.admit(bench.ask(system + "Say two.", tokens: 4)) == .begun)
                let second = bench.loop.runs[0]
                #expect(second.sequence != first && second.position > 150)
                bench.finish()
                #expect(bench.loop.model.sequences.ledger(first) == held)
            }
        }

        /// A single request drops only as many conversations as it needs room for, the least recently used first.
        @Test(.enabled(if: TestExtent.isFull)) func aSingleRequestDropsOthersOnlyForItsRoom() async throws {
            try await blocking {
                let bench = try StepBench(context: 1024)
                for word in ["fox", "bear", "wolf"] {
                    #expect(bench.loop.admit(bench.ask(StepBench.long(word, sentences: 20), tokens: 4)) == .begun)
                    bench.finish()
                }
                let held = { (0..<8).filter { !bench.loop.model.sequences.ledger($0).isEmpty } }
                #expect(held() == [0, 1, 2])
                let length = bench.loop.model.sequences.ledger(2).count
                #expect((180..<250).contains(length))
                // Beside this request there is room for one of the conversations, not for two.
                let last = bench.ask(StepBench.long("lake", sentences: 20), tokens: 1024 - 2 * length - 20)
                #expect(bench.loop.admit(last) == .begun)
                #expect(bench.loop.runs[0].sequence == 3)
                #expect(held() == [2])
                bench.cancelAll()
            }
        }

        @Test func abortsABatchOnlyWhenAllItsRequestsHaveEnded() async throws {
            try await blocking {
                let bench = try StepBench()
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

        /// A part of a prompt that is no text.
        private final class Picture: PromptPicture {
            let ledger: [llama_token] = [-5, -6, -7]
            let cells = 3
            let wasEncoded = false
            private(set) var places: [(position: Int, sequence: Int)] = []

            /// Fills its positions with an arbitrary token.
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

        /// A part that llama.cpp refuses to compute.
        private final class BrokenPicture: PromptPicture {
            let ledger: [llama_token] = [-9]
            let cells = 1
            let wasEncoded = false
            func compute(in context: OpaquePointer, at position: Int, of sequence: Int) -> Int32 { -3 }
        }

        /// A failed prompt fails its own request and no others; afterwards the engine answers as before.
        @Test(arguments: [false, true])
        func aFailedPromptEndsItsRequestAndLeavesTheEngineUsable(isPicture: Bool) async throws {
            let streams = try await blocking {
                let broken: [PromptPart] =
                    isPicture ? [.picture(BrokenPicture()), .tokens([4])] : [.tokens([4, .max, 5])]
                let bench = try StepBench()
                #expect(bench.loop.admit(bench.ask("Hello.", tokens: 8)) == .begun)
                bench.finish()
                let other = bench.ask("Write a story about a fox.", tokens: 12)
                #expect(bench.loop.admit(other) == .begun)
                for _ in 0..<3 { _ = bench.loop.step() }
                let made = MadePrompt(
                    mark: bench.loop.model.weights.mark,
                    prompt: Prompt([.tokens([1, 2, 3])] + broken, text: ""), constraint: nil)
                let run = try Generation(
                    bench.ask("", tokens: 4), made: made, model: bench.loop.model, time: .system)
                #expect(bench.loop.admit(run) == .begun)
                while run.phase != .finished { _ = bench.loop.step() }
                let model = bench.loop.model
                #expect(
                    model.sequences.ledger(run.sequence).isEmpty
                        && model.sequences.context.holds(0, in: run.sequence))
                #expect(bench.loop.runs.count == 1)
                bench.finish()
                #expect(model.conversations.table.slots.allSatisfy { !$0.isBusy })
                for slot in model.conversations.table.slots.indices {
                    let ledger = model.sequences.ledger(slot)
                    #expect(model.conversations.table.slots[slot].held.tokens == ledger)
                    let isHeld = model.sequences.context.holds(ledger.count, in: slot)
                    #expect(isHeld)
                }
                #expect(bench.loop.admit(bench.ask("Hello.", tokens: 8)) == .begun)
                bench.finish()
                return bench.streams
            }
            let first = try await Answer(streams[0])
            let error = await #expect(throws: LLMError.self) { _ = try await Answer(streams[2]) }
            #expect(error?.code == .generateFailed)
            #expect(try await Answer(streams[1]).summary?.usage.generatedTokens == 12)
            let again = try await Answer(streams[3])
            #expect(again.text == first.text && again.summary?.reason == first.summary?.reason)
        }

        @Test func aPictureStandsBetweenTokens() async throws {
            try await blocking {
                let picture = Picture()
                let parts: [PromptPart] = [.tokens([1, 2, 3]), .picture(picture), .tokens([4, 5])]
                let prompt = Prompt(parts, text: "")
                #expect(prompt.ledger == [1, 2, 3, -5, -6, -7, 4, 5])
                #expect((0...8).map(prompt.hasPictures) == (0...8).map { $0 <= 3 })
                // A picture is never reused in part.
                #expect((0...8).map(prompt.reusable) == [0, 1, 2, 3, 3, 3, 6, 7, 8])
                guard case .tokens(0..<3) = prompt.step(at: 0), case .tokens(2..<3) = prompt.step(at: 2),
                    case .picture = prompt.step(at: 3), case .tokens(6..<8) = prompt.step(at: 6)
                else { return #expect(Bool(false)) }

                let bench = try StepBench()
                #expect(bench.loop.admit(bench.ask("Hello.", tokens: 20)) == .begun)
                _ = bench.loop.step()
                let request = bench.ask("", tokens: 4)
                let made = MadePrompt(mark: bench.loop.model.weights.mark, prompt: prompt, constraint: nil)
                let run = try Generation(request, made: made, model: bench.loop.model, time: .system)
                #expect(bench.loop.admit(run) == .begun)
                bench.finish()
                #expect(picture.places.map(\.position) == [3])
                #expect(picture.places.map(\.sequence) == [run.sequence])
                let ledger = bench.loop.model.sequences.ledger(run.sequence)
                #expect(ledger.starts(with: prompt.ledger) && ledger.count > prompt.ledger.count)
            }
        }
    }
}
#endif
