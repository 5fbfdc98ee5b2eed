/// Characters as ordered ranges of code points that do not touch.
struct CharacterRanges: Sendable, Hashable {
    let ranges: [ClosedRange<UInt32>]

    init(_ ranges: [ClosedRange<UInt32>]) {
        var merged: [ClosedRange<UInt32>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound &+ 1 {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        self.ranges = merged
    }

    /// Few of the ranges tell most sets apart; a named class has hundreds.
    func hash(into hasher: inout Hasher) {
        hasher.combine(ranges.count)
        for range in ranges.prefix(8) { hasher.combine(range) }
    }

    /// One character.
    init(_ character: Unicode.Scalar) { self.init([character.value...character.value]) }

    /// All characters. Surrogates are no characters.
    static let all = CharacterRanges([0...0xD7FF, 0xE000...0x10FFFF])
    static let none = CharacterRanges([])

    /// The characters below a limit that satisfy a condition.
    init(below limit: UInt32 = 0x32000, where isIncluded: (Unicode.Scalar) -> Bool) {
        var found: [ClosedRange<UInt32>] = []
        var start: UInt32?
        for value in 0..<limit {
            let fits = Unicode.Scalar(value).map(isIncluded) ?? false
            if fits, start == nil { start = value }
            if !fits, let first = start {
                found.append(first...value - 1)
                start = nil
            }
        }
        if let start { found.append(start...limit - 1) }
        self.init(found)
    }

    /// All other characters.
    var inverted: CharacterRanges {
        var result: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { result.append(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= 0x10FFFF { result.append(next...0x10FFFF) }
        return CharacterRanges(result)
    }

    func union(_ other: CharacterRanges) -> CharacterRanges { CharacterRanges(ranges + other.ranges) }

    func subtracting(_ other: CharacterRanges) -> CharacterRanges { inverted.union(other).inverted }

    func contains(_ value: UInt32) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(value)
    }

    func overlaps(_ other: ClosedRange<UInt32>) -> Bool { ranges.contains { $0.overlaps(other) } }
}
