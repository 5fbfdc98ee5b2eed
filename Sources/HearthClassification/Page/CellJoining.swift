/// Joins the pieces of a column to characters, whose parts (as of 三) may lie as far apart as two characters.
enum CellJoining {
    /// The most pieces of a character that lie below each other.
    private static let maximumPieces = 12

    /// The usual distance between the centres of two characters of a column.
    static func pitch(of lines: [[PixelBox]], size: Double) -> Double {
        var distances: [Double] = []
        for line in lines {
            let large = runs(line, size).filter { Double($0.height) >= size * 0.7 }
            for (one, next) in zip(large, large.dropFirst()) {
                let distance = next.centreY - one.centreY
                if distance <= size * 1.8 { distances.append(distance) }
            }
        }
        distances.sort()
        return distances.isEmpty ? size * 1.1 : max(size * 0.9, distances[distances.count / 2])
    }

    /// The characters of a column from top to bottom.
    static func join(_ line: [PixelBox], size: Double, pitch: Double) -> [PixelBox] {
        let runs = runs(line, size)
        guard !runs.isEmpty else { return [] }
        // The cheapest division of the runs up to each end, by the beginning of its last cell.
        var costs = [[Int: (cost: Double, previous: Int?)]](repeating: [:], count: runs.count)
        for end in runs.indices {
            for start in stride(from: end, through: 0, by: -1) {
                let cell = box(runs, start...end)
                guard start == end || end - start < maximumPieces && Double(cell.height) <= size * 1.3 else { break }
                let shape = shapeCost(cell, size)
                guard start > 0 else {
                    costs[end][start] = (shape, nil)
                    continue
                }
                for (earlier, found) in costs[start - 1] {
                    let before = box(runs, earlier...start - 1)
                    let cost = found.cost + shape + distanceCost(cell.centreY - before.centreY, pitch)
                    if cost < costs[end][start]?.cost ?? .infinity { costs[end][start] = (cost, earlier) }
                }
            }
        }
        var cells: [PixelBox] = []
        var end = runs.count - 1
        var start = costs[end].min { ($0.value.cost, $0.key) < ($1.value.cost, $1.key) }?.key
        while let begin = start {
            cells.append(box(runs, begin...end))
            start = costs[end][begin]?.previous
            end = begin - 1
        }
        return cells.reversed()
    }

    /// The cost of a cell that is lower or higher than a character.
    private static func shapeCost(_ cell: PixelBox, _ size: Double) -> Double {
        let share = Double(cell.height) / size
        // Each cell has a cost, so that parts are joined where nothing else decides.
        return 0.05 + (share < 1 ? 0.3 * (1 - share) * (1 - share) : 4 * (share - 1) * (share - 1))
    }

    /// The cost of a distance between two characters that is no multiple of the usual one.
    private static func distanceCost(_ distance: Double, _ pitch: Double) -> Double {
        let share = distance / pitch
        let error = share - max(1, share.rounded())
        return 2 * error * error
    }

    private static func box(_ runs: [PixelBox], _ range: ClosedRange<Int>) -> PixelBox {
        runs[range].dropFirst().reduce(runs[range.lowerBound]) { $0.union($1) }
    }

    /// The pieces of a column that overlap in height, from top to bottom. One that is as high as several characters, which
    /// touch, is divided evenly.
    private static func runs(_ line: [PixelBox], _ size: Double) -> [PixelBox] {
        var runs: [PixelBox] = []
        for box in line.sorted(by: { ($0.y, $0.x) < ($1.y, $1.x) }) {
            if let last = runs.last, box.y < last.maxY {
                runs[runs.count - 1] = last.union(box)
            } else {
                runs.append(box)
            }
        }
        return runs.flatMap { run -> [PixelBox] in
            let count = Int((Double(run.height) / (size * 1.05)).rounded())
            guard Double(run.height) > size * 1.5, count > 1 else { return [run] }
            return (0..<count).map { part in
                let top = run.y + run.height * part / count
                let bottom = run.y + run.height * (part + 1) / count
                return PixelBox(x: run.x, y: top, width: run.width, height: bottom - top)
            }
        }
    }
}
