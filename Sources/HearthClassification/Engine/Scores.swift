import Foundation

/// Makes confidences of a model's output.
struct Scores {
    var output: ClassifierSettings.Output
    /// Divides logits; above 0.
    var temperature: Double

    /// The `top` likeliest classes by number, the likeliest first; among equals the lower number.
    ///
    /// If a number of the output is not finite, all confidences are NaN.
    func ranked(_ numbers: ArraySlice<Float>, top: Int) -> [(place: Int, confidence: Double)] {
        let first = numbers.startIndex
        let best = Self.best(numbers, top)
        guard numbers.allSatisfy(\.isFinite), let highest = best.first.map({ Double(numbers[$0]) }) else {
            return best.map { ($0 - first, .nan) }
        }
        switch output {
        case .logits:
            // The largest exponent is 0, so the sum is at least 1 and nothing overflows.
            let sum = numbers.reduce(0.0) { $0 + exp((Double($1) - highest) / temperature) }
            return best.map { ($0 - first, exp((Double(numbers[$0]) - highest) / temperature) / sum) }
        case .probabilities:
            let sum = numbers.reduce(0.0) { $0 + Double($1) }
            guard sum > 0, numbers.allSatisfy({ $0 >= -1e-5 }) else { return best.map { ($0 - first, .nan) } }
            return best.map { ($0 - first, min(1, max(0, Double(numbers[$0])) / sum)) }
        }
    }

    /// The places of the largest numbers in order, by insertion: few are wanted of many.
    private static func best(_ numbers: ArraySlice<Float>, _ count: Int) -> [Int] {
        let count = min(max(1, count), numbers.count)
        var best: [Int] = []
        best.reserveCapacity(count + 1)
        for place in numbers.indices {
            // A number that is not one never comes before another.
            if best.count == count, let last = best.last, !(numbers[place] > numbers[last]) { continue }
            let target = best.firstIndex { numbers[place] > numbers[$0] } ?? best.count
            best.insert(place, at: target)
            if best.count > count { best.removeLast() }
        }
        return best
    }
}
