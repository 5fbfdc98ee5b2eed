#if Llama
import HearthInference
import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    @Suite struct Sampling {
        static let question = [ChatMessage(.user, "Tell me a story about a fox.")]

        private func text(
            _ sampling: SamplingOptions, tokens: Int = TestExtent.isFull ? 24 : 8
        ) async throws -> String {
            let engine = try await SharedEngine.engine
            return try await Answer(
                engine.generate(
                    Self.question, options: GenerationOptions(sampling: sampling, maximumNewTokens: tokens))
            ).text
        }

        private var likeliest: String {
            get async throws { try await text(.greedy) }
        }

        /// The temperature is so high that only the tested option can lead to the likeliest tokens.
        private static func hot(_ seed: UInt32 = 3) -> SamplingOptions {
            SamplingOptions(temperature: 3, seed: seed)
        }

        @Test func isTemperatureAndAChoiceAndNothingElse() {
            let usual = SamplingOptions()
            #expect(usual.temperature == 0.35)
            #expect(usual.topK == nil && usual.topP == nil && usual.minP == nil)
            #expect(usual.repeatPenalty == nil && usual.frequencyPenalty == nil && usual.presencePenalty == nil)
        }

        @Test func isRepeatedByItsSeed() async throws {
            let samplings = [
                Self.hot(), SamplingOptions(temperature: 1.5, seed: 9, topK: 50, topP: 0.9, minP: 0.01),
                SamplingOptions(temperature: 1, seed: 4, repeatPenalty: 1.2, frequencyPenalty: 0.5),
            ]
            for sampling in samplings {
                let first = try await text(sampling)
                #expect(try await text(sampling) == first)
                var other = sampling
                other.seed = 77
                #expect(try await text(other) != first)
            }
        }

        @Test func keepsOnlyTheLikeliestIfRequested() async throws {
            #expect(try await text(Self.hot()) != likeliest)
            var sampling = Self.hot()
            sampling.topK = 1
            #expect(try await text(sampling) == likeliest)
            sampling = Self.hot()
            sampling.topP = 1e-6
            #expect(try await text(sampling) == likeliest)
            sampling = Self.hot()
            sampling.minP = 1
            #expect(try await text(sampling) == likeliest)
        }

        @Test(.enabled(if: TestExtent.isFull)) func penalisesTokensOfTheAnswer() async throws {
            let plain = try await text(.greedy, tokens: 120)
            let repeated = try await text(SamplingOptions(temperature: 0, repeatPenalty: 1.5), tokens: 120)
            let frequent = try await text(SamplingOptions(temperature: 0, frequencyPenalty: 1.5), tokens: 120)
            let present = try await text(SamplingOptions(temperature: 0, presencePenalty: 2), tokens: 120)
            #expect(Set([plain, repeated, frequent, present]).count == 4)
            let short = try await text(
                SamplingOptions(temperature: 0, repeatPenalty: 1.5, penaltyWindow: 2), tokens: 120)
            #expect(short != repeated)
            // Tokens of the prompt are not penalised: the first token is the likeliest.
            let first = try await text(SamplingOptions(temperature: 0, presencePenalty: 2), tokens: 1)
            #expect(plain.hasPrefix(first))
        }

        /// Values without effect by definition, or that are not numbers.
        @Test(.enabled(if: TestExtent.isFull)) func ignoresValuesWithoutEffect() async throws {
            let neutral = [
                SamplingOptions(temperature: .nan), SamplingOptions(temperature: -1),
                SamplingOptions(temperature: 0, topP: .nan, minP: .nan),
                SamplingOptions(temperature: 0, topK: .min, topP: -3, minP: -3),
                SamplingOptions(temperature: 0, topK: .max, topP: 7, minP: 0),
                SamplingOptions(temperature: 0, repeatPenalty: 1, frequencyPenalty: 0, presencePenalty: 0),
                SamplingOptions(temperature: 0, repeatPenalty: .nan, frequencyPenalty: .infinity),
                SamplingOptions(temperature: 0, repeatPenalty: -1, presencePenalty: .nan),
                SamplingOptions(temperature: 0, repeatPenalty: 2, penaltyWindow: .min),
            ]
            for sampling in neutral { #expect(try await text(sampling) == likeliest, "\(sampling)") }
            _ = try await text(SamplingOptions(temperature: .infinity, seed: 1), tokens: 2)
            _ = try await text(SamplingOptions(temperature: 1e-30, seed: 1), tokens: 2)
            _ = try await text(SamplingOptions(temperature: 0, repeatPenalty: 2, penaltyWindow: .max), tokens: 2)
        }
    }
}
#endif
