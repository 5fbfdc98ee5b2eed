import Foundation

/// Cleans texts of payloads, which end up in records, on cards and in terminals.
enum PayloadText {
    /// The text without control characters, marks that reverse the reading order, and invisible characters in which data
    /// can hide. Line breaks are kept in a text of several lines, otherwise they become spaces.
    static func cleaned(_ text: String, isMultiline: Bool = false) -> String {
        var result = String.UnicodeScalarView()
        var isAfterReturn = false
        for scalar in text.unicodeScalars {
            defer { isAfterReturn = scalar == "\r" }
            switch scalar {
            case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
                if scalar == "\n", isAfterReturn { continue }
                result.append(isMultiline ? "\n" : " ")
            case "\t": result.append(isMultiline ? "\t" : " ")
            default: if !isHidden(scalar) { result.append(scalar) }
            }
        }
        return String(result).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Whether the character cannot be seen, or moves a terminal's cursor, or changes the reading order.
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: return true
        // Joiners shape letters of many scripts, and emoji.
        case .format: return scalar != "\u{200D}" && scalar != "\u{200C}"
        default: return false
        }
    }

    /// The text of a JSON object as a person can edit it: raw control characters in strings are escaped, as models forget
    /// to do, and so are invisible characters; a comma before a closing bracket is dropped.
    static func repaired(_ json: String) -> String {
        var result = String.UnicodeScalarView()
        var isString = false
        var isEscaped = false
        var comma: String.UnicodeScalarView.Index?
        for scalar in json.unicodeScalars {
            if isString {
                if isHidden(scalar) {
                    let escape = scalar.utf16.map { unit in
                        let digits = String(unit, radix: 16)
                        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                    }
                    // A backslash before the character escaped it.
                    if isEscaped { result.removeLast() }
                    result.append(contentsOf: escape.joined().unicodeScalars)
                    isEscaped = false
                    continue
                }
                result.append(scalar)
                if isEscaped {
                    isEscaped = false
                } else if scalar == "\\" {
                    isEscaped = true
                } else if scalar == "\"" {
                    isString = false
                }
                continue
            }
            switch scalar {
            case "\"": isString = true
            case "}", "]": if let comma { result.remove(at: comma) }
            default: break
            }
            if scalar == "," {
                comma = result.endIndex
            } else if !" \n\r\t".unicodeScalars.contains(scalar) {
                comma = nil
            }
            result.append(scalar)
        }
        return String(result)
    }
}
