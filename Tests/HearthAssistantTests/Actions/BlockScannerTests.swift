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

    /// Blocks of actions that are not offered are hidden too; what only looks like one stays.
    @Test(
        arguments: [
            (#"Look: [WEB_SEARCH:{"query":"weather"}] ok"#, "Look: ok", ["WEB_SEARCH"]),
            (#"[EMAIL_ACTION:{"to":"a"}][NOTE_ACTION:{}]"#, "", ["EMAIL_ACTION", "NOTE_ACTION"]),
            (#"[MAP_SEARCH : {"q":1}]"#, #"[MAP_SEARCH : {"q":1}]"#, []),
            (#"[MAP_SEARCH: {"q":1}]"#, "", ["MAP_SEARCH"]),
            ("[_ACTION:{}] [ACTION:{}] [MY_ACTIONS:{}]", "[_ACTION:{}] [ACTION:{}] [MY_ACTIONS:{}]", []),
            ("[TODO] [1] [A_ACTION] [A_ACTION:x]", "[TODO] [1] [A_ACTION] [A_ACTION:x]", []),
            ("```\n[EMAIL_ACTION:{}]\n```", "```\n[EMAIL_ACTION:{}]\n```", []),
            ("[EMAIL_ACTION:{\"a\":1", "", ["EMAIL_ACTION"]),
        ] as [(String, String, [String])])
    func hidesActionsThatAreNotOffered(_ answer: String, _ visible: String, _ tags: [String]) {
        for pieces in [[answer], answer.unicodeScalars.map { String($0) }] {
            var scanner = BlockScanner(tags: [.note], hidesOthers: true)
            var text = ""
            for piece in pieces { text += scanner.append(piece) }
            let end = scanner.finish()
            #expect(text + end.text == visible)
            #expect(end.blocks.map(\.tag.rawValue) == tags)
        }
        // A name that is too long for a tag is text.
        var scanner = BlockScanner(tags: [], hidesOthers: true)
        let long = "[" + String(repeating: "A", count: 200) + "_ACTION:{}]"
        #expect(scanner.append(long) + scanner.finish().text == long)
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
