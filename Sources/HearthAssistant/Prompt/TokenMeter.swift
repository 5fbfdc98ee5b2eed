import HearthInference

/// Counts the tokens of prompt texts with the engine's tokenizer, or estimates them for an engine that counts none.
package struct TokenMeter: Sendable {
    private let engine: (any InferenceEngine)?

    /// - Parameter engine: `nil` estimates.
    package init(_ engine: (any InferenceEngine)?) { self.engine = engine }

    /// The tokens of a text.
    package func tokens(in text: String) async -> Int {
        // An engine that cannot count is estimated.
        await text.isEmpty ? 0 : (try? engine?.reader.count(text)) ?? Self.estimate(text)
    }

    /// Between English, about 4 bytes for each token, and scripts with a token for each character of 3 bytes.
    package static func estimate(_ text: String) -> Int { (text.utf8.count + 2) / 3 }
}
