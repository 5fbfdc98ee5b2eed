import Testing

@testable import HearthAssistant

@Suite struct BlockScannerTests {
    @Test func hidesABlock() {
        var scanner = BlockScanner(tags: ActionTag.order)
        let first = scanner.append("Done.\n\n[NOTE_ACTION:{\"title\":\"a}]\"}]\n\nBye")
        let end = scanner.finish()
        #expect(first + end.text == "Done.\n\nBye")
        #expect(end.blocks == [ScannedBlock(tag: .note, payload: "{\"title\":\"a}]\"}", index: 0)])
    }
}
