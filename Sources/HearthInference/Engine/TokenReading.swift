/// A token as its model numbers it, 0 to the size of the vocabulary less one.
public typealias TokenID = Int32

/// The reading of a text that spells out a control token, such as `<|im_end|>`.
public enum ControlTokenReading: Sendable, Hashable {
    /// As letters: right for everything that comes from a person, a file or the network.
    case asText
    /// As the control token: for text that a program has put together.
    case asControl
}

extension InferenceEngine {
    /// The tokens of a text; control tokens in it are read as letters.
    public func tokenize(_ text: String) async throws -> [TokenID] { try await tokenize(text, controlTokens: .asText) }

    /// The number of tokens of a text; control tokens in it are read as letters.
    public func count(_ text: String) async throws -> Int { try await tokenize(text).count }
}
