import HearthBase
import HearthCatalog

/// Checks the values of settings.
extension Configuration {
    static func model(_ text: String, _ key: String) throws -> String {
        let family = text.prefix { $0 != "@" && $0 != ":" }
        guard Family(family) != nil, text.utf8.count <= 256 else {
            throw ConfigurationError.invalid(key, "a model such as family@version:variant", found: text)
        }
        return text
    }

    static func flag(_ text: String?, _ key: String) throws -> Bool {
        guard let flag = Bool(text ?? "false") else {
            throw ConfigurationError.invalid(key, "true or false", found: text ?? "")
        }
        return flag
    }

    static func word<Word: RawRepresentable<String> & CaseIterable>(_ text: String, _ key: String) throws
        -> Word
    {
        guard let word = Word(rawValue: text) else {
            let names = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationError.invalid(key, "one of \(names)", found: text)
        }
        return word
    }

    static func integer(_ text: String, _ range: ClosedRange<Int>, _ key: String) throws -> Int {
        guard let value = Int(text), range.contains(value) else {
            throw ConfigurationError.invalid(
                key, "a whole number from \(range.lowerBound) to \(range.upperBound)", found: text)
        }
        return value
    }

    /// The name in `origins.NAME` or `trust.NAME`, `nil` for other settings.
    static func originName(_ key: String, after prefix: String = "origins.") throws -> String? {
        guard key.hasPrefix(prefix) else { return nil }
        let name = key.dropFirst(prefix.count)
        guard Family(name) != nil else {
            throw ConfigurationError.invalid(
                "\(prefix)NAME", "named with small letters, digits, '.', '-' and '_'", found: String(name))
        }
        return String(name)
    }
}

extension JSONValue {
    /// The value as text, for messages and settings.
    var shown: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .number(let digits): digits
        case .string(let text): text
        case .array: "a list"
        case .object: "an object"
        }
    }
}
