import HearthInference
import Testing

@Suite struct UTF8AssemblerTests {
    static let texts = [
        "plain", "é", "e\u{301}a\u{308}", "日本語テキスト", "👩‍👩‍👧‍👦 family", "🇫🇷🇩🇪", "\u{10FFFF}\u{D7FF}\u{E000}\u{800}\u{80}",
        "\u{FFFD} stays when it is meant", "a\u{0}b", "हिन्दी नमस्ते", "مرحبا", "𝕳𝖊𝖆𝖗𝖙𝖍",
    ]

    @Test(arguments: texts)
    func isWholeWhereverItIsSplit(text: String) {
        let bytes = Array(text.utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                var assembler = UTF8Assembler()
                var pieces: [String] = []
                for part in [bytes[..<first], bytes[first..<second], bytes[second...]] {
                    pieces.append(assembler.append(part))
                    #expect(assembler.heldBytes <= 3)
                }
                #expect(assembler.flush() == 0)
                #expect(Array(pieces.joined().utf8) == bytes)
            }
        }
    }

    @Test(arguments: texts)
    func comesOutAsSoonAsItIsWhole(text: String) {
        var assembler = UTF8Assembler()
        var seen = ""
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            for byte in bytes.dropLast() { #expect(assembler.append([byte]).isEmpty) }
            seen += assembler.append(bytes.suffix(1))
            #expect(seen.unicodeScalars.last == scalar)
        }
    }

    @Test(
        arguments: [
            ([0x41, 0xF0, 0x9F, 0x91], "A", 3),  // an incomplete emoji at the end
            ([0x41, 0xE6, 0x97], "A", 2),  // an incomplete ideograph at the end
            ([0xC3], "", 1),
            ([0x80, 0x41], "A", 1),  // a continuation without a beginning
            ([0xC0, 0xAF, 0x41], "A", 2),  // an overlong slash
            ([0xE0, 0x80, 0xAF, 0x41], "A", 3),
            ([0xED, 0xA0, 0x80, 0x41], "A", 3),  // a surrogate
            ([0xF4, 0x90, 0x80, 0x80, 0x41], "A", 4),  // past U+10FFFF
            ([0xF5, 0xFF, 0xFE, 0x41], "A", 3),
            ([0xE6, 0x97, 0x41], "A", 2),  // interrupted by a letter, which stays
            ([0xE6, 0x97, 0xE6, 0x97, 0xA5], "日", 2),  // interrupted by a whole character
            ([0xF0, 0x9F, 0xC3, 0xA9], "é", 2),
        ] as [([UInt8], String, Int)])
    func dropsAndCountsBytesOfNoCharacter(bytes: [UInt8], text: String, dropped: Int) {
        for split in 0...bytes.count {
            var assembler = UTF8Assembler()
            let seen = assembler.append(bytes[..<split]) + assembler.append(bytes[split...])
            #expect(seen == text)
            #expect(!seen.contains("\u{FFFD}"))
            #expect(assembler.flush() == dropped)
            #expect(assembler.droppedBytes == dropped)
            #expect(assembler.append([0x42]) == "B")
        }
    }
}
