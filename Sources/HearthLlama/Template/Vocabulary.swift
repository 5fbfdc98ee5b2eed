#if Llama
import CLlama
import Foundation
import HearthBase
import HearthInference

/// Converts text to tokens and back. Valid as long as its model.
struct Vocabulary {
    private let raw: OpaquePointer

    init(_ raw: OpaquePointer) { self.raw = raw }

    var count: Int { Int(llama_vocab_n_tokens(raw)) }

    /// The bytes of the longest token's text. `nil` for vocabularies that remove white space or turn any unknown
    /// word into one token. O(vocabulary).
    var longestPiece: Int? {
        let kind = llama_vocab_type(raw)
        guard [LLAMA_VOCAB_TYPE_SPM, LLAMA_VOCAB_TYPE_BPE, LLAMA_VOCAB_TYPE_RWKV].contains(kind) else { return nil }
        return (0..<llama_vocab_n_tokens(raw)).reduce(1) { longest, token in
            max(longest, llama_vocab_get_text(raw, token).map { strlen($0) } ?? 0)
        }
    }

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
    func tokens(of text: some StringProtocol, addSpecial: Bool, parseSpecial: Bool) throws -> [llama_token] {
        var text = String(text)
        return try text.withUTF8 { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { characters in
                guard let length = Int32(exactly: characters.count) else { throw Self.failure }
                var tokens = [llama_token](repeating: 0, count: characters.count / 2 + 16)
                while true {
                    let count = CallWatch.shared.during(.tokenizer) {
                        llama_tokenize(
                            raw, characters.baseAddress, length, &tokens, Int32(tokens.count), addSpecial,
                            parseSpecial)
                    }
                    if count >= 0 {
                        tokens.removeSubrange(Int(count)...)
                        return tokens
                    }
                    guard count != Int32.min, Int(-count) > tokens.count else { throw Self.failure }
                    tokens = [llama_token](repeating: 0, count: Int(-count))
                }
            }
        }
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

    private static var failure: LLMError {
        LLMError(.generateFailed, "the text cannot be cut into tokens", disposition: .usage)
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
