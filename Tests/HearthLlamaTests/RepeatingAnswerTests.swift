#if Llama
import HearthInference
import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// Answers of the default model that repeat themselves.
    @Suite struct RepeatingAnswers {
        /// Most of these loops have no line break.
        private static let questions = [
            "List all users.", "Write a poem in which each line is the same.",
            "Repeat after me: tick tock tick tock tick tock tick tock tick tock",
            "Say: no no no no no no no no no no no no no no no",
        ]

        private func answer(_ question: String, _ options: GenerationOptions) async throws -> Answer {
            try await Answer(SharedEngine.engine.generate([ChatMessage(.user, question)], options: options))
        }

        @Test(arguments: questions.prefix(TestExtent.isFull ? 4 : 1)) func endWithin400Tokens(question: String)
            async throws
        {
            let answer = try await answer(question, GenerationOptions(sampling: .greedy))
            let summary = try #require(answer.summary)
            #expect(summary.reason == .repeating)
            #expect((96...400).contains(summary.usage.generatedTokens), "\(summary.usage)")
            #expect(!answer.text.isEmpty)
        }

        @Test(.enabled(if: TestExtent.isFull)) func goOnWithoutTheRule() async throws {
            var options = GenerationOptions(sampling: .greedy, maximumNewTokens: 150)
            options.maximumRepeats = nil
            #expect(try await answer(Self.questions[0], options).summary?.reason == .maximumNewTokens)
        }

        /// 120 repeats that a grammar or a schema demands are a whole answer; so are those of a block in free text.
        @Test func mayBeDemandedByAGrammar() async throws {
            let list = #"{"type":"array","items":{"const":7},"minItems":120,"maxItems":120}"#
            let demands = [(OutputConstraint.gbnf(#"root ::= (" so"){120}"#), " so"), (.jsonSchema(list), "]")]
            for (constraint, end) in demands.prefix(TestExtent.isFull ? 2 : 1) {
                let options = GenerationOptions(sampling: .greedy, constraint: constraint)
                let answer = try await answer("Say it.", options)
                #expect(answer.summary?.reason == .endOfGeneration)
                #expect((answer.summary?.usage.generatedTokens ?? 0) >= 120)
                #expect(answer.text.hasSuffix(end))
            }
        }
    }
}
#endif
