#if Llama
import CLlama
import Foundation
import HearthBase
import HearthInference

/// Converts text to tokens and back. Valid as long as its model.
struct Vocabulary {
    private let raw: OpaquePointer
    private let tokenizer: Tokenizer

    /// - Throws: `cannot-load-model` for a model without a vocabulary.
    init(model: OpaquePointer, of path: Path) throws {
        guard let raw = llama_model_get_vocab(model) else { throw ModelFile.failure(path, "it has no vocabulary") }
        self.raw = raw
        tokenizer = try Tokenizer(model: model, of: path)
    }

    var count: Int { Int(llama_vocab_n_tokens(raw)) }

    /// A token of every model, for warming up: beginning of text, else end of text, else the first.
    var warmUpToken: llama_token {
        [llama_vocab_bos(raw), llama_vocab_eos(raw)].first { $0 >= 0 } ?? 0
    }

    /// The token that ends an answer; `nil` if the model has none.
    var endToken: llama_token? {
        [llama_vocab_eot(raw), llama_vocab_eos(raw)].first { $0 >= 0 && isEndOfGeneration($0) }
    }

    func isEndOfGeneration(_ token: llama_token) -> Bool { llama_vocab_is_eog(raw, token) }

    func isControl(_ token: llama_token) -> Bool { llama_vocab_is_control(raw, token) }

    /// The tokens that the model's metadata excludes from answers.
    var suppressedTokens: [llama_token] {
        var count: Int32 = 0
        guard let tokens = llama_vocab_get_suppress_tokens(raw, &count) else { return [] }
        return Array(UnsafeBufferPointer(start: tokens, count: Int(max(0, count))))
    }

    /// The tokens of a text.
    ///
    /// - Parameters:
    ///   - addSpecial: adds the tokens the model wants around a whole text.
    ///   - parseSpecial: reads the names of control tokens, such as `<|im_end|>`, as control tokens instead of as
    ///     letters.
    ///   - limit: the most tokens; `nil` for any number.
    /// - Throws: `context-window-exceeded` above the limit, without reading a text that cannot have so few tokens;
    ///   `generation-failed`.
    func tokens(
        of text: some StringProtocol, addSpecial: Bool, parseSpecial: Bool, limit: Int? = nil
    ) throws -> [llama_token] {
        if let limit {
            let fewest = fewestTokens(of: text, limit: limit)
            guard fewest <= limit else { throw TextLimit.exceeded(tokens: "at least \(fewest)", limit: limit) }
        }
        let tokens = try tokenizer.tokens(
            of: text, addSpecial: addSpecial, parseSpecial: parseSpecial, limit: limit ?? .max)
        if let limit, tokens.count > limit { throw TextLimit.exceeded(tokens: "\(tokens.count)", limit: limit) }
        return tokens
    }

    /// Two texts as one, with the control tokens that the model wants around and between them.
    func pair(_ first: [llama_token], _ second: [llama_token]) -> [llama_token] {
        let separator = llama_vocab_sep(raw)
        let end = llama_vocab_get_add_eos(raw) ? llama_vocab_eos(raw) : separator
        func one(_ token: llama_token) -> [llama_token] { token >= 0 ? [token] : [] }
        var tokens = llama_vocab_get_add_bos(raw) ? one(llama_vocab_bos(raw)) : []
        tokens += first + one(end)
        if llama_vocab_get_add_sep(raw), separator != end || llama_vocab_get_add_eos(raw) { tokens += one(separator) }
        return tokens + second + one(end)
    }

    /// The fewest tokens that a text can have, known without cutting it; `limit + 1` for more than `limit`.
    func fewestTokens(of text: some StringProtocol, limit: Int) -> Int {
        tokenizer.fewestTokens(of: text, limit: limit)
    }

    /// Puts a space after the first letter of each spelled-out control token.
    func withoutControlTokens(_ text: String) throws -> String {
        var text = text
        let spelled = try tokens(of: text, addSpecial: false, parseSpecial: true).filter(isControl)
        for name in Set(spelled.map(name(of:))) where !name.isEmpty {
            // A literal search, as in llama.cpp: the next character may combine with the last letter.
            text = text.replacingOccurrences(
                of: name, with: "\(name.prefix(1)) \(name.dropFirst())", options: .literal)
        }
        return text
    }

    /// Whether a text contains both control tokens and letters.
    func mixesControlTokens(_ text: String) throws -> Bool {
        let tokens = try tokens(of: text, addSpecial: false, parseSpecial: true)
        return tokens.contains(where: isControl) && !tokens.allSatisfy(isControl)
    }

    /// The text that ends an answer before the token that ends the generation, where control tokens enclose
    /// letters.
    /// - Parameter trail: the template's text after an answer.
    func framedEnd(_ trail: String) throws -> String? {
        let tokens = try tokens(of: trail, addSpecial: false, parseSpecial: true)
        guard let first = tokens.first, isControl(first), !isEndOfGeneration(first),
            let last = tokens.dropFirst().firstIndex(where: isControl), last > 1
        else { return nil }
        var end = ""
        var buffer = [CChar](repeating: 0, count: 64)
        for token in tokens[...last] {
            end += isControl(token) ? name(of: token) : String(decoding: bytes(of: token, &buffer), as: UTF8.self)
        }
        return end
    }

    /// Writes the bytes of a token into `buffer`, which grows if needed, and returns their number. Control tokens
    /// have none.
    func piece(of token: llama_token, into buffer: inout [CChar]) -> Int {
        let count = llama_token_to_piece(raw, token, &buffer, Int32(buffer.count), 0, false)
        if count >= 0 { return Int(count) }
        buffer = [CChar](repeating: 0, count: Int(-count))
        return max(0, Int(llama_token_to_piece(raw, token, &buffer, Int32(buffer.count), 0, false)))
    }

    /// The bytes of a token; control tokens have none.
    func bytes(of token: llama_token, _ buffer: inout [CChar]) -> [UInt8] {
        let count = piece(of: token, into: &buffer)
        return buffer.prefix(count).map { UInt8(bitPattern: $0) }
    }

    /// The bytes of all tokens; empty for the tokens that end a generation. O(vocabulary).
    var pieces: [[UInt8]] {
        var buffer = [CChar](repeating: 0, count: 64)
        return (0..<llama_vocab_n_tokens(raw)).map { isEndOfGeneration($0) ? [] : bytes(of: $0, &buffer) }
    }

    /// The bytes of tokens; control tokens have their names.
    /// - Throws: `generation-failed` for a number that is no token.
    func pieces(of tokens: [llama_token]) throws -> [[UInt8]] {
        var buffer = [CChar](repeating: 0, count: 64)
        return try tokens.map { token in
            guard (0..<llama_vocab_n_tokens(raw)).contains(token) else {
                throw LLMError(
                    .generateFailed, "\(token) is no token of the model",
                    context: ErrorContext(expected: "0...\(count - 1)", found: "\(token)"), disposition: .usage)
            }
            return isControl(token) ? Array(name(of: token).utf8) : bytes(of: token, &buffer)
        }
    }

    /// The vocabulary's text of a token, also of a control token.
    func name(of token: llama_token) -> String {
        llama_vocab_get_text(raw, token).map { String(cString: $0) } ?? ""
    }
}
#endif
