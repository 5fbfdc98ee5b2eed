#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// The tokens that a session prepares before a question, and those that the question reuses.
    @Suite struct Preparing {
        /// An engine that reports the summary of each preparation.
        private struct PreparationReporter: ForwardingEngine {
            let engine: LlamaActor
            let summaries: AsyncStream<GenerationSummary?>.Continuation

            func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
                let answer = try? await Answer(engine.generate(messages, options: options, isPreparation: true))
                #expect(answer?.text == "" && answer?.thinking == "")
                summaries.yield(answer?.summary)
            }
        }

        /// A session whose preparations the test can await.
        private final class Talk {
            let session: LanguageModelSession
            let engine: LlamaActor
            private var summaries: AsyncStream<GenerationSummary?>.Iterator

            init(_ path: Path, instructions: String) async throws {
                engine = try await LlamaActor.load(
                    path, configuration: LlamaConfiguration(contextLength: 2048, threadCount: 1))
                let (stream, continuation) = AsyncStream<GenerationSummary?>.makeStream()
                session = LanguageModelSession(
                    model: PreparationReporter(engine: engine, summaries: continuation), instructions: instructions)
                summaries = stream.makeAsyncIterator()
            }

            /// - Returns: the number of prepared tokens, and how many of them were in memory before.
            func prepare(
                _ prefix: String = "", in session: LanguageModelSession? = nil
            ) async throws -> (all: Int, cached: Int) {
                (session ?? self.session).prewarm(promptPrefix: prefix)
                var iterator = summaries
                let summary = try #require(await iterator.next() ?? nil)
                summaries = iterator
                #expect(summary.usage.generatedTokens == 0)
                return (summary.usage.promptTokens, summary.usage.cachedTokens)
            }

            func ask(_ question: String) async throws -> GenerationSummary {
                // The only generated token is never computed, so the held tokens end with the question.
                try await session.respond(to: question, options: .greedy(maximumNewTokens: 1)).summary
            }
        }

        private static let instructions =
            "You are helpful. " + String(repeating: "The fox walks along the quiet river today. ", count: 8)

        private static let paths: [@Sendable () throws -> Path] = [
            { TestModel.path }, { try TestModel.path(.recurrent) }, { try TestModel.path(.thinking) },
        ]

        /// All prepared tokens are used in every turn, also by a model that cannot forget a part.
        @Test(arguments: paths.indices)
        func theQuestionGoesOnFromAllThatWasPrepared(index: Int) async throws {
            let talk = try await Talk(try Self.paths[index](), instructions: Self.instructions)
            let first = try await talk.prepare()
            #expect(first.cached == 0)
            let system = try await talk.engine.count(Self.instructions)
            #expect(first.all > system)
            // All tokens are prepared. The same session would not ask again before the end of its first
            // preparation.
            let later = LanguageModelSession(model: talk.session.model, transcript: talk.session.transcript)
            let again = try await talk.prepare(in: later)
            #expect(again == (all: first.all, cached: first.all))
            let answer = try await talk.ask("Why?")
            #expect(answer.usage.cachedTokens == first.all && answer.cacheMiss == nil)
            #expect(answer.usage.promptTokens > first.all)
            // The same in the next turn.
            let next = try await talk.prepare()
            let second = try await talk.ask("Where?")
            #expect(second.usage.cachedTokens >= next.all)
            // A turn without answer text is removed, so the next prompt differs from the held tokens after the
            // question before it.
            if talk.session.transcript.count == 5 { #expect(second.cacheMiss == nil) }
        }

        @Test func theBeginningOfTheQuestionIsPreparedToo() async throws {
            let talk = try await Talk(try TestModel.path(.recurrent), instructions: "Be kind.")
            let bare = try await talk.prepare()
            let more = try await talk.prepare("Where does the fox wal")
            // The last word can be continued, and this prefix does so.
            #expect(more.all > bare.all + 2 && more.cached == bare.all)
            let answer = try await talk.ask("Where does the fox walk today?")
            #expect(answer.usage.cachedTokens == more.all && answer.cacheMiss == nil)
        }

        /// A preparation takes one core, and ends with the arrival of anything else; what it has computed stays.
        @Test func aPreparationGivesWayToOtherWork() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: LlamaConfiguration(contextLength: 2048, threadCount: 2))
            let expected = [
                ChatMessage(.system, String(repeating: Self.instructions, count: 6)), ChatMessage(.user, ""),
            ]
            for other in TestExtent.isFull ? ["an answer", "a vector"] : ["an answer"] {
                let prepared = Task {
                    var computed = 0
                    var hasAsked = false
                    do {
                        for try await event in engine.generate(
                            expected, options: GenerationOptions(), isPreparation: true)
                        {
                            guard case .phase(.prefill(let done, _)) = event, done > computed else { continue }
                            computed = done
                            guard done > 128, !hasAsked else { continue }
                            hasAsked = true
                            #expect(await engine.visited { $0.loops[.text]?.model.sequences.context.threadCount } == 1)
                            if other == "an answer" {
                                let answer = try await Answer(
                                    engine.generate(
                                        [ChatMessage(.user, "Hi")], options: .greedy(maximumNewTokens: 2)))
                                #expect(answer.summary?.usage.generatedTokens ?? 0 > 0)
                            } else {
                                _ = try await engine.embed(["Hi"])
                            }
                        }
                        return (computed: computed, isCancelled: false)
                    } catch is CancellationError {
                        return (computed: computed, isCancelled: true)
                    }
                }
                let end = try await prepared.value
                #expect(end.isCancelled && end.computed > 128, "\(other)")
                let rest = try await Answer(
                    engine.generate(expected, options: GenerationOptions(), isPreparation: true))
                #expect(rest.summary?.usage.cachedTokens ?? 0 > 64, "\(other)")
                await engine.forget()
            }
        }

        /// Beside a running answer nothing is prepared.
        @Test func nothingIsPreparedBesideAnAnswer() async throws {
            let engine = try await SharedEngine.engine
            var hasBegun = false
            for try await event in engine.generate(
                [ChatMessage(.user, "Tell me a story.")], options: .greedy(maximumNewTokens: 40))
            {
                guard case .text = event, !hasBegun else { continue }
                hasBegun = true
                let error = await #expect(throws: LLMError.self) {
                    try await engine.prepare([ChatMessage(.user, "Why?")], options: GenerationOptions())
                }
                #expect(error?.code == .busy)
            }
            #expect(hasBegun)
        }

        /// The computed tokens of a longer conversation are not dropped for its beginning.
        @Test func aLongerConversationIsNotDropped() async throws {
            let talk = try await Talk(TestModel.path, instructions: Self.instructions)
            let answer = try await talk.ask("Why?")
            let other = LanguageModelSession(model: talk.engine, instructions: Self.instructions)
            let prepared = try await Answer(
                talk.engine.generate(
                    other.transcript + [ChatMessage(.user, "")],
                    options: GenerationOptions(), isPreparation: true))
            let usage = try #require(prepared.summary).usage
            #expect(usage.cachedTokens == usage.promptTokens)
            let second = try await talk.ask("Where?")
            #expect(second.usage.cachedTokens > answer.usage.promptTokens - 8)
        }
    }
}
#endif
