#if Llama
import CLlama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

struct TextChangeTests {
    /// A vocabulary of one token for each byte, `Ã©` for the two bytes of é, and two control tokens.
    private static let tokens: [String] = letters + ["Ã©", "<|end|>", "<K>"]
    private static let composed = TokenID(256)
    private static let end = TokenID(257)

    /// The letter for each byte in such vocabularies.
    private static let letters: [String] = {
        var others: UInt32 = 256
        return (0..<256).map { (byte: UInt32) in
            let isPlain = (33...126).contains(byte) || (161...172).contains(byte) || (174...255).contains(byte)
            defer { if !isPlain { others += 1 } }
            return UnicodeScalar(isPlain ? byte : others).map(String.init) ?? ""
        }
    }()

    /// Owns a model of a vocabulary alone, and its tokenizer.
    private final class Loaded {
        let tokenizer: Tokenizer
        private let model: OpaquePointer

        init(_ keys: [(key: String, value: GGUFValue)]) throws {
            let folder = try TemporaryFolder()
            let metadata: [(key: String, value: GGUFValue)] = [
                ("general.architecture", .string("llama")), ("tokenizer.ggml.model", .string("gpt2")),
                ("tokenizer.ggml.pre", .string("gpt-2")), ("tokenizer.ggml.tokens", .texts(TextChangeTests.tokens)),
                ("tokenizer.ggml.token_type", .integers(TextChangeTests.tokens.indices.map { $0 > 256 ? 3 : 1 })),
                ("tokenizer.ggml.merges", .texts(["Ã ©"])), ("tokenizer.ggml.add_bos_token", .bool(false)),
            ]
            let file = try folder.write(
                "vocabulary.gguf", Data(GGUFWriter(metadata: metadata + keys, tensors: []).header))
            LlamaLibrary.prepare()
            var parameters = llama_model_default_params()
            parameters.vocab_only = true
            model = try #require(llama_model_load_from_file(file.string, parameters))
            do {
                tokenizer = try Tokenizer(model: model, of: file)
            } catch {
                llama_model_free(model)
                throw error
            }
        }

        deinit { llama_model_free(model) }

        func tokens(_ text: String, addSpecial: Bool = false, parseSpecial: Bool = true) throws -> [TokenID] {
            try tokenizer.tokens(of: text, addSpecial: addSpecial, parseSpecial: parseSpecial, limit: .max)
        }
    }

    private static func bytes(_ text: String) -> [TokenID] { text.utf8.map { TokenID($0) } }

    @Test func charactersAreComposedOnlyWhereAVocabularyAsksForIt() throws {
        let plain = try Loaded([])
        #expect(try plain.tokens("e\u{301}") == Self.bytes("e\u{301}"))
        let composing = try Loaded([(GGUFOwnKeys.normalizer, .string("nfc"))])
        for text in ["é", "e\u{301}"] { #expect(try composing.tokens(text) == [Self.composed]) }
        #expect(try composing.tokens("abc") == Self.bytes("abc"))
        #expect(try composing.tokens("") == [])
        // 9 bytes of letters in 3 characters become one of 3 bytes.
        #expect(try composing.tokens("\u{1112}\u{1161}\u{11AB}") == Self.bytes("\u{D55C}"))
        #expect(composing.tokenizer.fewestTokens(of: String(repeating: "e\u{301}", count: 50), limit: 60) == 25)
    }

    /// The table of characters that need no second look holds no other.
    @Test func charactersThatStayStayBehindAnyOther() {
        let letters = (UInt32(0)..<0x20000).compactMap(UnicodeScalar.init).map(String.init).filter(
            ComposedText.isComposed)
        #expect(letters.count > 40_000)
        let text = letters.map { "a\($0)か\($0)가\($0)\n" }.joined()
        let composed = text.applyingTransform(StringTransform("Any-NFC"), reverse: false)
        #expect(composed?.utf8.elementsEqual(text.utf8) == true)
        for mark in ["\u{300}", "\u{323}", "\u{3099}", "\u{1161}", "\u{11A8}", "\u{212B}"] {
            #expect(!ComposedText.isComposed("a\(mark)"))
        }
        // Foundation reads the first as an A.
        #expect(ComposedText.of("\u{10041}\u{301}").unicodeScalars.elementsEqual("\u{10041}\u{301}".unicodeScalars))
    }

    @Test func aMarkBehindAControlTokenStaysBehindIt() throws {
        let composing = try Loaded([(GGUFOwnKeys.normalizer, .string("nfc"))])
        let text = "e\u{301}<|end|>\u{338}"
        #expect(try composing.tokens(text) == [Self.composed, Self.end] + Self.bytes("\u{338}"))
        #expect(try composing.tokens(text, parseSpecial: false).contains(Self.end) == false)
    }

    /// The sign of Kelvin becomes a K, but the text of a user never a control token.
    @Test func composingMakesNoControlToken() throws {
        let composing = try Loaded([(GGUFOwnKeys.normalizer, .string("nfc"))])
        #expect(try composing.tokens("<\u{212A}>") == Self.bytes("<K>"))
        #expect(try composing.tokens("<K>") == [258])
    }

    @Test func aTextGetsTheBlankThatItLacks() throws {
        let loaded = try Loaded([
            (GGUFOwnKeys.firstBlank, .bool(true)), ("tokenizer.ggml.add_space_prefix", .bool(false)),
        ])
        #expect(try loaded.tokens("a", addSpecial: true) == Self.bytes(" a"))
        #expect(try loaded.tokens(" a", addSpecial: true) == Self.bytes(" a"))
        #expect(try loaded.tokens("<|end|>a", addSpecial: true) == [Self.end] + Self.bytes("a"))
        #expect(try loaded.tokens("", addSpecial: true) == [])
        // A text in the middle of another one.
        #expect(try loaded.tokens("a") == Self.bytes("a"))
    }

    @Test(arguments: [
        ("", ""), ("abc", "abc"), ("12", "1|2"), ("a1b23", "a1b2|3"), ("don't", "don|'t"), ("'t's", "'t|'s"),
        ("e\u{301}'s", "e\u{301}|'s"), ("!\u{301}'s", "!\u{301}'s"), ("1's", "1's"), ("٣٤½²", "٣|٤|½|²"), ("Ⅷ7", "Ⅷ|7"),
    ])
    func textsAreCutBetweenDigitsAndBeforeApostrophes(text: String, expected: String) {
        let bytes = expected.utf8.map { $0 == UInt8(ascii: "|") ? 0xFF : $0 }
        #expect(TextCuts.marked(text) == bytes)
    }

    /// A merge joins no two letters at a cut, nor across a control token.
    @Test func cutTextsKeepAllTheirLetters() throws {
        let loaded = try Loaded([(GGUFOwnKeys.cuts, .string("digits")), (GGUFOwnKeys.normalizer, .string("nfc"))])
        #expect(try loaded.tokens("12'e\u{301}'") == Self.bytes("12'") + [Self.composed] + Self.bytes("'"))
        #expect(try loaded.tokens("1<|end|>2") == Self.bytes("1") + [Self.end] + Self.bytes("2"))
        #expect(try loaded.tokens("") == [])
    }

    @Test(arguments: [(GGUFOwnKeys.normalizer, "nfkd"), (GGUFOwnKeys.cuts, "words"), (GGUFOwnKeys.firstBlank, "maybe")])
    func aChangeOfALaterVersionIsRefused(key: String, value: String) throws {
        let error = #expect(throws: LLMError.self) { _ = try Loaded([(key, .string(value))]) }
        #expect(error?.code == .cannotLoad)
    }
}
#endif
