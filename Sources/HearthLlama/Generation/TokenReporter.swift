#if Llama
import CLlama
import HearthBase
import HearthInference

/// Reports the probabilities of an answer's tokens.
struct TokenReporter {
    private let wanted: TokenReports
    private let vocabulary: Vocabulary
    private var chances: Sampler.Chances?
    private var piece = [CChar](repeating: 0, count: 64)

    init(_ wanted: TokenReports, vocabulary: Vocabulary) {
        self.wanted = wanted
        self.vocabulary = vocabulary
    }

    /// Reads the probabilities before the token is chosen.
    /// - Throws: `generation-failed` without memory.
    mutating func look(_ sampler: borrowing Sampler, _ logits: UnsafePointer<Float>) throws {
        guard wanted.hasProbabilities else { return }
        chances = try sampler.chances(logits, most: wanted.alternatives, afterSampling: wanted.isAfterSampling)
    }

    /// The report of the chosen token.
    mutating func report(_ token: llama_token, isThinking: Bool) -> TokenReport? {
        guard let chances else {
            return wanted.hasProbabilities ? nil : TokenReport(chosen: chance(token, 0), isThinking: isThinking)
        }
        self.chances = nil
        return TokenReport(
            chosen: chance(token, chances.logProbability(of: token)),
            alternatives: chances.best.map { chance($0.token, $0.logProbability) }, isThinking: isThinking)
    }

    /// The report of a token of the prompt: of the first one if no probabilities were looked at.
    mutating func reportPrompt(_ token: llama_token) -> TokenReport {
        let chances = chances
        self.chances = nil
        return TokenReport(
            chosen: chance(token, chances?.logProbability(of: token) ?? 0),
            alternatives: chances?.best.map { chance($0.token, $0.logProbability) } ?? [], isPrompt: true)
    }

    private mutating func chance(_ token: llama_token, _ logProbability: Float) -> TokenReport.Chance {
        TokenReport.Chance(
            token: token, bytes: vocabulary.bytes(of: token, &piece), logProbability: min(0, logProbability))
    }
}
#endif
