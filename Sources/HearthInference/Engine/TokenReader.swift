import HearthBase

/// A token's number in its model's vocabulary, from 0.
public typealias TokenID = Int32

/// The part of an engine that only engines on this device have: tokens, vectors, prompts without answers, and memory.
///
/// Each method has a default: preparing, forgetting and unloading do nothing, the others throw `engine-missing`.
public protocol TokenReader: Sendable {
    /// Computes the known part of the next prompt, whose last message may still grow, so that its answer starts sooner.
    func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws

    /// Forgets the computed tokens of all conversations that are not being answered, such as those of a private one that
    /// has ended. Their next prompts are computed anew.
    func forget() async

    /// Makes a vector for each text, in the same order. Each has the model's embedding length and Euclidean length 1,
    /// so the dot product of two vectors is the cosine of their angle.
    ///
    /// Control tokens in a text are read as letters. The states of a text's tokens are pooled as the model's file
    /// declares, otherwise averaged.
    /// - Throws: ``LLMError``: `nothing-to-embed` for a text without tokens, `context-window-exceeded` for a text that
    ///   is too long, `model-not-loaded`, `not-enough-memory` if the loaded models leave no memory for it,
    ///   `generation-failed`; `CancellationError`.
    func embed(_ texts: [String]) async throws -> [[Float]]

    /// Says how well documents answer a query, with a number for each in the same order: of any size, more is better. For
    /// models that rank texts. Control tokens in the texts are read as letters.
    /// - Throws: ``LLMError``: `generation-failed` for other models, `context-window-exceeded` for a document that is too
    ///   long beside the query, `model-not-loaded`, `not-enough-memory`; `CancellationError`.
    func rank(_ query: String, _ documents: [String]) async throws -> [Float]

    /// The tokens of a text, also while the model generates.
    /// - Parameters:
    ///   - controlTokens: whether a text that spells out a control token, such as `<|im_end|>`, is that token. `false`
    ///     reads it as letters: right for all text from people, files and the network.
    ///   - wholePrompt: whether the tokens that the model wants around a whole prompt are added.
    ///   - limit: the most tokens; `nil` for any number.
    /// - Throws: `model-not-loaded`; `context-window-exceeded` for a text of more tokens than the limit, or of more
    ///   than 256 KiB and 16 bytes for each token of the window; `generation-failed` for a text that the vocabulary
    ///   cannot express.
    func tokenize(_ text: String, controlTokens: Bool, wholePrompt: Bool, limit: Int?) async throws -> [TokenID]

    /// The number of tokens of a conversation as a prompt of the engine: with the template's own tokens and the
    /// beginning of the answer, and with all messages.
    /// - Throws: `model-not-loaded`, `chat-template-failed`; `context-window-exceeded` for more text than one call of
    ///   ``tokenize(_:controlTokens:wholePrompt:limit:)`` accepts.
    func count(_ messages: [ChatMessage]) async throws -> Int

    /// The texts of tokens as bytes, each of which may be a part of a character. Control tokens have their names.
    /// - Throws: `model-not-loaded`; `generation-failed` for a number that is no token of the model.
    func pieces(of tokens: [TokenID]) async throws -> [[UInt8]]

    /// The prompt of a generation with these options, without computing it. Pictures have tokens and no text.
    /// - Throws: `model-not-loaded`, `chat-template-failed`, `grammar-unusable`; `context-window-exceeded` as for a
    ///   count.
    func rendered(
        _ messages: [ChatMessage], options: GenerationOptions
    ) async throws -> (text: String, tokenCount: Int)

    /// Stops running generations and frees the model's memory. The engine must not be used afterwards.
    func unload() async
}

extension TokenReader {
    public func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {}

    public func forget() async {}

    public func embed(_ texts: [String]) async throws -> [[Float]] { throw LLMError.missing("embeds no texts") }

    public func rank(_ query: String, _ documents: [String]) async throws -> [Float] {
        throw LLMError.missing("ranks no texts")
    }

    public func tokenize(
        _ text: String, controlTokens: Bool, wholePrompt: Bool, limit: Int?
    ) async throws -> [TokenID] {
        throw LLMError.missing("counts no tokens")
    }

    public func count(_ messages: [ChatMessage]) async throws -> Int { throw LLMError.missing("counts no tokens") }

    public func pieces(of tokens: [TokenID]) async throws -> [[UInt8]] {
        throw LLMError.missing("knows no texts of tokens")
    }

    public func rendered(
        _ messages: [ChatMessage], options: GenerationOptions
    ) async throws -> (text: String, tokenCount: Int) { throw LLMError.missing("shows no prompts") }

    public func unload() async {}

    /// The tokens of a text as in the middle of a prompt; control tokens in it are read as letters.
    public func tokenize(_ text: String) async throws -> [TokenID] {
        try await tokenize(text, controlTokens: false, wholePrompt: false, limit: nil)
    }

    /// The number of tokens of a text; control tokens in it are read as letters.
    public func count(_ text: String) async throws -> Int { try await tokenize(text).count }
}

extension LLMError {
    fileprivate static func missing(_ ability: String) -> LLMError {
        LLMError(.engineMissing, "the engine of this model \(ability)", disposition: .usage)
    }
}

/// A token reader that asks another one, found for each call. A wrapper adds only the methods that it changes.
package protocol ForwardingTokenReader: TokenReader {
    /// Asks the reader of the wrapped engine.
    func reading<Value: Sendable>(_ ask: (any TokenReader) async throws -> Value) async throws -> Value
}

extension ForwardingTokenReader {
    package func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
        try await reading { try await $0.prepare(messages, options: options) }
    }

    /// A wrapped engine that cannot be found holds nothing.
    package func forget() async { try? await reading { await $0.forget() } }

    package func embed(_ texts: [String]) async throws -> [[Float]] { try await reading { try await $0.embed(texts) } }

    package func rank(_ query: String, _ documents: [String]) async throws -> [Float] {
        try await reading { try await $0.rank(query, documents) }
    }

    package func tokenize(
        _ text: String, controlTokens: Bool, wholePrompt: Bool, limit: Int?
    ) async throws -> [TokenID] {
        try await reading {
            try await $0.tokenize(text, controlTokens: controlTokens, wholePrompt: wholePrompt, limit: limit)
        }
    }

    package func count(_ messages: [ChatMessage]) async throws -> Int {
        try await reading { try await $0.count(messages) }
    }

    package func pieces(of tokens: [TokenID]) async throws -> [[UInt8]] {
        try await reading { try await $0.pieces(of: tokens) }
    }

    package func rendered(
        _ messages: [ChatMessage], options: GenerationOptions
    ) async throws -> (text: String, tokenCount: Int) {
        try await reading { try await $0.rendered(messages, options: options) }
    }

    /// A wrapped engine that cannot be found has nothing to unload.
    package func unload() async { try? await reading { await $0.unload() } }
}

/// The reader of an engine that has none: each method has its default.
private struct NoTokenReader: TokenReader {}

extension InferenceEngine {
    /// The engine's reader, or one that throws `engine-missing`.
    package var reader: any TokenReader { tokens ?? NoTokenReader() }
}
