import Testing

@testable import HearthAssistant

@Suite struct BlockScannerTests {
    @Test func hidesFromTheFirstCertainCharacter() {
        var scanner = BlockScanner(tags: ActionTag.order)
        #expect(scanner.append("Done. [NOTE_ACTI") == "Done.")
        #expect(scanner.append("ON:") == "")
        #expect(scanner.append(" {\"title\":\"a}]\"}") == "")
        #expect(scanner.isInBlock)
        #expect(scanner.append("] Bye [x") == " Bye [x")
        #expect(!scanner.isInBlock)
        #expect(scanner.endedBlocks == [ScannedBlock(tag: .note, payload: "{\"title\":\"a}]\"}", index: 0)])
        #expect(scanner.append("[NOTE_ACTIX") == "[NOTE_ACTIX")
        #expect(scanner.finish().text == "")
    }

    @Test func ignoresTagsThatCannotBeWritten() {
        let (text, blocks) = ActionBench.scan("[a:{}][:{}][A1_B:{}]", tags: ["a", "", "A1_B"])
        #expect(text == "[a:{}][:{}]")
        #expect(blocks.map(\.tag) == ["A1_B"])
    }

    @Test func doesNotMixUpTagsThatBeginAlike() {
        let (_, blocks) = ActionBench.scan("[AB:{}][A:{}]", tags: ["A", "AB", "ABC"])
        #expect(blocks.map(\.tag) == ["AB", "A"])
    }

    @Test func boundsAPayloadAndGoesOn() {
        let long = "[NOTE_ACTION:{\"a\":\"" + String(repeating: "x", count: 1 << 20) + "\"}]after"
        let (text, blocks) = ActionBench.scan(long)
        #expect(text == "after")
        #expect(blocks.map(\.isComplete) == [false])
        #expect(blocks[0].payload.utf8.count == BlockScanner.maximumPayload)
    }

    /// Random texts of the characters that matter: each cut gives the same.
    @Test func isTheSameForAllCutsOfRandomTexts() {
        var random = SeededRandom(seed: 7)
        let parts = [
            "[", "]", "{", "}", "\"", "\\", " ", "\n", "\n\n", "```", "~~~\n", "[A:", "[A:{", "[AB:{\"x\":1}]", "é",
            "👩‍👩‍👧", "a.", "\r\n",
            ",", ":",
        ]
        var flaws = 0
        for _ in 0..<3000 {
            let pieces = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                parts.randomElement(using: &random) ?? ""
            }
            func scanned(_ pieces: [String]) -> (String, [ScannedBlock]) {
                var scanner = BlockScanner(tags: ["A", "AB"])
                var text = ""
                for piece in pieces { text += scanner.append(piece) }
                let end = scanner.finish()
                return (text + end.text, end.blocks)
            }
            let whole = scanned([pieces.joined()])
            if scanned(pieces) != whole { flaws += 1 }
            if scanned(pieces.joined().unicodeScalars.map { String($0) }) != whole { flaws += 1 }
        }
        #expect(flaws == 0)
    }
}
