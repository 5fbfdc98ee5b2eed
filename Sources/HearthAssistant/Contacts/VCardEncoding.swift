/// Writes values of vCard lines, in the way of the card's version.
struct VCardEncoding {
    /// Version 2.1 has no escape for line breaks, and names its character set.
    private let isVersion2: Bool
    /// Version 4 writes dates without hyphens.
    let isVersion4: Bool
    private let ending: [UInt8]

    init(_ card: ContentComponent) {
        let version = card.text("VERSION")?.trimmingWhitespace
        (isVersion2, isVersion4) = (version == "2.1", version == "4.0")
        ending = card.ending
    }

    /// A text as a value, or as a part of one.
    func escaped(_ text: String) -> String {
        guard isVersion2 else { return ContentText.escaped(text) }
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map { ContentText.escaped(String($0)) }.joined(separator: "\r\n")
    }

    /// A line of its own.
    /// - Parameter value: with its escapes.
    func line(
        _ name: String, _ parameters: [ContentLine.Parameter] = [], value: String, group: String? = nil
    ) -> ContentLine {
        let plain = ContentLine(name, parameters, value: value, group: group, ending: ending)
        let isPrintable = value.utf8.allSatisfy { (32..<127).contains($0) }
        // Version 2.1 folds a line only at its blanks.
        guard isVersion2, !isPrintable || plain.bytes.count > Self.width + ending.count else { return plain }
        let encoded = parameters + [.init("CHARSET", ["UTF-8"]), .init("ENCODING", ["QUOTED-PRINTABLE"])]
        let head = ContentLine(name, encoded, value: "", group: group, ending: ending).bytes
        var bytes = [UInt8](head.dropLast(ending.count))
        var width = bytes.count
        for byte in value.utf8 {
            let written = Self.quoted(byte)
            if width + written.count >= Self.width {
                bytes += [UInt8(ascii: "=")] + ending
                width = 0
            }
            bytes += written
            width += written.count
        }
        return ContentLine(bytes: ArraySlice(bytes + ending))
    }

    /// The line with another value, which has its escapes. Parameters that tell the form of the old value go.
    func line(like old: ContentLine, _ name: String, value: String) -> ContentLine {
        line(name, Self.withoutForm(old.parameters), value: value, group: old.group)
    }

    /// The parameters without those that tell the form of a value.
    static func withoutForm(_ parameters: [ContentLine.Parameter]) -> [ContentLine.Parameter] {
        parameters.filter { parameter in
            if parameter.name.isEmpty {
                return !parameter.values.contains { formWords.contains($0.uppercased()) }
            }
            return !["ENCODING", "CHARSET", "VALUE", "X-APPLE-OMIT-YEAR"].contains(parameter.name)
        }
    }

    /// Whether a value is written in another form than versions 3 and 4 write text in UTF-8.
    static func isEncoded(_ parameters: [ContentLine.Parameter]) -> Bool {
        parameters.contains { parameter in
            parameter.name == "ENCODING" || parameter.name == "CHARSET"
                || parameter.name.isEmpty && parameter.values.contains { formWords.contains($0.uppercased()) }
        }
    }

    private static let formWords: Set<String> = ["QUOTED-PRINTABLE", "BASE64", "8BIT", "7BIT"]
    private static let width = 75

    /// A byte as quoted-printable writes it. A blank is quoted, since one at the beginning of a line would be a fold.
    private static func quoted(_ byte: UInt8) -> [UInt8] {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "="), 0..<32, 127...:
            let digits = Array("0123456789ABCDEF".utf8)
            return [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        default: return [byte]
        }
    }
}

extension String {
    var trimmingWhitespace: String {
        var text = Substring(self)
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
