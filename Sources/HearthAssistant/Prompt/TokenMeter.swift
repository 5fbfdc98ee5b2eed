import HearthInference

/// Counts the tokens of prompt texts with the engine's tokenizer, or estimates them for an engine that counts none.
package actor TokenMeter {
    private let engine: (any InferenceEngine)?
    private var counts: [String: Int] = [:]
    private static let maximumCounts = 64

    /// - Parameter engine: `nil` estimates.
    package init(_ engine: (any InferenceEngine)?) { self.engine = engine }

    /// The tokens of a text.
    package func tokens(in text: String) async -> Int {
        if text.isEmpty { return 0 }
        if let known = counts[text] { return known }
        guard let engine else { return Self.estimate(text) }
        do {
            let count = try await engine.reader.count(text)
            if counts.count >= Self.maximumCounts { counts.removeAll(keepingCapacity: true) }
            counts[text] = count
            return count
        } catch {
            return Self.estimate(text)
        }
    }

    /// Between English, about 4 bytes for each token, and scripts with a token for each character of 3 bytes.
    package static func estimate(_ text: String) -> Int { (text.utf8.count + 2) / 3 }
}
