import HearthBase

/// The vocabulary of a `tokenizer.json` as llama.cpp reads it, in one of two forms: words as bytes, joined by merges; or
/// pieces of a text with `▁` for blanks, joined by scores.
struct MergedVocabulary: Sendable {
    private(set) var tokens: TokenList
    /// The name of the form: `gpt2` or `llama`.
    let form: String
    /// The way to cut texts into words.
    let rule: String
    private(set) var merges: [MergeModel.Merge] = []
    private(set) var scores: [Float]?
    /// llama.cpp puts a blank before each text, also behind control tokens.
    private(set) var addsBlank = false
    /// The engine's caller puts a blank before a text that does not begin with one.
    private(set) var addsFirstBlank = false
    /// The engine's caller cuts a text between digits before the engine does.
    private(set) var cutsDigits = false
    /// The engine's caller composes characters before it cuts a text.
    let composes: Bool
    private(set) var notes: [String] = []

    /// - Throws: `incompatible` for rules that llama.cpp lacks; `damaged`.
    init(_ document: TokenizerDocument, limit: Int?) throws(ImportError) {
        let model = document.model
        let splitting = try Splitting(document.preTokenizer)
        let normalizing = try Normalizing(document.normalizer)
        composes = normalizing.composes
        let writesPieces = normalizing.replacesBlanks || splitting.blankPrefix != nil
        var rule: TokenRule?
        if splitting.writesBytes {
            guard !writesPieces, !normalizing.addsBlank else {
                throw Normalizing.refused("it writes words as bytes and blanks as letters", rule: "ByteLevel, Replace")
            }
            rule = try TokenRule.named(splitting, ignoresMerges: model.ignoresMerges)
        } else {
            try Self.checkPieces(splitting, normalizing, model)
        }
        tokens = try TokenList(file: TokenizerDocument.name, limit: limit)
        form = rule == nil ? "llama" : "gpt2"
        self.rule = rule?.name ?? "default"
        for (text, id) in model.vocabulary {
            try tokens.add(text, id: id, kind: model.hasByteTokens && TokenList.isByte(text) ? .byte : .normal)
        }
        if let rule {
            merges = model.merges
            cutsDigits = rule.cutsDigits
            guard merges.allSatisfy({ !$0.left.text.utf8.contains(0x20) && !$0.right.text.utf8.contains(0x20) }) else {
                throw .damaged("a merge has a blank in it", file: TokenizerDocument.name, field: "model.merges")
            }
        } else {
            try usePieces(model)
            addsBlank = normalizing.addsBlank || splitting.blankPrefix == .always
            addsFirstBlank = splitting.blankPrefix == .first && !addsBlank
            // A text that begins with a blank gets no second one in the original.
            if splitting.blankPrefix == .always {
                notes.append(
                    "llama.cpp cuts some texts into other tokens than the original: \(Self.differing) of 4,000 lines in many"
                        + " scripts")
            }
        }
        try add(document.addedTokens)
    }

    /// The lines of 4,000 that differ if a pre-tokenizer puts a blank before each text (`scripts/tokenizers`).
    private static let differing = 465

    private static func checkPieces(
        _ splitting: Splitting, _ normalizing: Normalizing, _ model: MergeModel
    ) throws(ImportError) {
        let cutting = splitting.steps.filter { $0 != Splitting.atBlanks || !normalizing.replacesBlanks }
        guard normalizing.replacesBlanks || splitting.blankPrefix != nil, cutting.isEmpty, model.hasByteTokens,
            !model.ignoresMerges
        else {
            throw Splitting.refused(
                "its words are neither written as bytes nor with ▁ and a token for each byte",
                rule: splitting.steps.isEmpty ? "none" : splitting.steps.joined(separator: " then "))
        }
    }

    /// Derives the scores, by which llama.cpp chooses the next pair: the earlier a merge, the higher.
    private mutating func usePieces(_ model: MergeModel) throws(ImportError) {
        guard tokens.byteTokenCount == 256 else {
            throw .refused(
                TokenizerDocument.name, "some bytes have no token", field: "model.vocab",
                rule: "byte_fallback with \(tokens.byteTokenCount) of 256 bytes")
        }
        // Tokens that no merge makes come last.
        var scores = [Float](repeating: ScoredVocabulary.lowestScore, count: tokens.count)
        var isScored = [Bool](repeating: false, count: tokens.count)
        for (rank, merge) in model.merges.enumerated() {
            guard let id = tokens.id(of: merge.result), !isScored[id] else { continue }
            isScored[id] = true
            scores[id] = -Float(rank + 1)
        }
        self.scores = scores
        if let unknown = model.unknownToken, let id = tokens.id(of: unknown) {
            try tokens.add(unknown, id: id, kind: .unknown)
        }
    }

    private mutating func add(_ added: [AddedToken]) throws(ImportError) {
        var stripping: [String] = []
        var left: [TokenText] = []
        for token in added where token.text.byteCount > 0 {
            if token.isWholeWord {
                throw .refused(
                    TokenizerDocument.name, "the token \(token.text.text.quoted) is only cut out as a whole word",
                    field: "added_tokens", rule: "single_word")
            }
            if token.id >= tokens.limit, tokens.id(of: token.text) == nil {
                left.append(token.text)
                continue
            }
            if token.stripsLeft || token.stripsRight { stripping.append(token.text.text) }
            guard let kind = kind(of: token) else { continue }
            try tokens.add(token.text, id: token.id, kind: kind)
        }
        self.stripping = stripping
        notes += TokenList.note(leftOut: left)
    }

    /// The tokens that blanks around them belong to.
    private(set) var stripping: [String] = []

    /// The kind of an added token; `nil` if it keeps that of the vocabulary.
    private func kind(of token: AddedToken) -> TokenKind? {
        guard let id = tokens.id(of: token.text), tokens.kinds.indices.contains(id) else {
            return token.isSpecial ? .control : .userDefined
        }
        if tokens.kinds[id] == .unknown { return nil }
        // llama.cpp shows such tokens as they are, with ▁ for blanks.
        if !token.isSpecial, scores != nil, token.text.text.unicodeScalars.contains("\u{2581}") { return nil }
        return token.isSpecial ? .control : .userDefined
    }
}
