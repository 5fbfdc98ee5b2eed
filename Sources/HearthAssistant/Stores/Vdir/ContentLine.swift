import Foundation

/// One line of iCalendar or vCard text (RFC 5545 3.1, RFC 6350 3.2), with the bytes that it has in its file.
///
/// Keeps the bytes, folding and line ending included, so that a line that is not changed is written as it was read.
package struct ContentLine: Sendable, Hashable {
    /// A parameter, such as `TYPE=home`.
    package struct Parameter: Sendable, Hashable {
        /// In upper case; empty for the bare types of vCard 2.1.
        package var name: String
        /// Without quotes.
        package var values: [String]

        package init(_ name: String, _ values: [String]) {
            self.name = name
            self.values = values
        }
    }

    /// The line as in its file, with all of its folds and the line ending.
    package let bytes: ArraySlice<UInt8>
    /// The name in upper case, without a group.
    package let name: String

    /// The line without folds and line ending.
    package var unfolded: String { String(decoding: Self.unfold(bytes), as: UTF8.self) }

    /// The group of a vCard's line, such as `item1`; `nil` without one.
    package var group: String? {
        let head = unfolded.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
        guard let point = head.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        return String(head[..<point])
    }

    /// The value as written, escapes included.
    package var value: String { split().value }

    /// The parameters in their order.
    package var parameters: [Parameter] { split().parameters }

    /// The first value of a parameter.
    package func parameter(_ name: String) -> String? { split().parameters.first { $0.name == name }?.values.first }

    /// The line with another line ending, also in its folds.
    func ending(with ending: [UInt8]) -> ContentLine {
        let lines = bytes.filter { $0 != UInt8(ascii: "\r") }
        return ContentLine(bytes: ArraySlice(lines.flatMap { $0 == UInt8(ascii: "\n") ? ending : [$0] }))
    }

    /// The parameters and the value.
    package func split() -> (parameters: [Parameter], value: String) {
        let text = Self.unfold(bytes)
        var parameters: [Parameter] = []
        var position = text.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") } ?? text.endIndex
        while position < text.endIndex, text[position] == UInt8(ascii: ";") {
            position += 1
            parameters.append(Self.parameter(of: text, at: &position))
        }
        let value = position < text.endIndex ? text[(position + 1)...] : []
        return (parameters, String(decoding: value, as: UTF8.self))
    }

    /// Reads a parameter up to the `;` or `:` after it. Quotes protect both.
    private static func parameter(of text: [UInt8], at position: inout Int) -> Parameter {
        var name: [UInt8] = []
        var values: [[UInt8]] = [[]]
        var (isNamed, isQuoted) = (false, false)
        scan: while position < text.endIndex {
            let byte = text[position]
            switch byte {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ";") where !isQuoted, UInt8(ascii: ":") where !isQuoted: break scan
            case UInt8(ascii: "=") where !isNamed:
                isNamed = true
                name = values[0]
                values = [[]]
            case UInt8(ascii: ",") where !isQuoted: values.append([])
            default: values[values.count - 1].append(byte)
            }
            position += 1
        }
        return Parameter(
            String(decoding: name, as: UTF8.self).uppercased(), values.map { String(decoding: $0, as: UTF8.self) })
    }

    private static func unfold(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\n") {
                guard position < bytes.endIndex else { break }
                // A fold is a line ending and one blank or tab after it; a soft break of vCard 2.1 is a `=` before it, and
                // some programs write both.
                let isFold = bytes[position] == UInt8(ascii: " ") || bytes[position] == UInt8(ascii: "\t")
                if isFold { position += 1 }
                if text.last == UInt8(ascii: "="), !isFold || isQuotedPrintable(text) { text.removeLast() }
            } else if byte == UInt8(ascii: "\r"), position == bytes.endIndex || bytes[position] == UInt8(ascii: "\n") {
                continue
            } else {
                text.append(byte)
            }
        }
        return text
    }

    /// Whether the parameters of a line that is being read say so.
    static func isQuotedPrintable(_ line: some Sequence<UInt8>) -> Bool {
        let head = line.prefix { $0 != UInt8(ascii: ":") }
        return String(decoding: Array(head), as: UTF8.self).uppercased().contains("QUOTED-PRINTABLE")
    }

    init(bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        name = Self.name(of: bytes)
    }

    /// Makes a line, folded at 75 bytes. The value is written as it is.
    package init(
        _ name: String, _ parameters: [Parameter] = [], value: String, group: String? = nil, ending: [UInt8] = [13, 10]
    ) {
        var text = (group.map { $0 + "." } ?? "") + name
        for parameter in parameters {
            let values = parameter.values.map { value in
                // A quote cannot be written inside a parameter.
                let plain = value.filter { $0 != "\"" && !$0.isNewline }
                return plain.contains { ":;,".contains($0) } ? "\"\(plain)\"" : plain
            }
            text += ";" + (parameter.name.isEmpty ? "" : parameter.name + "=") + values.joined(separator: ",")
        }
        text += ":" + value.replacing("\r", with: "").replacing("\n", with: "")
        var bytes: [UInt8] = []
        var width = 0
        for scalar in text.unicodeScalars {
            let encoded = Array(String(scalar).utf8)
            if width + encoded.count > 75 {
                bytes += ending + [UInt8(ascii: " ")]
                width = 1
            }
            bytes += encoded
            width += encoded.count
        }
        self.init(bytes: ArraySlice(bytes + ending))
    }

    private static func name(of bytes: ArraySlice<UInt8>) -> String {
        var name: [UInt8] = []
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: ":"), UInt8(ascii: ";"): return String(decoding: name, as: UTF8.self)
            case UInt8(ascii: "."): name.removeAll(keepingCapacity: true)
            case UInt8(ascii: "\r"): break
            case UInt8(ascii: "\n"): position += 1
            case UInt8(ascii: "a")...UInt8(ascii: "z"): name.append(byte - 32)
            default: name.append(byte)
            }
            position += 1
        }
        return String(decoding: name, as: UTF8.self)
    }
}
