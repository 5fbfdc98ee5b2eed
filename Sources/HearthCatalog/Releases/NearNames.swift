import Foundation

extension Catalog {
    /// At most five families with names similar to the given text, the nearest first.
    package func nearNames(to text: String) -> [Family] {
        NearNames.of(families, to: text) { $0.name }
    }
}

/// Finds names similar to a mistyped one.
package enum NearNames {
    /// At most five candidates with names similar to `text`, the nearest first. A third of the letters (at least two)
    /// may differ, or one name may contain the other.
    package static func of<Candidate>(_ candidates: [Candidate], to text: String, name: (Candidate) -> String)
        -> [Candidate]
    {
        let text = text.lowercased()
        let scored = candidates.enumerated().compactMap {
            (position, candidate) -> (distance: Int, position: Int, candidate: Candidate)? in
            let name = name(candidate)
            let contains = text.count >= 3 && (name.contains(text) || text.contains(name) && name.count >= 3)
            if contains { return (0, position, candidate) }
            let allowed = max(2, name.count / 3)
            guard abs(name.count - text.count) <= allowed else { return nil }
            let distance = distance(from: text, to: name)
            return distance <= min(allowed, max(1, text.count - 1)) ? (distance, position, candidate) : nil
        }
        return scored.sorted { ($0.distance, $0.position) < ($1.distance, $1.position) }.prefix(5).map(\.candidate)
    }

    /// The least number of inserted, removed, replaced or swapped neighbouring letters (optimal string alignment).
    package static func distance(from one: String, to other: String) -> Int {
        let one = Array(one)
        let other = Array(other)
        guard !one.isEmpty, !other.isEmpty else { return max(one.count, other.count) }
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for i in 1...one.count {
            var row = [i]
            row.reserveCapacity(other.count + 1)
            for j in 1...other.count {
                let replaced = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1)
                var least = min(replaced, last[j] + 1, row[j - 1] + 1)
                if i > 1, j > 1, one[i - 1] == other[j - 2], one[i - 2] == other[j - 1] {
                    least = min(least, beforeLast[j - 2] + 1)
                }
                row.append(least)
            }
            beforeLast = last
            last = row
        }
        return last[other.count]
    }
}
