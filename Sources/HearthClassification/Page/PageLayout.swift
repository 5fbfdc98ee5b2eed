/// Divides the ink of a straightened page into the cells of characters. A value without pictures.
///
/// 1. The size of a character is that of the pieces with most of the ink.
/// 2. Specks, frames and rules are dropped.
/// 3. Where much ink lies above each other there is a line; gaps divide lines.
/// 4. In each line, pieces are joined so that characters have about the same size and distance (``CellJoining``).
struct PageLayout: Sendable, Hashable {
    let cells: [PageCell]
    /// The direction that was found or asked for; never ``ReadingDirection/automatic``.
    let direction: ReadingDirection

    /// Divides a page.
    /// - Parameter margin: the margin around a character as a share of its side.
    init(ink: [InkPiece], direction: ReadingDirection, margin: Double) {
        guard let size = Self.characterSize(ink) else {
            (self.cells, self.direction) = ([], direction == .automatic ? .columns : direction)
            return
        }
        let boxes = ink.filter { Self.isPart($0, size) }.map(\.box)
        let found = direction == .automatic ? Self.direction(of: boxes, size) : direction
        self.direction = found
        // Columns are rows of the page with its axes exchanged.
        let turned = found == .columns ? boxes : boxes.map(\.transposed)
        var lines = Self.lines(turned, size)
        if found == .columns { lines.reverse() }
        let pitch = CellJoining.pitch(of: lines, size: size)
        var cells: [PageCell] = []
        for (number, line) in lines.enumerated() {
            for box in CellJoining.join(line, size: size, pitch: pitch) where Double(box.side) >= size * 0.12 {
                let ink = found == .columns ? box : box.transposed
                cells.append(PageCell(box: Self.square(ink, size, margin), ink: ink, line: number))
            }
        }
        self.cells = cells
    }

    // MARK: Size

    /// The side of a usual character in pixels: among the pieces near the one that half of the ink reaches, three
    /// quarters are smaller.
    static func characterSize(_ ink: [InkPiece]) -> Double? {
        let sorted = withoutFrames(ink).sorted { $0.box.side < $1.box.side }
        let total = sorted.reduce(0) { $0 + $1.area }
        var sum = 0
        guard
            let middle = sorted.first(where: { piece in
                sum += piece.area
                return sum * 2 >= total
            })
        else { return nil }
        let usual = Double(middle.box.side)
        guard usual >= 4 else { return nil }
        let near = sorted.map { Double($0.box.side) }.filter { $0 >= usual * 0.6 && $0 <= usual * 1.6 }
        return near[near.count * 3 / 4]
    }

    /// The pieces without those that are longer than a third of the whole, such as frames and the dark edges of a scan; all
    /// pieces if the others have little ink, as where the page is one character with specks around it.
    private static func withoutFrames(_ ink: [InkPiece]) -> [InkPiece] {
        guard let first = ink.first?.box else { return [] }
        let most = ink.reduce(first) { $0.union($1.box) }.side / 3
        let others = ink.filter { $0.box.side <= most && $0.box.side > 2 }
        let share = (others.reduce(0) { $0 + $1.area }, ink.reduce(0) { $0 + $1.area })
        return share.0 * 4 < share.1 ? ink : others
    }

    /// Whether a piece may belong to a character: it is no speck, frame or rule.
    private static func isPart(_ piece: InkPiece, _ size: Double) -> Bool {
        let (side, thin) = (Double(piece.box.side), Double(min(piece.box.width, piece.box.height)))
        if side > size * 3 { return false }
        if side > size * 1.6, thin < size * 0.15 { return false }
        return side >= max(2, size * 0.07) && Double(piece.area) >= size * size * 0.002
    }

    // MARK: Direction

    /// The direction with the wider gaps between its lines.
    private static func direction(of boxes: [PixelBox], _ size: Double) -> ReadingDirection {
        gap(boxes, size) >= gap(boxes.map(\.transposed), size) ? .columns : .rows
    }

    /// The usual gap between columns, in pixels; a single column counts as one between wide gaps.
    private static func gap(_ boxes: [PixelBox], _ size: Double) -> Double {
        let ranges = cores(boxes, size).sorted { $0.lowerBound < $1.lowerBound }
        let gaps = zip(ranges, ranges.dropFirst()).map { Double($1.lowerBound - $0.upperBound) }.sorted()
        guard !gaps.isEmpty else {
            return ranges.first.map { Double($0.count) <= size * 1.5 } == true ? size * 100 : 0
        }
        return gaps[gaps.count / 2]
    }

    // MARK: Lines

    /// The boxes of each column, the leftmost column first.
    private static func lines(_ boxes: [PixelBox], _ size: Double) -> [[PixelBox]] {
        let ranges = cores(boxes, size)
        guard !ranges.isEmpty else { return [] }
        var lines = [[PixelBox]](repeating: [], count: ranges.count)
        for box in boxes {
            func distance(_ range: Range<Int>) -> Double {
                max(0, Double(range.lowerBound) - box.centreX, box.centreX - Double(range.upperBound))
            }
            guard let nearest = ranges.indices.min(by: { distance(ranges[$0]) < distance(ranges[$1]) }),
                distance(ranges[nearest]) <= size * 0.5
            else { continue }
            lines[nearest].append(box)
        }
        return lines.filter { !$0.isEmpty }
    }

    /// The horizontal ranges of columns: where ink of at least a third of a character lies above each other.
    private static func cores(_ boxes: [PixelBox], _ size: Double) -> [Range<Int>] {
        guard let left = boxes.map(\.x).min(), let right = boxes.map(\.maxX).max() else { return [] }
        // The sum of heights at each place, from where it changes.
        var changes = [Int](repeating: 0, count: right - left + 1)
        for box in boxes {
            changes[box.x - left] += box.height
            changes[box.maxX - left] -= box.height
        }
        var heights: [Int] = []
        var sum = 0
        for change in changes {
            sum += change
            heights.append(sum)
        }
        var ranges: [Range<Int>] = []
        var start: Int?
        for (place, height) in heights.enumerated() {
            if Double(height) >= size * 0.35 {
                start = start ?? place
            } else if let begin = start {
                ranges.append(begin + left..<place + left)
                start = nil
            }
        }
        return merged(ranges, size).flatMap { divided($0, heights, left, size) }
    }

    /// Joins ranges that are parts of one column: characters such as 川 have gaps in themselves.
    private static func merged(_ ranges: [Range<Int>], _ size: Double) -> [Range<Int>] {
        var merged: [Range<Int>] = []
        for range in ranges {
            if let last = merged.last, Double(range.upperBound - last.lowerBound) <= size * 1.2,
                Double(range.lowerBound - last.upperBound) <= size * 0.4
            {
                merged[merged.count - 1] = last.lowerBound..<range.upperBound
            } else {
                merged.append(range)
            }
        }
        return merged.filter { Double($0.count) >= size * 0.2 }
    }

    /// Divides a range of several columns that touch, where the least ink lies.
    private static func divided(_ range: Range<Int>, _ heights: [Int], _ left: Int, _ size: Double) -> [Range<Int>] {
        let count = Int((Double(range.count) / (size * 1.1)).rounded())
        guard Double(range.count) > size * 1.7, count > 1 else { return [range] }
        var parts: [Range<Int>] = []
        var start = range.lowerBound
        for number in 1..<count {
            let middle = range.lowerBound + range.count * number / count
            let reach = Int(size * 0.3)
            let candidates = max(start + 1, middle - reach)...max(start + 1, min(range.upperBound - 1, middle + reach))
            let cut = candidates.min { heights[$0 - left] < heights[$1 - left] } ?? middle
            parts.append(start..<cut)
            start = cut
        }
        return parts + [start..<range.upperBound]
    }

    // MARK: Cells

    /// The square around a character's ink, not smaller than a usual character, with its margin.
    private static func square(_ ink: PixelBox, _ size: Double, _ margin: Double) -> PixelBox {
        let side = max(4, Int((max(Double(ink.side), size) * (1 + 2 * margin)).rounded()))
        return PixelBox(
            x: Int((ink.centreX - Double(side) / 2).rounded()), y: Int((ink.centreY - Double(side) / 2).rounded()),
            width: side, height: side)
    }
}
