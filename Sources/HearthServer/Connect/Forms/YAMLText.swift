import HearthBase

/// Texts and numbers as YAML writes them.
enum YAMLText {
    private static let words: Set<String> = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "~"]

    /// The value of a plain text.
    static func value(_ text: String) -> JSONValue {
        switch text.lowercased() {
        case "true": true
        case "false": false
        case "null", "~": .null
        default:
            if let number = try? JSONValue(parsing: text), number.number != nil { number } else { .string(text) }
        }
    }

    /// The text between quotation marks.
    static func unquoted(_ bytes: [UInt8]) -> String {
        let inner = Array(bytes.dropFirst().dropLast())
        guard bytes.first == UInt8(ascii: "\"") else {
            return String(decoding: inner, as: UTF8.self).replacing("''", with: "'")
        }
        // Escapes that JSON does not have stay as they are.
        return (try? JSONValue(parsing: bytes).string) ?? String(decoding: inner, as: UTF8.self)
    }

    /// A text, a number or a truth value as it is written.
    static func written(_ value: JSONValue) -> String {
        guard case .string(let text) = value else { return value.line }
        let isPlain =
            text.wholeMatch(of: /[A-Za-z\/][A-Za-z0-9_.\/@:-]*/) != nil && !text.hasSuffix(":")
            && !words.contains(text.lowercased())
        return isPlain ? text : value.line
    }

    /// The lines of a value below a key or a dash; one line for a text.
    static func lines(_ value: JSONValue) -> [String] {
        switch value {
        case .object(let members) where !members.isEmpty: members.flatMap { pair($0.key, $0.value) }
        case .array(let items) where !items.isEmpty: items.flatMap(item)
        default: [written(value)]
        }
    }

    /// The lines of a pair.
    static func pair(_ key: String, _ value: JSONValue) -> [String] {
        let lines = lines(value)
        let name = written(.string(key))
        let isBlock = value.members?.isEmpty == false || value.items?.isEmpty == false
        return isBlock ? ["\(name):"] + lines.map { "  " + $0 } : ["\(name): \(lines[0])"]
    }

    /// The lines of an item of a list.
    static func item(_ value: JSONValue) -> [String] {
        lines(value).enumerated().map { ($0 == 0 ? "- " : "  ") + $1 }
    }
}
