/// The classes of characters that an expression tells apart.
struct PatternAlphabet {
    /// The first characters of the intervals between all bounds of the sets.
    let bounds: [UInt32]
    /// The symbol of each interval: one symbol for those of the same sets. Surrogates have one of their own.
    let symbols: [Int32]
    /// A character of each symbol.
    let samples: [UInt32]

    /// - Parameter isWide: whether the expression is part of an odd number of negated conditions.
    /// - Throws: `TooLarge` for many sets with many bounds.
    init(
        _ node: PatternNode, _ reading: TextAutomaton.Reading, _ isWide: Bool, maximumWork: Int
    ) throws(TextAutomaton.TooLarge) {
        let sets = Array(Self.sets(node, reading, isWide))
        var cuts: Set<UInt32> = [0, 0xD800, 0xE000]
        for range in sets.lazy.flatMap(\.ranges) {
            cuts.insert(range.lowerBound)
            if range.upperBound < 0x10FFFF { cuts.insert(range.upperBound + 1) }
        }
        bounds = cuts.sorted()
        guard bounds.count * sets.count <= maximumWork else { throw TextAutomaton.TooLarge() }
        var numbers: [[Bool]: Int32] = [:]
        var samples: [UInt32] = []
        symbols = bounds.map { bound -> Int32 in
            let signature = sets.map { $0.contains(bound) } + [(0xD800..<0xE000).contains(bound)]
            if let number = numbers[signature] { return number }
            numbers[signature] = Int32(samples.count)
            samples.append(bound)
            return Int32(samples.count - 1)
        }
        self.samples = samples
    }

    private static func sets(
        _ node: PatternNode, _ reading: TextAutomaton.Reading, _ isWide: Bool
    ) -> Set<CharacterRanges> {
        switch node {
        case .set(let set): [reading.characters(of: set, isWide: isWide)]
        case .sequence(let items), .alternatives(let items):
            items.reduce(into: []) { $0.formUnion(sets($1, reading, isWide)) }
        case .group(let item, _), .repeated(let item, _, _, _): sets(item, reading, isWide)
        case .look(let item, _, let isNegated): sets(item, reading, isWide != isNegated)
        case .boundary: [PatternSet.word.exact]
        case .empty, .begin, .end, .reference: []
        }
    }
}
