#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    @Suite struct Limits {
        static let story = [ChatMessage(.user, "Write a very long story about a fox.")]

        @Test(arguments: [0, 1, 5])
        func ofNewTokens(count: Int) async throws {
            let engine = try await SharedEngine.engine
            let answer = try await Answer(
                engine.generate(Self.story, options: .greedy(maximumNewTokens: count)))
            #expect(answer.summary?.reason == .maximumNewTokens)
            #expect(answer.summary?.usage.generatedTokens == count)
            #expect(answer.text.isEmpty == (count == 0))
        }

        @Test func ofTimeBeforeTheFirstToken() async throws {
            let engine = try await SharedEngine.engine
            let answer = try await Answer(
                engine.generate(Self.story, options: GenerationOptions(sampling: .greedy, timeout: .zero)))
            #expect(answer.summary?.reason == .timedOut)
            #expect(answer.text.isEmpty)
        }

        /// The window of one conversation and the shared cells are separate limits.
        @Test func ofTheWindowAreNotThoseOfThePool() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path,
                configuration: LlamaConfiguration(contextLength: 512, cells: 2048, threadCount: 1, sequences: 4))
            let facts = try engine.answering(.text)
            #expect(facts.information.contextLength == 512)
            #expect(facts.admission.cells == 2048 && facts.admission.sequences == 4)
            let question = [ChatMessage(.user, String(repeating: "one two three four ", count: 160))]
            let error = await #expect(throws: LLMError.self) {
                try await engine.generate(question, options: .greedy()) { _ in }
            }
            #expect(error?.code == .exceededContextWindowSize)
            #expect(try await Answer(engine.generate(capitalOfFrance, options: .greedy())).text.contains("Paris"))
            await engine.unload()
        }

        /// The time-out counts from the request, so that waiting is part of it.
        @Test func ofTimeEndARequestThatWaits() async throws {
            let clock = ManualClock()
            let engine = try await LlamaActor.load(
                TestModel.path,
                configuration: LlamaConfiguration(contextLength: 1024, threadCount: 1, sequences: 1),
                time: clock.time)
            var running = engine.generate(Self.story, options: .greedy()).makeAsyncIterator()
            _ = try await running.next()
            let waiting = engine.generate(
                capitalOfFrance, options: GenerationOptions(sampling: .greedy, timeout: .seconds(1)))
            clock.advance(by: .seconds(2))
            let summary = try #require(try await Answer(waiting).summary)
            #expect(summary.reason == .timedOut && summary.usage.generatedTokens == 0)
            #expect(summary.usage.promptTokens == 0, "it was never admitted")
            #expect(try await running.next() != nil)
            await engine.unload()
        }

        @Test func ofTimeKeepTheTextSoFar() async throws {
            let clock = ManualClock()
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: LlamaConfiguration(contextLength: 1024, threadCount: 1),
                time: clock.time)
            var text = ""
            var summary: GenerationSummary?
            for try await event in engine.generate(Self.story, options: .greedy()) {
                switch event {
                case .text(let piece):
                    text += piece
                    clock.advance(by: .seconds(60))
                case .finish(let facts): summary = facts
                default: break
                }
            }
            #expect(summary?.reason == .timedOut)
            #expect(!text.isEmpty)
            #expect(try #require(summary).usage.generatedTokens < 768)
        }

        private func refusal(_ engine: LlamaActor, _ messages: [ChatMessage]) async throws -> LLMError? {
            await #expect(throws: LLMError.self) {
                _ = try await Answer(engine.generate(messages, options: .greedy()))
            }
        }

        /// No text has fewer tokens than the bound that is known without cutting it.
        @Test(arguments: [
            "a", " ", "\n", "=", "-", "😀", "日", "\u{0}", "<|im_end|>", "                ", "\t", "word ", "éa\r\n", "7",
            "The quick brown fox jumps over the lazy dog. ", "▁", "<|im_end|> \n",
        ])
        func ofBytesAreNeverTooStrict(piece: String) async throws {
            let vocabulary = try await SharedEngine.engine.answering(.text).weights.vocabulary
            let text = String(repeating: piece, count: 20_000 / piece.utf8.count)
            for isSpecial in [false, true] {
                let tokens = try vocabulary.tokens(of: text, addSpecial: false, parseSpecial: isSpecial)
                let fewest = vocabulary.fewestTokens(of: text, limit: .max - 1)
                #expect(fewest <= tokens.count && fewest > 0)
                // It reads no further than the limit.
                #expect(vocabulary.fewestTokens(of: text, limit: 9) == 10)
                #expect(vocabulary.fewestTokens(of: text, limit: fewest) == fewest)
            }
            #expect(vocabulary.fewestTokens(of: "", limit: 5) == 0)
        }

        /// A text with many control tokens is cut in pieces, and gives the same tokens.
        @Test(arguments: [
            "a b<|im_end|>", "<|im_start|><|endoftext|>", "x<|im_end|>\n y<|im_start|>", "日<|im_end|>", "<|im_end|> ",
            "<|im_<|im_end|>end|>",
        ])
        func ofTimeHoldForControlTokens(piece: String) async throws {
            let vocabulary = try await SharedEngine.engine.answering(.text).weights.vocabulary
            func tokens(_ text: String, _ isWhole: Bool = false) throws -> [TokenID] {
                try vocabulary.tokens(of: text, addSpecial: isWhole, parseSpecial: true)
            }
            // Each text begins and ends at a control token, which no letters join.
            let whole = "<|im_end|>" + String(repeating: piece + "<|im_end|>", count: 2000)
            let expected = try tokens("<|im_end|>") + (0..<2000).flatMap { _ in try tokens(piece + "<|im_end|>") }
            #expect(try tokens(whole) == expected)
            let around = try tokens("", true)
            #expect(try tokens(whole, true).count == expected.count + around.count)
            let error = #expect(throws: LLMError.self) {
                try vocabulary.tokens(of: whole, addSpecial: false, parseSpecial: true, limit: 3000)
            }
            #expect(error?.code == .exceededContextWindowSize)
        }

        /// A text that cannot fit is refused wherever it stands, and before it is cut.
        @Test func ofTextHoldForEveryCall() async throws {
            let engine = try await SharedEngine.engine
            let huge = String(repeating: "a", count: TestExtent.isFull ? 60_000_000 : 6_000_000)
            let blanks = String(repeating: " ", count: 1 << 20)
            var raw = GenerationOptions.greedy(maximumNewTokens: 1)
            raw.usesChatTemplate = false
            var keeping = GenerationOptions.greedy(maximumNewTokens: 1)
            keeping.keepsAllMessages = true
            var offering = GenerationOptions.greedy(maximumNewTokens: 1)
            offering.tools = [ToolDefinition(name: "look", description: huge, parameters: #"{"type":"object"}"#)]
            let call = ToolCall(id: "a", name: "look", arguments: #"{"at":"\#(blanks)"}"#)
            let question = ChatMessage(.user, "Hi.")
            let conversations: [([ChatMessage], GenerationOptions)] = [
                ([ChatMessage(.user, huge)], .greedy()), ([ChatMessage(.user, blanks)], .greedy()),
                ([ChatMessage(.user, huge)], raw), ([ChatMessage(.user, blanks)], raw),
                ([ChatMessage(.system, huge), question], .greedy()), ([ChatMessage(.user, huge), question], keeping),
                ([question, ChatMessage(.assistant, "", thinking: huge), question], keeping),
                ([question, ChatMessage(.assistant, "", toolCalls: [call]), question], keeping),
                ([question], offering), (.init(repeating: ChatMessage(.user, ""), count: 20_000), keeping),
            ]
            for (messages, options) in conversations {
                var error = await #expect(throws: LLMError.self) {
                    try await engine.generate(messages, options: options) { _ in }
                }
                #expect(error?.code == .exceededContextWindowSize)
                error = await #expect(throws: LLMError.self) {
                    try await engine.rendered(messages, options: options)
                }
                #expect(error?.code == .exceededContextWindowSize)
            }
            let calls: [@Sendable () async throws -> Void] = [
                { _ = try await engine.tokenize(huge) }, { _ = try await engine.count(blanks) },
                { _ = try await engine.count([ChatMessage(.user, huge)]) },
                { _ = try await engine.embed(["a", huge]) }, { _ = try await engine.embed([blanks]) },
                {
                    _ = try await engine.tokenize("one two three", controlTokens: true, wholePrompt: true, limit: 2)
                },
            ]
            for call in calls {
                let error = await #expect(throws: LLMError.self) { try await call() }
                #expect(error?.code == .exceededContextWindowSize)
            }
            #expect(try await engine.tokenize("a b", controlTokens: true, wholePrompt: false, limit: 2).count == 2)
        }

        /// A caller with a short text does not wait for the long text of another.
        @Test func ofTurnsAreThoseOfTheSize() async throws {
            let engine = try await SharedEngine.engine
            try await engine.texts.long.turn {
                let long = Task { try await engine.count(String(repeating: "word ", count: 5000)) }
                while engine.texts.long.waitingCount < 1 { await Task.yield() }
                #expect(try await engine.count("one two") == 2)
                let answer = try await Answer(engine.generate(capitalOfFrance, options: .greedy(maximumNewTokens: 1)))
                #expect(answer.summary?.usage.generatedTokens == 1)
                long.cancel()
                await #expect(throws: CancellationError.self) { _ = try await long.value }
            }
        }

        /// A request whose long text is being cut does not hold up the requests behind it.
        @Test func ofTextDoNotHoldUpLaterRequests() async throws {
            let engine = try await SharedEngine.engine
            let long = ChatMessage(.user, String(repeating: "word ", count: 5000))
            let early = Locked<Task<GenerationSummary, any Error>?>(nil)
            try await engine.texts.long.turn {
                early.withLock { task in
                    task = Task {
                        try await engine.generate([long], options: .greedy(maximumNewTokens: 1)) { _ in }
                    }
                }
                while engine.texts.long.waitingCount < 1 { await Task.yield() }
                let answer = try await Answer(engine.generate(capitalOfFrance, options: .greedy(maximumNewTokens: 2)))
                #expect(answer.summary?.usage.generatedTokens == 2)
            }
            let task = try #require(early.withLock { $0 })
            let error = await #expect(throws: LLMError.self) { try await task.value }
            #expect(error?.code == .exceededContextWindowSize)
        }

        @Test(.enabled(if: TestExtent.isFull)) func ofTheContext() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: LlamaConfiguration(contextLength: 100, threadCount: 1))
            let window = try engine.modelInformation.contextLength
            #expect(window >= 100)

            let light = try await LlamaActor.load(
                TestModel.light, configuration: LlamaConfiguration(contextLength: 100, threadCount: 1))
            let full = try await Answer(light.generate(Self.story, options: .greedy()))
            await light.unload()
            let usage = try #require(full.summary).usage
            #expect(full.summary?.reason == .contextFull)
            // The last token is shown although the context has no room to compute it.
            #expect(usage.promptTokens + usage.generatedTokens == window + 1)

            let words = String(repeating: "word ", count: window + 100)
            let error = await #expect(throws: LLMError.self) {
                _ = try await Answer(engine.generate([ChatMessage(.user, words)], options: .greedy()))
            }
            #expect(error?.code == .exceededContextWindowSize)
            #expect(error?.message.contains("\(window)") == true)
            #expect(error?.context.found?.hasSuffix("tokens") == true)

            // A text that cannot fit even with the longest tokens is not tokenised.
            let endless = try await refusal(
                engine, [ChatMessage(.user, String(repeating: "word ", count: 20_000))])
            #expect(endless?.code == .exceededContextWindowSize)
            #expect(
                endless?.context.found == "at least \(window + 1) tokens"
                    && endless?.context.expected == "fewer than \(window) tokens")
            let longest = TestExtent.isFull ? 20_000_000 : 2_000_000
            let larger = try await refusal(
                engine, [ChatMessage(.user, String(repeating: "word ", count: longest / 5))])
            #expect(larger?.code == .exceededContextWindowSize)
            #expect(larger?.context.found == "\(longest + 64) bytes")
            let kept = try await Answer(
                engine.generate(
                    [
                        ChatMessage(.user, String(repeating: "word ", count: longest / 5)),
                        ChatMessage(.assistant, "?"),
                    ]
                        + [ChatMessage(.user, "Hi")], options: .greedy(maximumNewTokens: 1)))
            #expect(kept.dropped == 2 && kept.summary != nil)

            // A conversation that exceeds the window continues without its oldest turns.
            var messages = [ChatMessage(.system, "You are a helpful assistant.")]
            for _ in 0..<12 {
                messages += [
                    ChatMessage(.user, "What is a fox doing?"), ChatMessage(.assistant, "It jumps over it."),
                ]
            }
            messages.append(capitalOfFrance[1])
            let answer = try await Answer(engine.generate(messages, options: .greedy(maximumNewTokens: 40)))
            #expect(answer.text.contains("Paris"))
            #expect(try #require(answer.summary).usage.promptTokens + 40 <= window)
        }
    }
}
#endif
