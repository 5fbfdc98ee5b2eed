import Testing

@testable import HearthClassification

struct PageLayoutTests {
    /// Pieces of characters of 40 pixels: whole, two beside each other, three above each other, two above each other.
    private func character(_ kind: Int, x: Int, y: Int) -> [PixelBox] {
        switch kind % 4 {
        case 1: [PixelBox(x: x, y: y, width: 16, height: 40), PixelBox(x: x + 22, y: y, width: 18, height: 40)]
        case 2:
            [
                PixelBox(x: x + 3, y: y + 2, width: 34, height: 5), PixelBox(x: x + 5, y: y + 18, width: 30, height: 5),
                PixelBox(x: x, y: y + 34, width: 40, height: 5),
            ]
        case 3: [PixelBox(x: x + 2, y: y, width: 36, height: 17), PixelBox(x: x, y: y + 21, width: 40, height: 19)]
        default: [PixelBox(x: x, y: y, width: 40, height: 40)]
        }
    }

    private func ink(_ boxes: [PixelBox]) -> [InkPiece] {
        boxes.map { InkPiece(box: $0, area: $0.width * $0.height / 2) }
    }

    /// A grid of characters, with the wider gap between columns or rows.
    private func grid(columns: Int, rows: Int, across: Int, down: Int) -> [PixelBox] {
        var boxes: [PixelBox] = []
        for column in 0..<columns {
            for row in 0..<rows {
                boxes += character(column + row * 3, x: 20 + column * (40 + across), y: 30 + row * (40 + down))
            }
        }
        return boxes
    }

    @Test func columnsAreReadFromTheRight() {
        let layout = PageLayout(
            ink: ink(grid(columns: 3, rows: 8, across: 25, down: 6)), direction: .automatic, margin: 0.1)
        #expect(layout.direction == .columns)
        #expect(layout.cells.count == 24)
        #expect(layout.cells.map(\.line) == (0..<24).map { $0 / 8 })
        for (index, cell) in layout.cells.enumerated() {
            let (column, row) = (2 - index / 8, index % 8)
            #expect(abs(cell.ink.centreX - Double(40 + column * 65)) <= 3)
            #expect(abs(cell.ink.centreY - Double(50 + row * 46)) <= 3)
            #expect((cell.box.width, cell.box.height) == (48, 48))
        }
    }

    @Test func rowsAreReadFromTheLeft() {
        let layout = PageLayout(
            ink: ink(grid(columns: 8, rows: 3, across: 6, down: 25)), direction: .automatic, margin: 0)
        #expect(layout.direction == .rows)
        #expect(layout.cells.count == 24)
        for (index, cell) in layout.cells.enumerated() {
            #expect(abs(cell.ink.centreX - Double(40 + index % 8 * 46)) <= 3)
            #expect(abs(cell.ink.centreY - Double(50 + index / 8 * 65)) <= 3)
        }
    }

    @Test func theDirectionMayBeTold() {
        let boxes = ink(grid(columns: 4, rows: 4, across: 10, down: 10))
        #expect(PageLayout(ink: boxes, direction: .rows, margin: 0).cells[0].ink.x < 60)
        #expect(PageLayout(ink: boxes, direction: .columns, margin: 0).cells[0].ink.x > 100)
    }

    @Test func framesRulesAndSpecksAreNoCharacters() {
        var pieces = ink(grid(columns: 3, rows: 6, across: 25, down: 6))
        pieces.append(InkPiece(box: PixelBox(x: 0, y: 0, width: 230, height: 340), area: 3000))
        pieces.append(InkPiece(box: PixelBox(x: 72, y: 10, width: 2, height: 320), area: 640))
        pieces += (0..<40).map { InkPiece(box: PixelBox(x: $0 * 5, y: $0 * 7, width: 2, height: 1), area: 2) }
        let layout = PageLayout(ink: pieces, direction: .automatic, margin: 0.1)
        #expect(layout.cells.count == 18)
    }

    @Test func charactersThatTouchAreDivided() {
        var boxes = grid(columns: 2, rows: 6, across: 25, down: 6)
        boxes.append(PixelBox(x: 150, y: 30, width: 40, height: 120))
        let layout = PageLayout(ink: ink(boxes), direction: .columns, margin: 0)
        #expect(layout.cells.filter { $0.line == 0 }.count == 3)
    }

    @Test func anEmptyPageHasNoCells() {
        #expect(PageLayout(ink: [], direction: .automatic, margin: 0.1).cells.isEmpty)
        #expect(
            PageLayout(ink: ink([PixelBox(x: 0, y: 0, width: 1, height: 1)]), direction: .automatic, margin: 0.1).cells
                .isEmpty)
    }

    @Test func oneCharacterIsOneCell() {
        for kind in 0..<4 {
            let layout = PageLayout(ink: ink(character(kind, x: 10, y: 10)), direction: .automatic, margin: 0.1)
            // Three bars alone tell no size; the others do.
            #expect(layout.cells.count == 1 || kind == 2 || kind == 3)
        }
    }
}
