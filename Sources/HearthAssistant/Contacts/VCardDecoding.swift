import Foundation
import HearthBase

/// Decodes the values of vCard lines: the escapes of versions 3 and 4, and the encodings of 2.1.
enum VCardDecoding {
    /// A value as text, before its escapes are removed.
    static func value(_ line: ContentLine) -> (parameters: [ContentLine.Parameter], value: String) {
        let (parameters, value) = line.split()
        // In version 2.1 the name of a parameter may be missing: `TEL;HOME;QUOTED-PRINTABLE:`.
        let bare = parameters.filter { $0.name.isEmpty }.flatMap(\.values).map { $0.uppercased() }
        let encoding =
            (parameters.first { $0.name == "ENCODING" }?.values.first?.uppercased()
                ?? bare.first { $0 == "QUOTED-PRINTABLE" })
        let charset = parameters.first { $0.name == "CHARSET" }?.values.first
        if encoding == "QUOTED-PRINTABLE" {
            return (parameters, text(quotedPrintable(value), charset: charset).replacing("\r\n", with: "\n"))
        }
        guard let charset, !["UTF-8", "UTF8"].contains(charset.uppercased()) else { return (parameters, value) }
        let bytes = rawValue(line)
        return (parameters, text(bytes, charset: charset))
    }

    /// The bytes after the first `:` that is not quoted.
    private static func rawValue(_ line: ContentLine) -> [UInt8] {
        var isQuoted = false
        let start = line.bytes.firstIndex { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ":") && !isQuoted
        }
        guard let start else { return [] }
        return line.bytes[(start + 1)...].filter { $0 != 13 && $0 != 10 }
    }

    private static func quotedPrintable(_ text: String) -> [UInt8] {
        let source = Array(text.utf8)
        var bytes: [UInt8] = []
        var index = 0
        while index < source.count {
            if source[index] == UInt8(ascii: "="), index + 2 < source.count,
                let pair = [UInt8](hexadecimal: String(decoding: source[(index + 1)...(index + 2)], as: UTF8.self)),
                let byte = pair.first
            {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(source[index])
                index += 1
            }
        }
        return bytes
    }

    /// Decodes bytes in a character set; UTF-8 if they are that, otherwise Latin-1 for unknown names.
    private static func text(_ bytes: [UInt8], charset: String?) -> String {
        switch charset?.uppercased() {
        case nil, "UTF-8", "UTF8", "US-ASCII", "ASCII":
            if let text = String(validating: bytes, as: UTF8.self) { return text }
        case "UTF-16": return String(decoding: bytes, as: UTF8.self)
        case "WINDOWS-1252", "CP1252": if let text = String(bytes: bytes, encoding: .windowsCP1252) { return text }
        case "WINDOWS-1250": if let text = String(bytes: bytes, encoding: .windowsCP1250) { return text }
        case "WINDOWS-1251": if let text = String(bytes: bytes, encoding: .windowsCP1251) { return text }
        case "ISO-8859-2": if let text = String(bytes: bytes, encoding: .isoLatin2) { return text }
        case "SHIFT_JIS", "SHIFT-JIS": if let text = String(bytes: bytes, encoding: .shiftJIS) { return text }
        default: break
        }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
