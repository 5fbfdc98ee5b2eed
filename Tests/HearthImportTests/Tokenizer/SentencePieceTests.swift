import Foundation
import HearthBase
import HearthImport
import HearthTestSupport
import Testing

struct SentencePieceTests {
    /// A message in the wire format of protocol buffers.
    private struct Message {
        private(set) var data = Data()

        private mutating func number(_ value: UInt64) {
            var rest = value
            while rest >= 0x80 {
                data.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            data.append(UInt8(rest))
        }

        mutating func add(_ field: UInt64, number value: UInt64) {
            number(field << 3)
            number(value)
        }

        mutating func add(_ field: UInt64, _ bytes: Data) {
            number(field << 3 | 2)
            number(UInt64(bytes.count))
            data.append(bytes)
        }

        mutating func add(_ field: UInt64, float value: Float) {
            number(field << 3 | 5)
            withUnsafeBytes(of: value.bitPattern.littleEndian) { data.append(contentsOf: $0) }
        }
    }

    private static func file(
        extra: [(text: String, score: Float, kind: UInt64)] = [], kind: UInt64 = 2, map: Data = Data(),
        removesBlanks: UInt64 = 0, bytes: Int = 256
    ) -> Data {
        var model = Message()
        var pieces: [(text: String, score: Float, kind: UInt64)] = [("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3)]
        for byte in 0..<bytes { pieces.append((String(format: "<0x%02X>", byte), 0, 6)) }
        pieces += [("▁", -1, 1), ("a", -2, 1), ("▁a", -3, 1)]
        for piece in pieces + extra {
            var message = Message()
            message.add(1, Data(piece.text.utf8))
            message.add(2, float: piece.score)
            message.add(3, number: piece.kind)
            model.add(1, message.data)
        }
        var trainer = Message()
        trainer.add(3, number: kind)
        trainer.add(41, number: 1)
        trainer.add(42, number: 2)
        model.add(2, trainer.data)
        var normalizer = Message()
        normalizer.add(1, Data("identity".utf8))
        normalizer.add(2, map)
        normalizer.add(3, number: 1)
        normalizer.add(4, number: removesBlanks)
        model.add(3, normalizer.data)
        return model.data
    }

    private static func imported(
        _ data: Data, configuration: String? = nil, added: String? = nil, count: Int? = nil
    ) throws(ImportError) -> TokenizerImport {
        let files = TokenizerFiles(
            sentencePiece: data, configuration: configuration.map { Data($0.utf8) },
            addedTokens: added.map { Data($0.utf8) })
        return try TokenizerImport(files, vocabularySize: count, architecture: "llama")
    }

    @Test func keepItsScores() throws {
        let imported = try Self.imported(Self.file())
        #expect(imported["model"] == .string("llama"))
        #expect(imported.tokenCount == 262)
        #expect(imported.numbers("token_type").prefix(4) == [2, 3, 3, 6])
        #expect(imported["bos_token_id"] == .uint32(1))
        #expect(imported["eos_token_id"] == .uint32(2))
        #expect(imported["add_bos_token"] == .bool(true))
        #expect(imported["add_space_prefix"] == .bool(true))
        guard case .array(let scores)? = imported["scores"] else { return #expect(Bool(false)) }
        #expect(scores.elements?.suffix(3) == [.float32(-1), .float32(-2), .float32(-3)])
    }

    @Test func takeTokensOfOtherFiles() throws {
        let imported = try Self.imported(
            Self.file(extra: [("▁▁", 0, 4)]),
            configuration:
                #"{"added_tokens_decoder":{"1":{"content":"<s>","special":true},"263":{"content":"<x>","special":true}}}"#,
            added: #"{"<y>":264,"<x>":263}"#, count: 266)
        #expect(imported.texts("tokens").suffix(4) == ["  ", "<x>", "<y>", "[PAD265]"])
        #expect(imported.numbers("token_type").suffix(4) == [4, 3, 3, 5])
        guard case .array(let scores)? = imported["scores"] else { return #expect(Bool(false)) }
        #expect(scores.count == 266)
    }

    @Test func areRefusedWithRulesThatLlamaLacks() {
        for data in [Self.file(kind: 1), Self.file(map: Data([1])), Self.file(removesBlanks: 1), Self.file(bytes: 255)]
        {
            let error = #expect(throws: ImportError.self) { try Self.imported(data) }
            #expect(error?.code == .incompatible)
            #expect(error?.context.file == "tokenizer.model")
        }
    }

    @Test func areRefusedIfDamaged() {
        let damaged = [
            Data(), Data("version https://git-lfs".utf8), Self.file(extra: [("a", 0, 1)]),
            Self.file(extra: [("", 0, 1)]),
            Self.file(extra: [("x", .nan, 1)]), Self.file(extra: [("x", 0, 9)]),
            Data([0x0A] + [UInt8](repeating: 0xFF, count: 12)),
        ]
        for data in damaged {
            let error = #expect(throws: ImportError.self) { try Self.imported(data) }
            #expect(error?.code == .damaged)
        }
        for added in [#"{"x":"y"}"#, #"{"x":0}"#, #"{"x":-1}"#] {
            let error = #expect(throws: ImportError.self) { try Self.imported(Self.file(), added: added) }
            #expect(error?.code == .damaged)
        }
    }

    @Test func areReadOrRefusedWithFlippedBits() {
        let whole = Self.file()
        var random = SeededGenerator(seed: 5)
        for _ in 0..<100 {
            var data = whole
            data[Int.random(in: 0..<data.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            do {
                #expect(try Self.imported(data).tokenCount > 0)
            } catch {
                #expect([.damaged, .incompatible].contains(error.code))
            }
        }
        for count in stride(from: 0, to: whole.count, by: 41) {
            do {
                #expect(try Self.imported(whole.prefix(count)).tokenCount > 0)
            } catch {
                #expect([.damaged, .incompatible].contains(error.code))
            }
        }
    }
}
