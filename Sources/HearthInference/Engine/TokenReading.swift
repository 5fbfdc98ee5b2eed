/// A token's number in its model's vocabulary, from 0.
public typealias TokenID = Int32

/// The reading of a text that spells out a control token, such as `<|im_end|>`.
public enum ControlTokenReading: Sendable, Hashable {
    /// As letters: right for all text from people, files and the network.
    case asText
    /// As the control token: for text that a program has composed.
    case asControl
    /// As the control token, with the tokens that the model wants around a whole prompt.
    case asPrompt
}

extension InferenceEngine {
    /// The tokens of a text; control tokens in it are read as letters.
    public func tokenize(_ text: String) async throws -> [TokenID] { try await tokenize(text, controlTokens: .asText) }

    /// The number of tokens of a text; control tokens in it are read as letters.
    public func count(_ text: String) async throws -> Int { try await tokenize(text).count }
}
