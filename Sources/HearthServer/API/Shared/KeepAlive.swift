import HearthBase
import HearthInference

/// Reads `keep_alive`: seconds, or a text such as `5m`, `1h30m` or `-1`.
enum KeepAlive {
    /// Longer times mean always.
    static let longest = Duration.seconds(10 * 365 * 86_400)

    static func duration(_ fields: Fields) throws(APIFailure) -> Duration? {
        guard let value = fields.value("keep_alive", .either(.text, .number)) else { return nil }
        if let text = value.string {
            guard let duration = duration(text) else {
                throw .invalid("keep_alive", "seconds, or a time such as 5m or 1h30m")
            }
            return duration
        }
        guard let seconds = try fields.number("keep_alive") else { return nil }
        return seconds < 0 ? longest : min(longest, .seconds(min(seconds, 1e9)))
    }

    static func duration(_ text: String) -> Duration? {
        if let seconds = Double(text), seconds.isFinite {
            return seconds < 0 ? longest : min(longest, .seconds(min(seconds, 1e9)))
        }
        let units: [(String, Double)] = [("ms", 0.001), ("h", 3600), ("m", 60), ("s", 1)]
        var rest = text[...]
        let isNegative = rest.first == "-"
        if isNegative { rest = rest.dropFirst() }
        var sum = 0.0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest.dropFirst(digits.count)
            guard let number = Double(digits), let unit = units.first(where: { rest.hasPrefix($0.0) }) else {
                return nil
            }
            sum += number * unit.1
            rest = rest.dropFirst(unit.0.count)
        }
        return isNegative ? longest : min(longest, .seconds(min(sum, 1e9)))
    }
}
