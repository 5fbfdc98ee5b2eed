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

    func contains(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } }

    func overlaps(_ other: ClosedRange<UInt32>) -> Bool { ranges.contains { $0.overlaps(other) } }
}
