/// The requested reports of an answer's tokens.
package struct TokenReports: Sendable, Hashable {
    /// The most alternatives of one token.
    package static let maximumAlternatives = 100

    /// The number of most likely tokens reported with each token, 0...100.
    package var alternatives: Int
    /// Whether the probabilities are those after penalties, filters and temperature. Otherwise they are the model's own.
    package var isAfterSampling: Bool
    /// Whether probabilities are computed; otherwise all are reported as 1.
    package var hasProbabilities: Bool
    /// Whether the tokens of the prompt are reported before those of the answer. No computed tokens are reused then. A
    /// prompt with images has no reports.
    package var includesPrompt: Bool

    /// Makes a request for the model's own probabilities.
    package init(
        alternatives: Int = 0, isAfterSampling: Bool = false, hasProbabilities: Bool = true,
        includesPrompt: Bool = false
    ) {
        self.alternatives = min(max(0, alternatives), Self.maximumAlternatives)
        self.isAfterSampling = isAfterSampling
        self.hasProbabilities = hasProbabilities
        self.includesPrompt = includesPrompt
    }

    /// The tokens alone, which cost next to nothing.
    package static let tokensOnly = TokenReports(hasProbabilities: false)
}

/// A token of an answer with its probability, for Hearth's server.
public struct TokenReport: Sendable, Hashable {
    /// A token that the model could write, with its probability.
    package struct Chance: Sendable, Hashable {
        package var token: TokenID
        /// The token's text, which may be a part of a character. Empty for a control token.
        package var bytes: [UInt8]
        /// The natural logarithm of the probability, at most 0.
        package var logProbability: Float

        /// Makes a chance of the given values.
        package init(token: TokenID, bytes: [UInt8], logProbability: Float) {
            self.token = token
            self.bytes = bytes
            self.logProbability = logProbability
        }
    }

    /// The chosen token.
    package var chosen: Chance
    /// The most likely tokens at its place, the first is the most likely.
    package var alternatives: [Chance]
    /// Whether the token belongs to the thinking before the answer.
    package var isThinking: Bool
    /// Whether the token belongs to the prompt. The first token of a prompt has no probability, and is reported with 1 and
    /// without alternatives.
    package var isPrompt: Bool

    /// Makes a report of the given facts.
    package init(chosen: Chance, alternatives: [Chance] = [], isThinking: Bool = false, isPrompt: Bool = false) {
        self.chosen = chosen
        self.alternatives = alternatives
        self.isThinking = isThinking
        self.isPrompt = isPrompt
    }
}
