/// A token as its model numbers it, 0 to the size of the vocabulary less one.
public typealias TokenID = Int32

/// The reading of a text that spells out a control token, such as `<|im_end|>`.
public enum ControlTokenReading: Sendable, Hashable {
    /// Its letters: right for everything that comes from a person, a file or the network.
    case asText
    /// The control token itself: for text that a program has put together.
    case asControl
}

/// A model that cuts text into its tokens. Answers at once, also while the model generates.
public protocol TokenCounting: Sendable {
    /// The tokens of a text as they would stand in the middle of a prompt: nothing is put before or after them.
    /// - Throws: `model-not-loaded`; `generation-failed` for text of 2 GiB and more.
    func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID]

    /// The number of tokens of a conversation as the engine would send it: with the template's own tokens and the
    /// beginning of the answer, and with nothing left out.
    /// - Throws: `model-not-loaded`, `chat-template-failed`.
    func count(_ messages: [ChatMessage]) async throws -> Int
}

extension TokenCounting {
    /// The tokens of a text, in which control tokens are but letters.
    public func tokenize(_ text: String) async throws -> [TokenID] { try await tokenize(text, controlTokens: .asText) }

    /// The number of tokens of a text, in which control tokens are but letters.
    public func count(_ text: String) async throws -> Int { try await tokenize(text).count }
}
