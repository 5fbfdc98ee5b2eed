import Foundation

/// The escapes of text values in iCalendar and vCards (RFC 5545 3.3.11, RFC 6350 3.4).
package enum ContentText {
    /// Escapes a text: `\`, `;`, `,` and line breaks. Control characters are removed.
    package static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.replacing("\r\n", with: "\n").unicodeScalars {
            switch character {
            case "\\", ";", ",": escaped += "\\\(character)"
            case "\n", "\r", "\u{2028}", "\u{2029}": escaped += "\\n"
            case "\t": escaped.unicodeScalars.append(character)
            default: if character.value >= 32 && character.value != 127 { escaped.unicodeScalars.append(character) }
            }
        }
        return escaped
    }

    /// Removes the escapes of a text.
    package static func unescaped(_ value: some StringProtocol) -> String {
        guard value.utf8.contains(UInt8(ascii: "\\")) else { return String(value) }
        var text = String.UnicodeScalarView()
        var isEscaped = false
        for character in value.unicodeScalars {
            if isEscaped {
                isEscaped = false
                text.append(character == "n" || character == "N" ? "\n" : character)
            } else if character == "\\" {
                isEscaped = true
            } else {
                text.append(character)
            }
        }
        return String(text)
    }

    /// Splits a value at a separator that is not escaped, and removes the escapes of its parts.
    package static func parts(_ value: String, separator: Character) -> [String] {
        rawParts(value, separator: separator).map { unescaped($0) }
    }

    /// Splits a value at a separator that is not escaped.
    package static func rawParts(_ value: String, separator: Character) -> [String] {
        var parts = [""]
        var isEscaped = false
        for character in value {
            if character == separator && !isEscaped {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
            isEscaped = character == "\\" && !isEscaped
        }
        return parts
    }
}
