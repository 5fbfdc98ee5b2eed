import Foundation

/// A line of an imported record that other programs cannot read past, kept as the text of a property: they end, or print an
/// error at every start, where Hearth skips it.
///
/// ```
/// X-HEARTH-LINE:DTEND:later
/// ```
enum KeptLine {
    static let name = "X-HEARTH-LINE"

    /// The property for a line.
    static func line(_ line: ContentLine, ending: [UInt8]) -> ContentLine {
        ContentLine(name, value: ContentText.escaped(line.unfolded), ending: ending)
    }

    /// The line that a property keeps; `nil` for other properties.
    static func original(_ line: ContentLine) -> ContentLine? {
        guard line.name == name else { return nil }
        return ContentLine(bytes: ArraySlice(Array(ContentText.unescaped(line.value).utf8)))
    }
}

extension ContentLine {
    /// The line in plain UTF-8; `nil` for one that is.
    func plain(ending: [UInt8]) -> ContentLine? {
        let parameters = parameters
        guard
            Self.isQuotedPrintable(bytes) || parameters.contains(where: { $0.name == "CHARSET" })
                || String(validating: Array(bytes), as: UTF8.self) == nil
        else { return nil }
        let value = VCardDecoding.value(self).value.replacing("\r\n", with: "\n").replacing("\n", with: "\\n")
        return ContentLine(
            writtenName, VCardEncoding.withoutForm(parameters), value: value, group: group, ending: ending)
    }

    /// The name as written, without a group.
    var writtenName: String {
        let head = unfolded.prefix { $0 != ":" && $0 != ";" }
        return head.split(separator: ".").last.map(String.init) ?? ""
    }

    /// The line as another program wrote it.
    var original: ContentLine { KeptLine.original(self) ?? self }

    /// Whether it has a name that is one, and a value (RFC 5545 3.1, RFC 6350 3.3).
    var isProperty: Bool {
        let text = unfolded.utf8
        let head = text.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
        return text.contains(UInt8(ascii: ":")) && !head.isEmpty
            && head.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "-_./".utf8.contains(byte)
            }
    }
}
