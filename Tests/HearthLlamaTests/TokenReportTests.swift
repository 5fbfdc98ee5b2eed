#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    @Suite struct TokenReporting {
        /// The reports and the text of an answer.
        private func answer(
            _ options: GenerationOptions, to messages: [ChatMessage] = capitalOfFrance
        ) async throws -> (reports: [TokenReport], text: String, summary: GenerationSummary) {
            let engine = try await SharedEngine.engine
            let told = Locked<(reports: [TokenReport], text: String)>(([], ""))
            let summary = try await engine.generate(messages, options: options) { event in
                told.withLock { told in
                    switch event {
                    case .token(let report): told.reports.append(report)
                    case .text(let piece): told.text += piece
                    default: break
                    }
                }
            }
            return told.withLock { ($0.reports, $0.text, summary) }
        }

        private func options(
            temperature: Float = 0, alternatives: Int = 5, afterSampling: Bool = false, topK: Int? = nil
        ) -> GenerationOptions {
            var options = GenerationOptions(
                sampling: SamplingOptions(temperature: temperature, seed: 1, topK: topK), maximumNewTokens: 12)
            options.tokenReports = TokenReports(alternatives: alternatives, isAfterSampling: afterSampling)
            return options
        }

        @Test func theTextIsThatOfTheTokensAndReportsDoNotChangeIt() async throws {
            let told = try await answer(options())
            var plain = options()
            plain.tokenReports = nil
            let other = try await answer(plain)
            #expect(told.text == other.text && !told.text.isEmpty)
            #expect(other.reports.isEmpty)
            #expect(told.reports.count == told.summary.usage.generatedTokens)
            #expect(String(decoding: told.reports.flatMap(\.chosen.bytes), as: UTF8.self) == told.text)
            for report in told.reports {
                // A greedy choice is the most likely token.
                #expect(report.alternatives.first == report.chosen)
                #expect(report.alternatives.count == 5)
                let chances = report.alternatives.map(\.logProbability)
                #expect(chances == chances.sorted(by: >) && chances.allSatisfy { $0 <= 0 })
                #expect(chances.reduce(0) { $0 + exp($1) } <= 1.0001)
            }
        }

        @Test func tokensAloneCanBeReported() async throws {
            var plain = options()
            plain.tokenReports = .tokensOnly
            let told = try await answer(plain)
            #expect(told.reports.count == told.summary.usage.generatedTokens)
            #expect(told.reports.allSatisfy { $0.chosen.logProbability == 0 && $0.alternatives.isEmpty })
            #expect(String(decoding: told.reports.flatMap(\.chosen.bytes), as: UTF8.self) == told.text)
        }

        @Test(.enabled(if: TestExtent.isFull)) func aRandomChoiceIsTheSameWithReports() async throws {
            for afterSampling in [false, true] {
                let told = try await answer(options(temperature: 1.2, afterSampling: afterSampling, topK: 40))
                var plain = options(temperature: 1.2, topK: 40)
                plain.tokenReports = nil
                #expect(try await answer(plain).text == told.text)
            }
        }

        @Test func probabilitiesAfterSamplingAreThoseOfTheRemainingTokens() async throws {
            let told = try await answer(options(temperature: 1.2, alternatives: 10, afterSampling: true, topK: 3))
            for report in told.reports {
                #expect(report.alternatives.count <= 3)
                #expect(abs(report.alternatives.reduce(0) { $0 + exp($1.logProbability) } - 1) < 0.001)
                #expect(report.alternatives.contains(report.chosen))
            }
            // Temperature alone keeps all tokens.
            let warm = try await answer(options(temperature: 2, alternatives: 10, afterSampling: true))
            let own = try await answer(options(temperature: 2, alternatives: 10))
            let (after, before) = (try #require(warm.reports.first), try #require(own.reports.first))
            #expect(after.alternatives.map(\.token) == before.alternatives.map(\.token))
            #expect(after.alternatives[0].logProbability < before.alternatives[0].logProbability)
            let greedy = try await answer(options(alternatives: 10, afterSampling: true))
            #expect(greedy.reports.allSatisfy { $0.alternatives.count == 1 && $0.chosen.logProbability == 0 })
        }

        @Test func aBiasExcludesOrForcesTokens() async throws {
            let free = try await answer(options(alternatives: 2))
            let first = try #require(free.reports.first)
            var biased = options()
            biased.sampling.logitBias = [first.chosen.token: -.infinity]
            let without = try await answer(biased)
            #expect(without.reports.allSatisfy { $0.chosen.token != first.chosen.token })
            #expect(without.reports.first?.chosen.token == first.alternatives[1].token)
            biased.sampling.logitBias = [77: 1000]
            let forced = try await answer(biased)
            #expect(forced.reports.allSatisfy { $0.chosen.token == 77 })
            biased.sampling.logitBias = [-5: 3, 10_000_000: 3, 77: .nan]
            #expect(try await answer(biased).text == free.text)
        }

        @Test func pieces() async throws {
            let engine = try await SharedEngine.engine
            let text = "Crème brûlée 媽 🤗<|im_end|>"
            for isControl in [false, true] {
                let tokens = try await engine.tokenize(text, controlTokens: isControl, wholePrompt: false, limit: nil)
                let bytes = try await engine.pieces(of: tokens).flatMap { $0 }
                #expect(String(decoding: bytes, as: UTF8.self) == text)
            }
            for wrong in [TokenID(-1), 10_000_000] {
                let error = await #expect(throws: LLMError.self) { try await engine.pieces(of: [wrong]) }
                #expect(error?.disposition == .usage)
            }
        }

        @Test func aPromptOfTokensIsContinued() async throws {
            let engine = try await SharedEngine.engine
            var raw = options()
            raw.usesChatTemplate = false
            let text = try await answer(raw, to: [ChatMessage(.user, "The capital of France is")])
            raw.promptTokens = try await engine.tokenize(
                "The capital of France is", controlTokens: true, wholePrompt: true, limit: nil)
            let tokens = try await answer(raw, to: [])
            #expect(tokens.text == text.text && !tokens.text.isEmpty)
            raw.promptTokens = [10_000_000]
            let error = await #expect(throws: LLMError.self) {
                try await engine.generate([], options: raw) { _ in }
            }
            #expect(error?.disposition == .usage)
        }

        @Test func aPromptIsRenderedWithoutComputingIt() async throws {
            let engine = try await SharedEngine.engine
            let prompt = try await engine.rendered(capitalOfFrance, options: GenerationOptions())
            #expect(prompt.tokenCount == (try await engine.count(capitalOfFrance)))
            #expect(prompt.text.contains("France") && prompt.text.contains("<|im_start|>assistant"))
        }

        @Test func anAnswerThatIsBegunIsContinued() async throws {
            let engine = try await SharedEngine.engine
            var continued = options()
            continued.continuesLastMessage = true
            let messages = capitalOfFrance + [ChatMessage(.assistant, "The capital is the city of")]
            let told = try await answer(continued, to: messages)
            #expect(told.text.contains("Paris"))
            let prompt = try await engine.rendered(messages, options: continued)
            #expect(prompt.text.hasSuffix("The capital is the city of"))
        }

        @Test func aConversationThatMustStayWholeIsRefused() async throws {
            let engine = try await SharedEngine.engine
            let long = (0..<400).map { ChatMessage($0 % 2 == 0 ? .user : .assistant, "a question or an answer") }
            let messages = long + [ChatMessage(.user, "And now?")]
            var whole = GenerationOptions.greedy(maximumNewTokens: 1)
            if TestExtent.isFull {
                #expect(try await engine.generate(messages, options: whole) { _ in }.usage.generatedTokens == 1)
            }
            whole.keepsAllMessages = true
            let error = await #expect(throws: LLMError.self) {
                try await engine.generate(messages, options: whole) { _ in }
            }
            #expect(error?.code == .exceededContextWindowSize)
        }

        @Test func theTokensOfAPromptAreReported() async throws {
            let text = "The capital of France is Paris, and the capital of Italy is Rome."
            func raw(_ tokens: [TokenID]?, most: Int, includesPrompt: Bool) -> GenerationOptions {
                var options = options()
                (options.usesChatTemplate, options.promptTokens) = (false, tokens)
                (options.maximumNewTokens, options.reusesPrompt) = (most, false)
                options.tokenReports = TokenReports(alternatives: 100, includesPrompt: includesPrompt)
                return options
            }
            let whole = raw(nil, most: 0, includesPrompt: true)
            let told = try await answer(whole, to: [ChatMessage(.user, text)])
            #expect(told.summary.usage.generatedTokens == 0 && told.summary.reason == .maximumNewTokens)
            #expect(told.reports.count == told.summary.usage.promptTokens && told.reports.count > 10)
            #expect(told.reports.allSatisfy { $0.isPrompt })
            #expect(String(decoding: told.reports.flatMap(\.chosen.bytes), as: UTF8.self) == text)
            #expect(told.reports.first?.alternatives.isEmpty == true)
            // Each is the probability after the tokens before it.
            let tokens = told.reports.map(\.chosen.token)
            for place in 1..<tokens.count {
                let next = try await answer(
                    raw(Array(tokens[..<place]), most: 1, includesPrompt: false), to: [])
                guard let same = next.reports.first?.alternatives.first(where: { $0.token == tokens[place] }) else {
                    continue
                }
                #expect(abs(same.logProbability - told.reports[place].chosen.logProbability) < 0.05, "\(place)")
            }
            // An answer follows its prompt.
            let answered = try await answer(raw(tokens, most: 3, includesPrompt: true), to: [])
            #expect(answered.reports.prefix(tokens.count).map(\.chosen.token) == tokens)
            #expect(answered.reports.count == tokens.count + 3)
            #expect(answered.reports.suffix(3).allSatisfy { !$0.isPrompt })
        }

        @Test func noTokenIsAnsweredWhereNoneIsWanted() async throws {
            var none = options()
            none.maximumNewTokens = 0
            let told = try await answer(none)
            #expect(told.text.isEmpty && told.reports.isEmpty)
            #expect(told.summary.usage.generatedTokens == 0 && told.summary.usage.promptTokens > 0)
        }

        @Test func theStopStringIsTold() async throws {
            let free = try await answer(options())
            var stopped = options()
            let end = String(free.text.dropFirst(3).prefix(3))
            stopped.stopStrings = ["never there", end]
            #expect(try await answer(stopped).summary.stopString == end)
            #expect(free.summary.stopString == nil)
        }

        @Test(.enabled(if: TestExtent.isFull)) func aRequiredCallIsAlwaysMade() async throws {
            let engine = TextToolEngine(try await SharedEngine.engine)
            let schema = JSONSchema.object([.init("city", .oneOf([#""Paris""#, #""Rome""#]))]).json
            let weather = ToolDefinition(name: "weather", description: "The weather", parameters: schema)
            let clock = ToolDefinition(name: "clock", description: "The time", parameters: schema)
            for (choice, names) in [(ToolChoice.required, ["weather", "clock"]), (.named("clock"), ["clock"])] {
                var options = GenerationOptions.greedy(maximumNewTokens: 60)
                options.tools = [weather, clock]
                options.toolChoice = choice
                let told = Locked<(calls: [ToolCall], text: String)>(([], ""))
                let summary = try await engine.generate([ChatMessage(.user, "Hello!")], options: options) { event in
                    told.withLock { told in
                        if case .toolCall(let call) = event { told.calls.append(call) }
                        if case .text(let piece) = event { told.text += piece }
                    }
                }
                let (calls, text) = told.withLock { ($0.calls, $0.text) }
                #expect(summary.reason == .toolCalls)
                #expect(calls.count == 1 && names.contains(calls.first?.name ?? ""))
                #expect([#"{"city":"Paris"}"#, #"{"city":"Rome"}"#].contains(calls.first?.arguments ?? ""))
                #expect(text.isEmpty)
            }
        }
    }
}
#endif
