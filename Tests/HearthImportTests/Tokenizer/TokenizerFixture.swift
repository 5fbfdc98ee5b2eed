import Foundation
import HearthBase
import HearthImport
import Testing

/// A small `tokenizer.json`, with the members that a test changes.
struct TokenizerFixture {
    var vocabulary: [(text: String, id: Int)]
    var merges: JSONValue = []
    var model: JSONMembers
    var normalizer = JSONValue.null
    var preTokenizer = JSONValue.null
    var postProcessor = JSONValue.null
    var added: [JSONValue] = []

    /// Words written as bytes, as GPT-2 has them.
    static var bytes: Self {
        var fixture = Self(
            vocabulary: [("a", 0), ("b", 1), ("ab", 2), ("Ġ", 3), ("Ġab", 4), ("<|end|>", 5)],
            merges: ["a b", ["Ġ", "ab"]],
            model: [
                "type": "BPE", "dropout": .null, "unk_token": .null, "byte_fallback": false, "ignore_merges": false,
            ])
        fixture.preTokenizer = ["type": "ByteLevel", "add_prefix_space": false, "use_regex": true]
        fixture.added = [token("<|end|>", 5)]
        return fixture
    }

    /// Pieces of a text with `▁` for blanks, as Llama 2 has them.
    static var pieces: Self {
        var vocabulary: [(text: String, id: Int)] = [("<unk>", 0), ("<s>", 1), ("</s>", 2)]
        for byte in 0..<256 { vocabulary.append((String(format: "<0x%02X>", byte), 3 + byte)) }
        for (index, text) in ["▁", "a", "b", "ab", "▁ab"].enumerated() { vocabulary.append((text, 259 + index)) }
        var fixture = Self(
            vocabulary: vocabulary, merges: [["a", "b"], ["▁", "ab"]],
            model: ["type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true])
        fixture.normalizer = [
            "type": "Sequence", "normalizers": [["type": "Prepend", "prepend": "▁"], blanks],
        ]
        fixture.postProcessor = around(["<s>"], [])
        fixture.added = [token("<unk>", 0), token("<s>", 1), token("</s>", 2)]
        return fixture
    }

    /// The normalizer that writes blanks as `▁`.
    static var blanks: JSONValue { ["type": "Replace", "pattern": ["String": " "], "content": "▁"] }

    /// A control token.
    static func token(_ text: String, _ id: Int, special: Bool = true, _ others: JSONMembers = [:]) -> JSONValue {
        .object(
            JSONMembers(
                dictionaryLiteral: ("id", .integer(id)), ("content", .string(text)), ("special", .boolean(special))
            )
            .after(others))
    }

    /// A post-processor with tokens before and after a text.
    static func around(_ before: [String], _ after: [String]) -> JSONValue {
        func special(_ text: String) -> JSONValue { ["SpecialToken": ["id": .string(text), "type_id": 0]] }
        let text: JSONValue = ["Sequence": ["id": "A", "type_id": 0]]
        return ["type": "TemplateProcessing", "single": .array(before.map(special) + [text] + after.map(special))]
    }

    /// A step that cuts at each match of a pattern.
    static func split(_ pattern: String, behavior: String = "Isolated", invert: Bool = false) -> JSONValue {
        [
            "type": "Split", "pattern": ["Regex": .string(pattern)], "behavior": .string(behavior),
            "invert": .boolean(invert),
        ]
    }

    /// Steps, then words written as bytes.
    static func steps(_ steps: JSONValue...) -> JSONValue {
        let bytes: JSONValue = ["type": "ByteLevel", "add_prefix_space": false, "use_regex": false]
        return ["type": "Sequence", "pretokenizers": .array(steps + [bytes])]
    }

    /// The text of the file. Keys of the vocabulary that are equal to Swift stay two keys.
    var data: Data {
        func line(_ value: JSONValue) -> String { value.line }
        let tokens = vocabulary.map { "\(line(.string($0.text))):\($0.id)" }.joined(separator: ",")
        let rules = model.map { "\(line(.string($0.key))):\(line($0.value))" }.joined(separator: ",")
        return Data(
            """
            {"version":"1.0","added_tokens":\(line(.array(added))),"normalizer":\(line(normalizer)),
            "pre_tokenizer":\(line(preTokenizer)),"post_processor":\(line(postProcessor)),"decoder":null,
            "model":{\(rules),"vocab":{\(tokens)},"merges":\(line(merges))}}
            """.utf8)
    }

    /// The vocabulary that the file becomes.
    func imported(
        _ others: TokenizerFiles = TokenizerFiles(), count: Int? = nil, architecture: String = "llama"
    ) throws(ImportError) -> TokenizerImport {
        var files = others
        files.tokenizer = data
        return try TokenizerImport(files, vocabularySize: count, architecture: architecture)
    }

    /// The error of a file that is refused.
    func refused(
        _ others: TokenizerFiles = TokenizerFiles(), count: Int? = nil, _ location: SourceLocation = #_sourceLocation
    ) -> ImportError? {
        #expect(throws: ImportError.self, sourceLocation: location) { try imported(others, count: count) }
    }
}

extension TokenizerImport {
    /// A value of the metadata, by the end of its key.
    subscript(key: String) -> GGUFValue? {
        metadata.first { $0.key == "tokenizer.ggml.\(key)" || $0.key == key }?.value
    }

    /// The texts of a list.
    func texts(_ key: String) -> [String] {
        guard case .array(let array) = self[key] else { return [] }
        return array.elements?.compactMap(\.text) ?? []
    }

    /// The numbers of a list.
    func numbers(_ key: String) -> [Int] {
        guard case .array(let array) = self[key] else { return [] }
        return array.elements?.compactMap(\.integer) ?? []
    }
}
