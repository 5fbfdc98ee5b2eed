import Testing

@testable import HearthCommand

@Suite struct ScreenPainterTests {
    private static let size = ScreenSize(columns: 20, lines: 4)

    @Test func onlyWhatChangedIsWritten() {
        var painter = ScreenPainter()
        #expect(painter.paint(["a", "", "c"], on: Self.size) == "\u{1B}[2J\u{1B}[1;1H\u{1B}[Ka\u{1B}[3;1H\u{1B}[Kc")
        #expect(painter.paint(["a", "", "c"], on: Self.size) == nil)
        #expect(painter.paint(["a", "b", "c"], on: Self.size) == "\u{1B}[2;1H\u{1B}[Kb")
        #expect(painter.paint(["a"], on: Self.size) == "\u{1B}[2;1H\u{1B}[K\u{1B}[3;1H\u{1B}[K")
    }

    @Test func dimmedLinesAreFaint() {
        var painter = ScreenPainter()
        let dimmed = "\u{1B}[2J\u{1B}[1;1H\u{1B}[Ka\u{1B}[2;1H\u{1B}[K\u{1B}[2mb\u{1B}[22m"
        #expect(painter.paint(["a", "b"], dimmed: [1], on: Self.size) == dimmed)
        #expect(painter.paint(["a", "b"], dimmed: [1], on: Self.size) == nil)
        #expect(painter.paint(["a", "b"], on: Self.size) == "\u{1B}[2;1H\u{1B}[Kb")
    }

    @Test func anotherWindowIsDrawnAnew() {
        var painter = ScreenPainter()
        _ = painter.paint(["a"], on: Self.size)
        #expect(
            painter.paint(["a"], on: ScreenSize(columns: 10, lines: 4)) == "\u{1B}[2J\u{1B}[1;1H\u{1B}[Ka")
        painter.forget()
        #expect(
            painter.paint(["a"], on: ScreenSize(columns: 10, lines: 4)) == "\u{1B}[2J\u{1B}[1;1H\u{1B}[Ka")
    }

    @Test func nothingIsWrittenBelowTheWindowNorAsItCame() {
        var painter = ScreenPainter()
        let text = painter.paint(["\u{1B}[31ma\n", "b", "c", "d", "e"], on: Self.size)
        #expect(text?.hasPrefix("\u{1B}[2J\u{1B}[1;1H\u{1B}[K[31ma \u{1B}[2;1H") == true)
        #expect(text?.contains("e") == false)
        #expect(painter.paint(["x"], on: ScreenSize(columns: 0, lines: 0)) == "\u{1B}[2J")
    }
}
