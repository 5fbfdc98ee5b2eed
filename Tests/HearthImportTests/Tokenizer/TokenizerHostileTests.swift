import Foundation
import HearthBase
import HearthImport
import HearthTestSupport
import Testing

struct TokenizerHostileTests {
    @Test func aFolderWithoutATokenizerIsRefused() {
        let error = #expect(throws: ImportError.self) {
            try TokenizerImport(TokenizerFiles(), vocabularySize: 4, architecture: "llama")
        }
        #expect(error?.code == .missingFile)
    }

    @Test func aFileCutAnywhereIsDamaged() {
        let whole = TokenizerFixture.bytes.data
        for count in 0..<whole.count {
            let error = #expect(throws: ImportError.self) {
                try TokenizerImport(
                    TokenizerFiles(tokenizer: whole.prefix(count)), vocabularySize: nil, architecture: "llama")
            }
            #expect(error?.code == .damaged, "\(count) bytes")
            #expect(error?.context.file == "tokenizer.json")
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>) func flippedBitsAreReadOrRefused(seed: UInt64) throws {
        for whole in [TokenizerFixture.bytes.data, TokenizerFixture.pieces.data] {
            var random = SeededGenerator(seed: seed)
            for _ in 0..<100 {
                var data = whole
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    data[Int.random(in: 0..<data.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
                do {
                    let imported = try TokenizerImport(
                        TokenizerFiles(tokenizer: data), vocabularySize: nil, architecture: "llama")
                    #expect(Set(imported.texts("tokens").map { Array($0.utf8) }).count == imported.tokenCount)
                } catch {
                    #expect([.damaged, .incompatible].contains(error.code))
                }
            }
        }
    }

    struct Damage: CustomTestStringConvertible, Sendable {
        let name: String
        let change: @Sendable (inout TokenizerFixture) -> Void
        var testDescription: String { name }
    }

    @Test(arguments: [
        Damage(name: "two tokens of one number") { $0.vocabulary[1].id = 0 },
        Damage(name: "a token twice") { $0.vocabulary[1].text = "a" },
        Damage(name: "no tokens") { ($0.vocabulary, $0.merges, $0.added) = ([], [], []) },
        Damage(name: "an empty token") { $0.vocabulary[4].text = "" },
        Damage(name: "a zero byte") { $0.vocabulary.append(("\u{0}", 6)) },
        Damage(name: "a token of a megabyte") { $0.vocabulary.append((String(repeating: "x", count: 1 << 20), 6)) },
        Damage(name: "a number beyond all tokens") { $0.vocabulary.append(("x", 999_999_999)) },
        Damage(name: "a number of ten digits") { $0.vocabulary.append(("x", 9_999_999_999)) },
        Damage(name: "a negative number") { $0.vocabulary.append(("x", -1)) },
        Damage(name: "a merge of missing tokens") { $0.merges = ["b a"] },
        Damage(name: "a merge of nothing") { $0.merges = [["", "ab"]] },
        Damage(name: "a merge of one part") { $0.merges = ["ab"] },
        Damage(name: "a merge of three parts") { $0.merges = ["a b a"] },
        Damage(name: "a merge of a list of three") { $0.merges = [["a", "b", "a"]] },
        Damage(name: "a merge of a number") { $0.merges = [1] },
        Damage(name: "an added token with another number") { $0.added.append(TokenizerFixture.token("ab", 3)) },
        Damage(name: "an added token with a taken number") { $0.added.append(TokenizerFixture.token("new", 2)) },
        Damage(name: "an added token without a number") { $0.added.append(["content": "x"]) },
        Damage(name: "an added token with a negative number") { $0.added.append(TokenizerFixture.token("x", -5)) },
    ])
    func contradictionsAreRefused(damage: Damage) {
        var fixture = TokenizerFixture.bytes
        damage.change(&fixture)
        let error = fixture.refused()
        #expect(error?.code == .damaged)
        #expect(error?.context.file == "tokenizer.json")
    }

    @Test func tenMillionMergesAreRefused() {
        var text = Data(#"{"model":{"type":"BPE","vocab":{"a":0,"aa":1},"merges":["#.utf8)
        text.append(Data(String(repeating: #""a a","#, count: 10_000_000).utf8))
        text.append(Data(#""a a"]}}"#.utf8))
        #expect(text.count < TokenizerLimits.fileBytes)
        let error = #expect(throws: ImportError.self) {
            try TokenizerImport(TokenizerFiles(tokenizer: text), vocabularySize: nil, architecture: "llama")
        }
        #expect(error?.code == .damaged)
    }

    @Test(arguments: ["[", #"{"a":"#]) func deepNestingIsRefused(opening: String) {
        let text = #"{"decoder":"# + String(repeating: opening, count: 100_000)
        let error = #expect(throws: ImportError.self) {
            try TokenizerImport(TokenizerFiles(tokenizer: Data(text.utf8)), vocabularySize: nil, architecture: "llama")
        }
        #expect(error?.code == .damaged)
    }

    @Test(arguments: [
        #"{"model":{"type":"BPE"},"model":{}}"#, #"{"model":[]}"#, #"{}"#, #"[]"#, "", "null", #"{"model":null} x"#,
        #"{"model":{"type":"BPE","vocab":{"\ud800":0},"merges":[]}}"#, #"{"model":{"type":"BPE","vocab":{"a":1.5}}}"#,
        #"{"model":{"type":"BPE","vocab":{"a":"0"}}}"#, #"{"model":{"type":"BPE","vocab":{"a" 0}}}"#,
    ])
    func brokenTextsAreDamaged(text: String) {
        let error = #expect(throws: ImportError.self) {
            try TokenizerImport(TokenizerFiles(tokenizer: Data(text.utf8)), vocabularySize: nil, architecture: "llama")
        }
        #expect(error?.code == .damaged)
    }

    @Test func tokensThatAreNotUTF8AreDamaged() {
        var data = Data(#"{"model":{"type":"BPE","vocab":{"a":0,""#.utf8)
        data.append(contentsOf: [0xC3, 0x28])
        data.append(Data(#"":1},"merges":[]}}"#.utf8))
        let error = #expect(throws: ImportError.self) {
            try TokenizerImport(TokenizerFiles(tokenizer: data), vocabularySize: nil, architecture: "llama")
        }
        #expect(error?.code == .damaged)
    }

    /// To Swift's strings these are equal; to a vocabulary they are not.
    @Test func charactersOfSeveralCodePointsStayTokensOfTheirOwn() throws {
        var fixture = TokenizerFixture.pieces
        fixture.vocabulary += [("\u{E9}", 264), ("e\u{301}", 265), ("e", 266), ("\u{301}", 267)]
        fixture.merges = [["a", "b"], ["▁", "ab"], ["e", "\u{301}"]]
        let imported = try fixture.imported()
        #expect(Array(imported.texts("tokens")[264].utf8) == [0xC3, 0xA9])
        #expect(Array(imported.texts("tokens")[265].utf8) == [0x65, 0xCC, 0x81])
    }

    /// The last of equal merges counts in the original, the first in llama.cpp.
    @Test func equalMergesAreWrittenOnce() throws {
        var fixture = TokenizerFixture.bytes
        fixture.merges = ["a b", "Ġ ab", "a b"]
        #expect(try fixture.imported().texts("merges") == ["Ġ ab", "a b"])
    }

    @Test func holesAndRowsWithoutATokenAreUnused() throws {
        var fixture = TokenizerFixture.bytes
        fixture.vocabulary.append(("[PAD6]", 8))
        let imported = try fixture.imported(count: 11)
        #expect(imported.tokenCount == 11)
        #expect(imported.texts("tokens").suffix(5) == ["[PAD6]_", "[PAD7]", "[PAD6]", "[PAD9]", "[PAD10]"])
        #expect(imported.numbers("token_type").suffix(5) == [5, 5, 1, 5, 5])
    }

    @Test func aTokenBeyondTheRowsIsRefusedAndAnAddedOneLeftOut() throws {
        #expect(TokenizerFixture.bytes.refused(count: 4)?.code == .damaged)
        var fixture = TokenizerFixture.bytes
        fixture.added.append(TokenizerFixture.token("<|extra|>", 6))
        let imported = try fixture.imported(count: 6)
        #expect(imported.tokenCount == 6)
        #expect(imported.notes.count == 1)
        #expect(!imported.texts("tokens").contains("<|extra|>"))
    }

    @Test(arguments: [0, -1, TokenizerLimits.tokens + 1]) func aSizeOutOfRangeIsRefused(count: Int) {
        #expect(TokenizerFixture.bytes.refused(count: count)?.code == .damaged)
    }

    @Test func aFileBeyondTheLimitIsRefused() {
        let data = Data(count: TokenizerLimits.fileBytes + 1)
        for files in [TokenizerFiles(tokenizer: data), TokenizerFiles(sentencePiece: data)] {
            let error = #expect(throws: ImportError.self) {
                try TokenizerImport(files, vocabularySize: nil, architecture: "llama")
            }
            #expect(error?.code == .damaged)
        }
    }

    @Test func wholeWordTokensAreRefused() {
        var fixture = TokenizerFixture.bytes
        fixture.added.append(TokenizerFixture.token("x", 6, ["single_word": true]))
        #expect(fixture.refused()?.code == .incompatible)
    }
}
