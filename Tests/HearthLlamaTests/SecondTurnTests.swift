#if Llama
import CLlama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// The tokens that models with different memories reuse in the next turn of a conversation. Their answers equal
    /// those of a model that computes the whole prompt.
    @Suite struct SecondTurns {
        private struct Turn {
            let answer: Answer
            let prompt: [llama_token]
            /// The number of its tokens before the beginning of the answer.
            let asked: Int
            /// The tokens in memory afterwards.
            let ledger: [llama_token]
            let messages: [ChatMessage]

            func cached() throws -> Int { try #require(answer.summary).usage.cachedTokens }

            func miss() throws -> CacheMiss? { try #require(answer.summary).cacheMiss }

            /// The number of computed prompt tokens, from the reported phases.
            var prefilled: Int? {
                guard case .prefill(let done, let total)? = answer.phases.first else { return nil }
                return total - done
            }
        }

        /// A model with one sequence, whose steps the test calls.
        private struct Talk {
            let loop: GenerationLoop

            init(_ model: TestModel.Tiny) async throws {
                loop = try await blocking {
                    let model = try LoadedModel(
                        path: TestModel.path(model),
                        configuration: LlamaConfiguration(
                            contextLength: 1024, threadCount: 1, stateBytes: 0, sequences: 1),
                        progress: { _ in true })
                    return GenerationLoop(model, load: CoreLoad(), time: .system)
                }
            }

            func turn(_ messages: [ChatMessage], tokens: Int = 40) async throws -> Turn {
                let (stream, continuation) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
                let request = GenerationRequest(
                    role: .text, messages: messages, options: .greedy(maximumNewTokens: tokens),
                    signal: StopSignal(), stopwatch: TimeSource.system.stopwatch(),
                    reply: GenerationReply(continuation))
                let (prompt, asked, ledger) = try await blocking {
                    #expect(loop.admit(request) == .begun)
                    let run = try #require(loop.runs.first)
                    while !loop.runs.isEmpty { _ = loop.step() }
                    return (run.prompt.ledger, run.prompt.asked, loop.model.sequences.ledger(0))
                }
                let answer = try await Answer(stream)
                let next = [ChatMessage(.assistant, answer.text), ChatMessage(.user, "Why?")]
                return Turn(answer: answer, prompt: prompt, asked: asked, ledger: ledger, messages: messages + next)
            }
        }

        private static func question(_ end: String, sentences: Int = 20) -> [ChatMessage] {
            let text = String(repeating: "The fox walks along the quiet river today. ", count: sentences)
            return [ChatMessage(.system, "You are helpful."), ChatMessage(.user, text + end)]
        }

        /// Checks that prompt and answer equal those of a model without earlier tokens. Logits from other steps
        /// differ in their last digits. Where that may decide, each token must be about the best for a fresh model.
        private func expectAsFresh(_ turn: Turn, _ model: TestModel.Tiny, tokens: Int = 40) async throws {
            let messages = Array(turn.messages.dropLast(2))
            let fresh = try await Talk(model).turn(messages, tokens: tokens)
            #expect(try fresh.cached() == 0 && fresh.miss() == .cold)
            #expect(fresh.prefilled == turn.prompt.count)
            #expect(fresh.prompt == turn.prompt)
            if model == .thinking { return try await expectOwnChoices(turn, model) }
            #expect(fresh.ledger == turn.ledger)
            #expect(fresh.answer.text == turn.answer.text && fresh.answer.thinking == turn.answer.thinking)
        }

        private func expectOwnChoices(_ turn: Turn, _ model: TestModel.Tiny) async throws {
            let loop = try await Talk(model).loop
            try await blocking {
                // Only the first tokens are chosen by the model: thinking ends at the earliest after half of the
                // tokens.
                let end = min(turn.ledger.count, turn.prompt.count + 12)
                #expect(end > turn.prompt.count)
                for position in turn.prompt.count..<end {
                    let odds = try Self.odds(after: Array(turn.ledger[..<position]), loop.model)
                    let best = try #require(odds.max())
                    let chosen = odds[Int(turn.ledger[position])]
                    #expect(chosen > best - 0.5, "token \(position - turn.prompt.count): \(best - chosen)")
                }
            }
        }

        /// Computes the new tokens and returns the logits after the last.
        private static func odds(after tokens: [llama_token], _ model: LoadedModel) throws -> [Float] {
            let held = model.sequences.ledger(0).count
            var batch = TokenBatch(capacity: tokens.count - held)
            batch.append(tokens[held...], at: held, outputs: .last)
            #expect(model.sequences.context.decode(batch) == 0)
            model.sequences.didCompute(tokens[held...], in: 0)
            let odds = try model.sequences.context.logits(at: -1)
            return Array(UnsafeBufferPointer(start: odds, count: model.vocabulary.count))
        }

        private func expect(
            _ turn: Turn, reuses count: Int, _ miss: CacheMiss?,
            _ location: SourceLocation = #_sourceLocation
        ) throws {
            #expect(try turn.cached() == count, sourceLocation: location)
            #expect(turn.prefilled == turn.prompt.count - count, sourceLocation: location)
            #expect(try turn.miss() == miss, sourceLocation: location)
            #expect(turn.ledger.starts(with: turn.prompt), sourceLocation: location)
        }

        @Test(arguments: TestExtent.isFull ? [TestModel.Tiny.recurrent, .window, .thinking] : [.window])
        func reuseTheTokensTheModelCanReturnTo(_ model: TestModel.Tiny) async throws {
            let talk = try await Talk(model)
            let first = try await talk.turn(Self.question("Say yes."))
            try expect(first, reuses: 0, .cold)
            #expect(!first.answer.text.isEmpty)
            let second = try await talk.turn(first.messages)
            let common = PrefixPlan.commonLength(first.ledger, second.prompt)
            if common == first.ledger.count {
                try expect(second, reuses: common, nil)
            } else if model == .recurrent {
                try expect(second, reuses: 0, .recurrent)
            } else {
                try expect(second, reuses: common, .parted)
            }
            try await expectAsFresh(second, model)
        }

        /// The template opens the thinking in the prompt and leaves it out of the history: the thinking is dropped,
        /// the question stays.
        @Test func afterThinkingTheQuestionIsStillThere() async throws {
            let talk = try await Talk(.thinking)
            let first = try await talk.turn(Self.question("Say yes.", sentences: 4), tokens: 20)
            #expect(!first.answer.thinking.isEmpty)
            // The tokens of the thinking are in the ledger.
            let generated = try #require(first.answer.summary).usage.generatedTokens
            #expect((first.prompt.count + generated - 1...first.prompt.count + generated) ~= first.ledger.count)
            let second = try await talk.turn(first.messages, tokens: 2)
            #expect(try second.miss() == .parted)
            let opening = try talk.loop.model.vocabulary.tokens(
                of: "<think>\n", addSpecial: false, parseSpecial: true)
            #expect(try second.cached() >= first.prompt.count - opening.count - 1)
            #expect(try second.cached() < first.prompt.count)
            // The asked part ends before the answer's opening, so that the next prompt continues it.
            #expect(first.asked < first.prompt.count - opening.count)
            #expect(try second.cached() >= first.asked)
        }

        @Test func aRecurrentModelGoesOnOnlyFromTheEnd() async throws {
            let talk = try await Talk(.recurrent)
            // The only generated token is never computed, so the memory ends with the question.
            let first = try await talk.turn(Self.question("Say yes."), tokens: 1)
            #expect(first.ledger == first.prompt)
            let second = try await talk.turn(first.messages, tokens: 8)
            try expect(second, reuses: first.prompt.count, nil)
            try await expectAsFresh(second, .recurrent, tokens: 8)
            // The question is asked again, and edited.
            let again = try await talk.turn(first.messages, tokens: 8)
            try expect(again, reuses: 0, .recurrent)
            #expect(again.ledger == second.ledger)
            let edited = try await talk.turn(Self.question("Say no."), tokens: 8)
            try expect(edited, reuses: 0, .recurrent)
            try await expectAsFresh(edited, .recurrent, tokens: 8)
        }

        /// Half of the layers attend to 64 tokens. The earlier tokens are kept all the same, so that the model can
        /// return to any position.
        @Test func aSlidingWindowGoesBackFurtherThanItIsLong() async throws {
            let talk = try await Talk(.window)
            let first = try await talk.turn(Self.question("Say yes."))
            let second = try await talk.turn(first.messages)
            let edited = try await talk.turn(Self.question("Say no."))
            let common = PrefixPlan.commonLength(second.ledger, edited.prompt)
            #expect(common > 150 && second.ledger.count - common > 64)
            try expect(edited, reuses: common, .parted)
            try await expectAsFresh(edited, .window)
            let again = try await talk.turn(Self.question("Say no."))
            try expect(again, reuses: edited.prompt.count - 1, .repeated)
            #expect(again.ledger == edited.ledger)
        }

        /// A model wrongly treated as able to forget a part: llama.cpp refuses, and all tokens are computed again.
        @Test func aRefusedRemovalComputesAllTokens() async throws {
            try await blocking {
                let model = try LoadedModel(
                    path: TestModel.path(.recurrent),
                    configuration: LlamaConfiguration(contextLength: 256, threadCount: 1, stateBytes: 0),
                    progress: { _ in true })
                let memory = ConversationMemory(model, maker: "", savedBytes: 0)
                let front = Array(llama_token(100)..<120)
                let one = front + [5, 6, 7]
                let first = memory.place(Prompt([.tokens(one)], text: ""), need: 64)
                #expect(first?.plan.miss == .cold)
                _ = try Self.odds(after: one, model)
                memory.end(0)
                let other = front + [8, 9]
                let second = memory.place(Prompt([.tokens(other)], text: ""), need: 64)
                #expect(second?.plan.miss == .removalRefused && second?.plan.action == .rebuild)
                #expect(second?.plan.reused == 0 && second?.plan.remaining == other.count)
                #expect(model.sequences.ledger(0).isEmpty && model.sequences.context.holds(0, in: 0))
                let odds = try Self.odds(after: other, model)
                model.sequences.clear(0)
                #expect(try Self.odds(after: other, model) == odds)
            }
        }
    }
}
#endif
