import HearthBase

/// The vocabulary of a `tokenizer.model` as llama.cpp reads it: pieces of a text with `▁` for blanks, joined by scores.
struct ScoredVocabulary: Sendable {
    private(set) var tokens: TokenList
    /// The scores of the pieces, which are the first tokens.
    let scores: [Float]
    /// A text gets a blank at its beginning.
    let addsBlank: Bool
    private(set) var notes: [String] = []

    /// The score of a token that no merge makes.
    static let lowestScore = -Float(TokenizerLimits.merges)

    /// - Parameters:
    ///   - added: the tokens that the model's other files add, with their numbers.
    ///   - limit: the rows of the model's embedding.
    /// - Throws: `incompatible` for rules that llama.cpp lacks; `damaged`.
    init(_ file: SentencePieceFile, added: [AddedToken], limit: Int?) throws(ImportError) {
        guard file.modelKind == 2 else {
            throw Self.refused("its model is not byte pair encoding", rule: "model_type \(file.modelKind)")
        }
        guard !file.hasCharacterMap, !file.removesBlanks, file.writesBlanks else {
            throw Self.refused(
                "it changes characters or blanks before it cuts a text",
                rule: "\(file.normalizer), remove_extra_whitespaces \(file.removesBlanks)")
        }
        tokens = try TokenList(file: SentencePieceFile.name, limit: limit)
        for (id, piece) in file.pieces.enumerated() {
            // llama.cpp cuts such tokens out of a text before it writes blanks as ▁.
            let text = piece.kind == .userDefined ? Self.withBlanks(piece.text) : piece.text
            try tokens.add(text, id: id, kind: piece.kind)
        }
        guard tokens.byteTokenCount == 256 else {
            throw Self.refused("some bytes have no token", rule: "\(tokens.byteTokenCount) of 256 bytes")
        }
        scores = file.pieces.map(\.score)
        addsBlank = file.addsBlank
        var left: [TokenText] = []
        for token in added where token.text.byteCount > 0 {
            // Other files name the pieces anew.
            if file.pieces.indices.contains(token.id), file.pieces[token.id].text == token.text { continue }
            if token.id >= tokens.limit {
                left.append(token.text)
                continue
            }
            try tokens.add(token.text, id: token.id, kind: token.isSpecial ? .control : .userDefined)
        }
        notes = TokenList.note(leftOut: left)
    }

    private static func withBlanks(_ text: TokenText) -> TokenText {
        var changed = String.UnicodeScalarView()
        for scalar in text.text.unicodeScalars { changed.append(scalar == "\u{2581}" ? " " : scalar) }
        return TokenText(String(changed))
    }

    private static func refused(_ problem: String, rule: String) -> ImportError {
        .refused(SentencePieceFile.name, problem, field: "normalizer_spec", rule: rule)
    }
}
