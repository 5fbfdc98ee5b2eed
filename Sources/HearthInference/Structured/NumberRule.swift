import Foundation

/// The grammar rule of numbers within bounds: integers, and decimals with a fixed number of places.
struct NumberRule {
    /// The most digits of an integer part.
    private static let longest = 14
    /// The number of decimal places if the bounds have fewer.
    private static let defaultPlaces = 2
    private static let maximumPlaces = 6

    /// The alternatives as GBNF; `nil` if no number is within the bounds.
    let gbnf: String?

    /// Makes the rule.
    /// - Parameters:
    ///   - low: the smallest number, allowed itself only if `includesLow`.
    ///   - high: the largest number, allowed itself only if `includesHigh`.
    ///   - step: the factor of every number.
    init(
        low: Decimal?, includesLow: Bool, high: Decimal?, includesHigh: Bool, step: Decimal?, isInteger: Bool
    ) {
        let given = [low, high, step].compactMap { $0 }
        let places =
            isInteger ? 0 : min(Self.maximumPlaces, given.map { max(0, -$0.exponent) }.reduce(Self.defaultPlaces, max))
        var alternatives: [String] = []
        // Integers first, then decimals.
        for places in Set([0, places]).sorted() {
            var unit = Decimal(1)
            for _ in 0..<places { unit *= 10 }
            guard let step = Self.step(step.map { $0 * unit } ?? 1) else { continue }
            let limit = Self.power(Self.longest - places) * 10 - 1
            let bottom = low.map { Self.bound($0 * unit / step.unit, up: true, itself: includesLow) } ?? -limit
            let top = high.map { Self.bound($0 * unit / step.unit, up: false, itself: includesHigh) } ?? limit
            let lowest = max(-limit, bottom), highest = min(limit, top)
            guard lowest <= highest else { continue }
            let zeros = max(0, step.zeros - places), left = max(0, places - step.zeros)
            if left == 0, places > 0 { continue }
            func range(_ from: Int, _ to: Int) -> String {
                Self.lengths(from, to, places: left, last: step.last)
                    .map { zeros > 0 ? "(\($0)) \"\(String(repeating: "0", count: zeros))\"" : $0 }
                    .joined(separator: " | ")
            }
            if lowest < 0 {
                let text = range(max(1, -highest), -lowest)
                if !text.isEmpty { alternatives.append("\"-\" (\(text))") }
            }
            if highest >= 0 {
                // No digit follows a zero.
                if zeros > 0, lowest <= 0 { alternatives.append("\"0\"") }
                let text = range(max(zeros > 0 ? 1 : 0, lowest), highest)
                if !text.isEmpty { alternatives.append(text) }
            }
        }
        gbnf = alternatives.isEmpty ? nil : alternatives.joined(separator: " | ")
    }

    /// Splits a step into a power of ten and the possible last digits of a multiple of the rest; `nil` if that is
    /// impossible.
    private static func step(_ value: Decimal) -> (unit: Decimal, zeros: Int, last: [Int])? {
        var (rest, unit, zeros) = (value, Decimal(1), 0)
        while rest >= 10, rest / 10 == rounded(rest / 10) {
            rest /= 10
            unit *= 10
            zeros += 1
        }
        switch rest {
        case 1: return (unit, zeros, Array(0...9))
        case 2: return (unit, zeros, [0, 2, 4, 6, 8])
        case 5: return (unit, zeros, [0, 5])
        default: return nil
        }
    }

    private static func rounded(_ value: Decimal, _ mode: Decimal.RoundingMode = .plain) -> Decimal {
        var (value, result) = (value, Decimal())
        NSDecimalRound(&result, &value, 0, mode)
        return result
    }

    private static func bound(_ value: Decimal, up: Bool, itself: Bool) -> Int {
        let whole = rounded(value, up ? .up : .down)
        let limit = Decimal(power(longest) * 10 - 1)
        let number = NSDecimalNumber(decimal: min(max(whole, -limit), limit)).intValue
        return itself || whole != value ? number : number + (up ? 1 : -1)
    }

    private static func power(_ digits: Int) -> Int { (0..<max(0, digits)).reduce(1) { power, _ in power * 10 } }

    /// The alternatives for non-negative numbers from `low` to `high`, one for each number of digits.
    private static func lengths(_ low: Int, _ high: Int, places: Int, last: [Int]) -> [String] {
        let shortest = places + 1
        return (shortest...max(shortest, String(high).count)).compactMap { count in
            let from = max(low, count == shortest ? 0 : power(count - 1)), to = min(high, power(count) - 1)
            guard from <= to else { return nil }
            return digits(padded(from, count), padded(to, count), places: places, last: last)
        }
    }

    private static func padded(_ value: Int, _ count: Int) -> ArraySlice<Int> {
        let digits = String(value).map { $0.wholeNumberValue ?? 0 }
        return ([Int](repeating: 0, count: count - digits.count) + digits)[...]
    }

    /// The alternatives for numbers from `low` to `high`, which have equally many digits; `nil` if none has an allowed
    /// last digit.
    private static func digits(
        _ low: ArraySlice<Int>, _ high: ArraySlice<Int>, places: Int, last: [Int]
    ) -> String? {
        guard let first = low.first, let end = high.first else { return "" }
        let point = low.count == places ? "\".\" " : ""
        if low.count == 1 { return set(last.filter { first <= $0 && $0 <= end }).map { point + $0 } }
        let (lowRest, highRest) = (low.dropFirst(), high.dropFirst())
        let all = digits(
            ArraySlice(repeating: 0, count: lowRest.count), ArraySlice(repeating: 9, count: lowRest.count),
            places: places, last: last)
        if lowRest.allSatisfy({ $0 == 0 }), highRest.allSatisfy({ $0 == 9 }) {
            if last.count == 10, places == 0 || lowRest.count < places {
                return set(Array(first...end)).map { "\(point)\($0) [0-9]{\(lowRest.count)}" }
            }
            return all.flatMap { all in set(Array(first...end)).map { "\(point)\($0) \(all)" } }
        }
        if first == end {
            return digits(lowRest, highRest, places: places, last: last).map { "\(point)\"\(first)\" (\($0))" }
        }
        var parts: [String] = []
        let nines = ArraySlice(repeating: 9, count: lowRest.count),
            zeros = ArraySlice(repeating: 0, count: lowRest.count)
        if let rest = digits(lowRest, nines, places: places, last: last) { parts.append("\"\(first)\" (\(rest))") }
        if first + 1 <= end - 1, let all, let middle = set(Array(first + 1...end - 1)) {
            parts.append("\(middle) (\(all))")
        }
        if let rest = digits(zeros, highRest, places: places, last: last) { parts.append("\"\(end)\" (\(rest))") }
        return parts.isEmpty ? nil : "\(point)(\(parts.joined(separator: " | ")))"
    }

    private static func set(_ digits: [Int]) -> String? {
        digits.isEmpty ? nil : "[\(digits.map { String($0) }.joined())]"
    }
}
