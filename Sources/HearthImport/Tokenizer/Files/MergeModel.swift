import HearthBase

/// The model of a `tokenizer.json` that joins pairs of tokens: byte pair encoding.
struct MergeModel: Sendable {
    /// A pair of tokens that are joined; the earlier of two merges comes first.
    struct Merge: Hashable, Sendable {
        let left: TokenText
        let right: TokenText

        var result: TokenText { left + right }
    }

    /// The tokens by their texts.
    private(set) var vocabulary: [TokenText: Int] = [:]
    /// The merges, each once.
    private(set) var merges: [Merge] = []
    /// The token for characters without one.
    private(set) var unknownToken: TokenText?
    /// Characters without a token become tokens of bytes, such as `<0x0A>`.
    private(set) var hasByteTokens = false
    /// A word that is a token becomes this token, without merges.
    private(set) var ignoresMerges = false

    init() {}

    /// Reads the value of `model`.
    /// - Throws: `damaged`; `incompatible` for another model than BPE, or for one with rules that the engine lacks.
    init(_ reader: inout JSONReader) throws(ImportError) {
        var model = MergeModel()
        var rules: [String: JSONValue] = [:]
        var seen = Set<TokenText>()
        try reader.object { (reader, key) throws(ImportError) in
            guard seen.insert(key).inserted else { throw reader.failure("the key \(key.text.quoted) appears twice") }
            switch key.text {
            case "vocab" where reader.next == UInt8(ascii: "{"): try model.readVocabulary(&reader)
            case "merges" where reader.next == UInt8(ascii: "["): try model.readMerges(&reader)
            // The vocabulary of another kind of model is a list.
            case "vocab", "merges": try reader.skip()
            default: rules[key.text] = try reader.value(limit: 1 << 16)
            }
        }
        try model.take(rules)
        try model.check()
        self = model
    }

    private mutating func readVocabulary(_ reader: inout JSONReader) throws(ImportError) {
        var found: [TokenText: Int] = [:]
        try reader.object { (reader, token) throws(ImportError) in
            guard token.byteCount <= TokenizerLimits.tokenBytes else {
                throw reader.failure("a token has more than \(TokenizerLimits.tokenBytes) bytes")
            }
            let id = try reader.number()
            guard found.updateValue(id, forKey: token) == nil else {
                throw reader.failure("the token \(token.text.quoted) appears twice")
            }
            guard found.count <= TokenizerLimits.tokens else {
                throw reader.failure("it has more than \(TokenizerLimits.tokens) tokens")
            }
        }
        vocabulary = found
    }

    /// Reads `["a b", …]`, or `[["a", "b"], …]`.
    private mutating func readMerges(_ reader: inout JSONReader) throws(ImportError) {
        var found: [Merge] = []
        try reader.array { (reader) throws(ImportError) in
            guard found.count < TokenizerLimits.merges else {
                throw reader.failure("it has more than \(TokenizerLimits.merges) merges")
            }
            var parts: [TokenText] = []
            if reader.next == UInt8(ascii: "[") {
                try reader.array { (reader) throws(ImportError) in
                    parts.append(try reader.string())
                    guard parts.count <= 2 else { throw reader.failure("a merge has more than two parts") }
                }
            } else {
                // By bytes: a mark behind the blank is one character with it.
                parts = try reader.string().text.utf8.split(
                    separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false
                ).map { TokenText(String(decoding: $0, as: UTF8.self)) }
            }
            guard parts.count == 2, parts.allSatisfy({ $0.byteCount > 0 }) else {
                throw reader.failure("a merge needs two parts")
            }
            found.append(Merge(left: parts[0], right: parts[1]))
        }
        merges = found
    }

    private mutating func take(_ rules: [String: JSONValue]) throws(ImportError) {
        let type = rules["type"]?.string ?? (merges.isEmpty ? "" : "BPE")
        guard type == "BPE" else {
            throw .refused(
                TokenizerDocument.name,
                "its model is \(type.isEmpty ? "not named" : type.quoted), and only BPE is known",
                field: "model.type", rule: type)
        }
        for (key, value) in rules.sorted(by: { $0.key < $1.key }) {
            switch (key, value) {
            case ("type", _), ("unk_token", _), ("byte_fallback", _), ("ignore_merges", _), ("fuse_unk", _): continue
            case (_, .null), (_, .string("")), ("dropout", .number("0")), ("dropout", .number("0.0")): continue
            default:
                throw .refused(
                    TokenizerDocument.name, "its model has the rule \(key.quoted), which the engine lacks",
                    field: "model.\(key)", rule: "\(key): \(value.kind)")
            }
        }
        unknownToken = rules["unk_token"]?.tokenText
        hasByteTokens = rules["byte_fallback"]?.flag ?? false
        ignoresMerges = rules["ignore_merges"]?.flag ?? false
    }

    /// Checks that each merge joins tokens to a token, and keeps the last of equal merges, which counts.
    private mutating func check() throws(ImportError) {
        guard !vocabulary.isEmpty else { throw .damaged("its vocabulary is empty", file: TokenizerDocument.name) }
        var known = Set<Merge>(minimumCapacity: merges.count)
        var kept: [Merge] = []
        kept.reserveCapacity(merges.count)
        for merge in merges.reversed() {
            guard vocabulary[merge.left] != nil, vocabulary[merge.right] != nil, vocabulary[merge.result] != nil else {
                throw .damaged(
                    "the merge of \(merge.left.text.quoted) and \(merge.right.text.quoted) names a token that is missing",
                    file: TokenizerDocument.name, field: "model.merges")
            }
            if known.insert(merge).inserted { kept.append(merge) }
        }
        merges = kept.reversed()
    }
}
