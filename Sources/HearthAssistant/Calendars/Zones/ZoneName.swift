import Foundation

/// The names that programs give time zones.
enum ZoneName {
    /// The most bytes of a name that is looked up in tables.
    static let limit = 200

    /// The form in which names are compared: without escapes, quotes, blanks around them, and case.
    static func comparable(_ name: String) -> String { plain(name).lowercased() }

    /// The name without escapes, quotes and blanks around it.
    static func plain(_ name: String) -> String {
        ContentText.unescaped(name).trimmingCharacters(in: CharacterSet(charactersIn: "\"").union(.whitespaces))
    }

    /// The names of the zone database that a name may mean, the most likely first. Some programs write a path before it:
    /// `/freeassociation.sourceforge.net/Europe/Berlin`.
    static func candidates(_ plain: String) -> [String] {
        let name = plain.replacing(" ", with: "_")
        let parts = name.split(separator: "/")
        let hasPrefix = name.hasPrefix("/") || parts.count > 1 && parts[0].contains { ".:".contains($0) }
        return hasPrefix ? [3, 2, 1].map { parts.suffix($0).joined(separator: "/") } : [name]
    }

    /// The seconds east of UTC that a name such as `GMT+0100`, `UTC-3`, `+05:45` or `(UTC+01:00) Amsterdam` says.
    static func offset(in plain: String) -> Int? {
        guard plain.first == "(" else { return offset(ofWhole: plain) }
        let inner = plain.dropFirst().prefix { $0 != ")" }
        return inner.count + 1 < plain.count ? offset(ofWhole: String(inner)) : nil
    }

    private static func offset(ofWhole text: String) -> Int? {
        var rest = text.uppercased().replacing("\u{2212}", with: "-")[...]
        let prefix = ["UTC", "GMT", "Z"].first { rest.hasPrefix($0) } ?? ""
        rest = rest.dropFirst(prefix.count)
        if rest.isEmpty { return prefix.isEmpty ? nil : 0 }
        guard let sign = rest.popFirst(), sign == "+" || sign == "-" else { return nil }
        let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 3, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return nil
        }
        let numbers: [Int?]
        switch (parts.count, rest.count) {
        case (1, 1), (1, 2): numbers = [Int(rest)]
        case (1, 3): numbers = [Int(rest.prefix(1)), Int(rest.suffix(2))]
        case (1, 4): numbers = [Int(rest.prefix(2)), Int(rest.suffix(2))]
        case (1, 6): numbers = [Int(rest.prefix(2)), Int(rest.dropFirst(2).prefix(2)), Int(rest.suffix(2))]
        case (2, _), (3, _): numbers = parts.map { $0.count <= 2 ? Int($0) : nil }
        default: return nil
        }
        let known = numbers.compactMap(\.self)
        guard known.count == numbers.count, known[0] <= 14, known.dropFirst().allSatisfy({ $0 < 60 }) else {
            return nil
        }
        let seconds = zip(known, [3600, 60, 1]).reduce(0) { $0 + $1.0 * $1.1 }
        return sign == "-" ? -seconds : seconds
    }

    /// The zones of the database that a name such as `(UTC+09:00) Osaka, Sapporo, Tokyo` may mean by one of its cities, or
    /// `(UTC-05:00) Eastern Time (US & Canada)` by Windows' name; the caller compares their offsets.
    static func places(in plain: String) -> [String] {
        guard plain.first == "(", let end = plain.firstIndex(of: ")") else { return [] }
        let words = plain[plain.index(after: end)...].trimmingCharacters(in: .whitespaces)
        let cities = words.split(separator: ",").prefix(10).flatMap { city in
            byCity[city.trimmingCharacters(in: .whitespaces).lowercased().replacing(" ", with: "_")] ?? []
        }
        let first = words.prefix { $0 != "(" }.trimmingCharacters(in: .whitespaces)
        let windows = first.hasSuffix(" Time") ? WindowsZones.zone("\(first.dropLast(4))Standard Time") : nil
        return cities + [windows].compactMap(\.self)
    }

    /// The zones by the last part of their names in lower case.
    private static let byCity = Dictionary(
        grouping: TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") }
    ) { name in
        name.split(separator: "/").last.map { $0.lowercased() } ?? ""
    }

    /// The name in the zone database of an offset of whole hours; `nil` for others.
    static func identifier(ofOffset seconds: Int) -> String? {
        guard seconds != 0 else { return "UTC" }
        guard seconds.isMultiple(of: 3600), (-12...14).contains(seconds / 3600) else { return nil }
        // The signs of these names are those of POSIX: `Etc/GMT-1` is an hour east of UTC.
        return "Etc/GMT\(seconds > 0 ? "-" : "+")\(abs(seconds) / 3600)"
    }
}
