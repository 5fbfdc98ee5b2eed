import HearthTestSupport
import Testing

@testable import HearthCommand

/// What bytes of a terminal mean, however they are cut.
@Suite struct KeyReaderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let bytes: [UInt8]
        let keys: [Key]

        init(_ text: String, _ keys: Key...) { (bytes, self.keys) = (Array(text.utf8), keys) }
        init(_ bytes: [UInt8], _ keys: Key...) { (self.bytes, self.keys) = (bytes, keys) }

        var testDescription: String { bytes.map { String($0, radix: 16) }.joined(separator: " ") }
    }

    static let cases = [
        Case("jk q", .character("j"), .character("k"), .character(" "), .character("q")),
        Case("\r\n", .enter, .enter),
        Case("\u{3}\u{4}\u{C}\u{1A}", .interrupt, .endOfInput, .redraw, .suspend),
        Case("\u{1B}[A\u{1B}[B", .up, .down),
        Case("\u{1B}OA\u{1B}OB\u{1B}OH\u{1B}OF\u{1B}OM", .up, .down, .home, .end, .enter),
        Case("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~", .home, .end, .home, .end, .home, .end),
        Case("\u{1B}[5~\u{1B}[6~", .pageUp, .pageDown),
        // Other keys of a keyboard, with modifiers, the mouse, a report of the cursor.
        Case("\u{1B}[C\u{1B}[D\u{1B}[2~\u{1B}[1;5A\u{1B}[15~\u{1B}OP\u{1B}[<0;10;20M\u{1B}[24;80Rj", .character("j")),
        // A title and a reply that nobody asked for are nothing that was typed.
        Case("\u{1B}]0;xx\u{7}j", .character("j")), Case("\u{1B}P1$rxq\u{1B}\\j", .character("j")),
        Case("\u{1B}]xxx\rj", .character("j")),
        // The escape key, and then others.
        Case("\u{1B}q", .character("q")), Case("\u{1B}\u{1B}[A", .up), Case("\u{1B}\u{3}", .interrupt),
        Case("\u{1B}[\u{3}", .interrupt), Case("\u{1B}]\u{3}j", .interrupt, .character("j")),
        Case("\u{1B}[\u{1B}[B", .down), Case("\u{1B}[12é", .character("é")), Case("\u{1B}O\u{1B}[B", .down),
        Case("\u{1B}[" + String(repeating: "5", count: 5000) + "~j", .character("j")),
        // Text of every length, and what is none.
        Case("é日👍", .character("é"), .character("日"), .character("👍")),
        Case([0xFF, 0xC0, 0x80, 0x6A], .character("j")), Case([0xE6, 0x97, 0x6A], .character("j")),
        Case([0xE6, 0x97, 0x03], .interrupt), Case([0xED, 0xA0, 0x80, 0x6B], .character("k")),
        Case([0x00, 0x01, 0x7F, 0x1C, 0x08]),
    ]

    @Test(arguments: cases)
    func readsKeysHoweverTheyAreCut(_ each: Case) {
        var whole = KeyReader()
        #expect(whole.keys(each.bytes) == each.keys)
        for cut in 0...min(each.bytes.count, 100) {
            var reader = KeyReader()
            #expect(reader.keys(each.bytes[..<cut]) + reader.keys(each.bytes[cut...]) == each.keys, "cut at \(cut)")
        }
        var single = KeyReader()
        #expect(each.bytes.flatMap { single.keys([$0]) } == each.keys)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func afterAnyRubbishThePersonCanLeave(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var reader = KeyReader()
        _ = reader.keys((0..<2000).map { _ in UInt8.random(in: 0...255, using: &generator) })
        #expect(reader.keys([0x03]) == [.interrupt])
        #expect(reader.keys(Array("q".utf8)) == [.character("q")])
    }
}
