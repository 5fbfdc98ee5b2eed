import Foundation
import HearthBase

/// The words of the views in the language of a locale: English or German, the same as those of the page.
///
/// ```swift
/// let words = Words(locale)
/// words("download.bytes", ["done": "812.0 MB", "total": "1.9 GB"])   // 812.0 MB of 1.9 GB
/// ```
struct Words: Sendable {
    /// Formats numbers and times.
    let locale: Locale
    private let isGerman: Bool

    init(_ locale: Locale) {
        self.locale = locale
        isGerman = locale.language.languageCode?.identifier == "de"
    }

    private var table: [String: String] { isGerman ? Self.german : Self.english }

    /// The text of a key with its `{values}`.
    func callAsFunction(_ key: String, _ values: [String: String] = [:]) -> String {
        filled(table[key] ?? key, values)
    }

    /// The text of a key in the form for a number: `key.one` or `key.other`, whose `{n}` is the number.
    func callAsFunction(_ key: String, n: Int, _ values: [String: String] = [:]) -> String {
        self("\(key).\(n == 1 ? "one" : "other")", values.merging(["n": n.formatted(.number.locale(locale))]) { $1 })
    }

    /// The text of a key that ends with a code; `nil` for a code without a text.
    func of(_ family: String, _ code: String, _ values: [String: String] = [:]) -> String? {
        table["\(family).\(code)"].map { filled($0, values) }
    }

    /// The text of a key that ends with a code; the code itself without a text.
    func word(_ family: String, _ code: String, _ values: [String: String] = [:]) -> String {
        of(family, code, values) ?? code
    }

    private func filled(_ pattern: String, _ values: [String: String]) -> String {
        var text = ""
        var rest = pattern[...]
        // A value may have braces of its own, which stay.
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = rest[rest.index(after: open)..<close]
            text += rest[..<open]
            text += values[String(name)] ?? String(rest[open...close])
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }

    /// The sentence of an error; of a failure of this package with the step that helps.
    func sentence(of error: any Error) -> String {
        guard let failure = error as? any HearthFailure else { return error.localizedDescription }
        if isGerman, let sentence = Self.refusals[failure.codeText] { return sentence }
        guard let remedy = failure.context.remedy, !failure.message.contains(remedy) else { return failure.message }
        let isEnded = failure.message.last.map { ".!?…".contains($0) } ?? true
        return "\(failure.message)\(isEnded ? "" : ".") \(remedy)"
    }
}

/// Numbers and times.
extension Words {
    /// Bytes with one decimal in units of 1000: `1.9 GB`.
    func bytes(_ count: UInt64) -> String {
        let text = ByteCount(count).description
        let parts = text.split(separator: " ")
        guard parts.count == 2, let value = Double(parts[0]), count >= 1000 else { return text }
        return "\(decimal(value)) \(parts[1])"
    }

    /// A number with one digit after the decimal sign.
    func decimal(_ value: Double) -> String {
        value.formatted(.number.precision(.fractionLength(1)).grouping(.never).locale(locale))
    }

    /// A fraction of 0...1 as a whole percentage, rounded down.
    func percent(_ fraction: Double) -> String { "\(Int(min(1, max(0, fraction)) * 100))%" }

    /// A duration in its largest unit.
    func seconds(_ count: Double) -> String {
        // A figure of hours beyond all days is no forecast.
        let count = min(max(1, count.isFinite ? count : .infinity), 360_000)
        if count < 60 { return self("time.seconds", n: Int(count.rounded())) }
        if count < 3600 { return self("time.minutes", n: Int((count / 60).rounded())) }
        return self("time.hours", n: Int((count / 3600).rounded()))
    }

    /// A day or a time as records write it, `2026-11-24` or ISO 8601; `nil` for other text.
    func moment(_ text: some StringProtocol) -> String? {
        guard let (date, isDay) = Self.date(String(text)) else { return nil }
        var style = Date.FormatStyle(locale: locale).weekday(.abbreviated).day().month(.abbreviated).year()
        if isDay { style.timeZone = .gmt } else { style = style.hour().minute() }
        return date.formatted(style)
    }

    /// A time with its end, `START/END`; the end of whole days is the day after the last.
    func period(_ text: String) -> String? {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard parts.count == 2 else { return moment(text) }
        guard let (end, isDay) = Self.date(String(parts[1])), let first = moment(parts[0]) else { return nil }
        guard isDay else { return moment(parts[1]).map { "\(first) – \($0)" } }
        let last = end.addingTimeInterval(-86_400).formatted(.iso8601.year().month().day())
        return last <= parts[0] ? first : moment(last).map { "\(first) – \($0)" }
    }

    /// The date of a text, and whether it is a whole day, which begins at midnight of UTC then.
    private static func date(_ text: String) -> (Date, isDay: Bool)? {
        if text.utf8.count == 10 {
            return (try? Date(text, strategy: .iso8601.year().month().day())).map { ($0, true) }
        }
        if let date = try? Date(text, strategy: .iso8601) { return (date, false) }
        return (try? Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: false)))
            .map { ($0, false) }
    }
}
