extension String {
    /// Whether the text contains no character that moves a terminal's cursor or changes how a person reads the text.
    package func isPlain(except allowed: String = "") -> Bool {
        !unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: !allowed.unicodeScalars.contains(scalar)
            case .format: scalar.properties.isBidiControl
            default: false
            }
        }
    }

    /// The text in quotation marks for one line of a terminal: control characters escaped, at most `limit` characters.
    package var quoted: String { quoted(limit: 60) }

    package func quoted(limit: Int) -> String {
        var text = ""
        for scalar in unicodeScalars.prefix(limit) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return unicodeScalars.count > limit ? "\"\(text)…\"" : "\"\(text)\""
    }
}
