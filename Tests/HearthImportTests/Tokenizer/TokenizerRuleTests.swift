import Foundation
import HearthBase
import HearthImport
import Testing

struct TokenizerRuleTests {
    private static let contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    private static let tail = #"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"#
    private static let llama3 = contractions + #"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"# + tail
    private static let qwen2 = contractions + #"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"# + tail

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let steps: JSONValue
        var ignoresMerges = false
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(name: "gpt-2", steps: ["type": "ByteLevel", "add_prefix_space": false]),
        Row(
            name: "smollm",
            steps: [
                "type": "Sequence",
                "pretokenizers": [
                    ["type": "Digits", "individual_digits": true], ["type": "ByteLevel", "add_prefix_space": false],
                ],
            ]),
        Row(name: "llama-bpe", steps: TokenizerFixture.steps(TokenizerFixture.split(llama3)), ignoresMerges: true),
        Row(name: "dbrx", steps: TokenizerFixture.steps(TokenizerFixture.split(llama3))),
        Row(
            name: "dbrx",
            steps: TokenizerFixture.steps(TokenizerFixture.split(llama3, behavior: "Removed", invert: true))),
        Row(name: "qwen2", steps: TokenizerFixture.steps(TokenizerFixture.split(qwen2))),
        // Line ends are written as they are in some files.
        Row(
            name: "qwen2",
            steps: TokenizerFixture.steps(
                TokenizerFixture.split(
                    qwen2.replacingOccurrences(of: "\\r", with: "\r").replacingOccurrences(of: "\\n", with: "\n")))),
    ]

    @Test(arguments: rows) func areKnownByTheirSteps(row: Row) throws {
        var fixture = TokenizerFixture.bytes
        fixture.preTokenizer = row.steps
        fixture.model["ignore_merges"] = .boolean(row.ignoresMerges)
        let imported = try fixture.imported()
        #expect(imported["model"] == .string("gpt2"))
        #expect(imported["pre"] == .string(row.name))
        #expect(imported.texts("tokens") == ["a", "b", "ab", "Ġ", "Ġab", "<|end|>"])
        #expect(imported.numbers("token_type") == [1, 1, 1, 1, 1, 3])
        #expect(imported.texts("merges") == ["a b", "Ġ ab"])
        #expect(imported["add_bos_token"] == .bool(false))
        #expect(imported[GGUFOwnKeys.normalizer] == nil)
        #expect(imported.notes.isEmpty)
        #expect(imported.tokenCount == 6)
    }

    /// Each of them cuts texts in another way than any rule of llama.cpp.
    private static let unknown: [(name: String, steps: JSONValue)] = [
        ("another pattern", TokenizerFixture.steps(TokenizerFixture.split(#"\p{L}+|\s+"#))),
        ("dropped rest", TokenizerFixture.steps(TokenizerFixture.split(llama3, behavior: "Removed"))),
        ("merged matches", TokenizerFixture.steps(TokenizerFixture.split(llama3, behavior: "MergedWithNext"))),
        ("two steps", TokenizerFixture.steps(TokenizerFixture.split(llama3), TokenizerFixture.split(qwen2))),
        ("no step", TokenizerFixture.steps()),
        ("an unknown step", ["type": "Whitespace"]),
        ("no step at all", .null),
        ("a first blank", ["type": "ByteLevel", "add_prefix_space": true]),
        ("an option left out", ["type": "ByteLevel"]),
        ("a text", TokenizerFixture.steps(["type": "Split", "pattern": ["String": "x"], "behavior": "Isolated"])),
    ]

    @Test(arguments: unknown)
    func areRefusedIfUnknown(name: String, steps: JSONValue) {
        var fixture = TokenizerFixture.bytes
        fixture.preTokenizer = steps
        let error = fixture.refused()
        #expect(error?.code == .incompatible)
        #expect(error?.context.field == "pre_tokenizer")
        #expect(error?.context.found?.isEmpty == false)
    }

    /// Sequences in sequences end at a depth.
    @Test func areRefusedIfNestedTooDeep() {
        var fixture = TokenizerFixture.bytes
        for _ in 0..<12 { fixture.preTokenizer = ["type": "Sequence", "pretokenizers": [fixture.preTokenizer]] }
        #expect(fixture.refused()?.code == .incompatible)
    }

    private static let otherModels: [(key: String, value: JSONValue)] = [
        ("type", "Unigram"), ("type", "WordPiece"), ("dropout", .number("0.1")), ("continuing_subword_prefix", "##"),
        ("end_of_word_suffix", "</w>"), ("something", true), ("ignore_merges", true),
    ]

    @Test(arguments: otherModels)
    func ofAnotherModelAreRefused(key: String, value: JSONValue) {
        var fixture = TokenizerFixture.bytes
        fixture.model[key] = value
        let error = fixture.refused()
        #expect(error?.code == .incompatible)
        #expect(error?.context.field == "model.\(key)")
    }

    @Test(arguments: ["NFKC", "Lowercase", "Strip", "Precompiled", ""])
    func ofUnknownNormalizersAreRefused(type: String) {
        var fixture = TokenizerFixture.bytes
        fixture.normalizer = ["type": "Sequence", "normalizers": [["type": .string(type)]]]
        let error = fixture.refused()
        #expect(error?.code == .incompatible)
        #expect(error?.context.field == "normalizer")
    }

    /// Mistral's later models: llama.cpp's nearest rule joins digits, which are cut before.
    @Test func thatEndWordsAtAChangeOfCaseKeepMarks() throws {
        let words = #"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"#
        let others = #"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"#
        let end = #"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"#
        let rows = [
            (words + "|" + others + #"|\p{N}"# + end, true),
            ("\(words)\(Self.contractions)?|\(others)\(Self.contractions)?" + #"|\p{N}{1,3}"# + end, false),
        ]
        for (pattern, cuts) in rows {
            var fixture = TokenizerFixture.bytes
            fixture.preTokenizer = TokenizerFixture.steps(TokenizerFixture.split(pattern))
            for ignoresMerges in [true, false] {
                fixture.model["ignore_merges"] = .boolean(ignoresMerges)
                let imported = try fixture.imported()
                #expect(imported["pre"] == .string("granite-embed-multi-97m"))
                #expect(imported[GGUFOwnKeys.cuts] == (cuts ? .string("digits") : nil))
                #expect(imported.notes.isEmpty)
            }
        }
    }

    @Test func composeCharactersThroughAKeyOfTheirOwn() throws {
        var fixture = TokenizerFixture.bytes
        fixture.normalizer = ["type": "NFC"]
        #expect(try fixture.imported()[GGUFOwnKeys.normalizer] == .string("nfc"))
    }

    @Test func ofPiecesScoreEarlierMergesHigher() throws {
        let imported = try TokenizerFixture.pieces.imported()
        #expect(imported["model"] == .string("llama"))
        #expect(imported["pre"] == .string("default"))
        #expect(imported["add_space_prefix"] == .bool(true))
        #expect(imported["add_bos_token"] == .bool(true))
        #expect(imported["bos_token_id"] == .uint32(1))
        #expect(imported["unknown_token_id"] == .uint32(0))
        #expect(imported.numbers("token_type").prefix(4) == [2, 3, 3, 6])
        guard case .array(let scores)? = imported["scores"], let values = scores.elements else {
            Issue.record("there are no scores")
            return
        }
        #expect(values[262] == .float32(-1))
        #expect(values[263] == .float32(-2))
        #expect(values[260] == values[0])
        #expect(imported["merges"] == nil)
    }

    /// Where a blank comes before a text: Llama 2, Gemma, Mistral's later models, and those that put it everywhere.
    @Test(arguments: [
        ("llama", true, false, 0), ("gemma", false, false, 0), ("first", false, true, 0), ("always", true, false, 1),
        ("never", false, false, 0),
    ])
    func ofPiecesPutABlank(form: String, engine: Bool, ours: Bool, notes: Int) throws {
        var fixture = TokenizerFixture.pieces
        switch form {
        case "llama": break
        case "gemma":
            fixture.normalizer = TokenizerFixture.blanks
            fixture.preTokenizer = ["type": "Split", "pattern": ["String": " "], "behavior": "MergedWithPrevious"]
        default:
            fixture.normalizer = .null
            fixture.preTokenizer = [
                "type": "Metaspace", "replacement": "▁", "prepend_scheme": .string(form), "split": false,
            ]
        }
        let imported = try fixture.imported()
        #expect(imported["add_space_prefix"] == .bool(engine))
        #expect(imported[GGUFOwnKeys.firstBlank] == (ours ? .bool(true) : nil))
        #expect(imported.notes.count == notes)
    }

    @Test func ofPiecesNeedATokenForEachByte() {
        var fixture = TokenizerFixture.pieces
        fixture.vocabulary.remove(at: 3 + 0x0A)
        let error = fixture.refused()
        #expect(error?.code == .incompatible)
        #expect(error?.context.field == "model.vocab")
    }

    @Test func ofPiecesThatCutAtBlanksAreRefused() {
        var fixture = TokenizerFixture.pieces
        fixture.normalizer = .null
        fixture.preTokenizer = ["type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": true]
        #expect(fixture.refused()?.code == .incompatible)
    }
}
