import Foundation

/// A JSON document that keeps the digits of its numbers, so that reading and writing do not change them.
package enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// The digits as written, such as `1800000000` or `10.6`.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// A whole number.
    package static func integer(_ value: some BinaryInteger) -> Self { .number(String(value)) }

    /// The members of an object.
    package var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }

    /// The kind of value, for messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .number(let digits): "the number \(digits.prefix(40))"
        case .string(let text): text.quoted
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// The document indented by two spaces, with keys sorted by their bytes, slashes not escaped, and a final newline:
    /// equal documents give equal bytes.
    package var data: Data { Data((text + "\n").utf8) }

    /// As ``data``, without the final newline.
    package var text: String {
        var text = ""
        write(to: &text, indent: 0)
        return text
    }

    private func write(to text: inout String, indent: Int) {
        switch self {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .number(let digits): text += digits
        case .string(let string): Self.write(string, to: &text)
        case .array(let items):
            Self.write(items, between: "[", "]", to: &text, indent: indent) { item, text in
                item.write(to: &text, indent: indent + 1)
            }
        case .object(let members):
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            Self.write(sorted, between: "{", "}", to: &text, indent: indent) { member, text in
                Self.write(member.key, to: &text)
                text += ": "
                member.value.write(to: &text, indent: indent + 1)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], between open: String, _ close: String, to text: inout String, indent: Int,
        _ writeItem: (Item, inout String) -> Void
    ) {
        text += open
        for (index, item) in items.enumerated() {
            text += index == 0 ? "\n" : ",\n"
            text += String(repeating: "  ", count: indent + 1)
            writeItem(item, &text)
        }
        if !items.isEmpty { text += "\n" + String(repeating: "  ", count: indent) }
        text += close
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
