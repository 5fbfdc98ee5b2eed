import Foundation

extension JSONValue {
    /// The form of a written document.
    package enum Style: Sendable, Hashable {
        /// Without white space, with the keys in their order.
        case compact
        /// Indented by two spaces, with keys sorted by their bytes: equal documents give equal bytes.
        case pretty
        /// As the update framework signs it (OLPC): no white space, keys sorted by their bytes, whole numbers only, and in
        /// texts only quotation marks and backslashes escaped.
        case canonical
    }

    /// The document for a file: ``Style/pretty``, with a final newline.
    package var data: Data { Data(written(.pretty) + [UInt8(ascii: "\n")]) }

    /// The document for people: ``Style/pretty``.
    package var text: String { String(decoding: written(.pretty), as: UTF8.self) }

    /// The document on one line: ``Style/compact``.
    package var line: String { String(decoding: bytes, as: UTF8.self) }

    /// The bytes of ``line``.
    package var bytes: [UInt8] { written(.compact) }

    /// The bytes that are signed; `nil` if the document has a number that is not whole.
    package var canonicalData: Data? { hasOnlyWholeNumbers ? Data(written(.canonical)) : nil }

    private func written(_ style: Style) -> [UInt8] {
        var writer = JSONWriter(style: style)
        writer.write(self)
        return writer.bytes
    }

    /// Whether each number has only one form: `-0` and `1e2` have others.
    private var hasOnlyWholeNumbers: Bool {
        switch self {
        case .null, .boolean, .string: true
        case .number(let digits):
            digits != "-0" && digits.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: "-") }
        case .array(let items): items.allSatisfy(\.hasOnlyWholeNumbers)
        case .object(let members): members.values.allSatisfy(\.hasOnlyWholeNumbers)
        }
    }
}

/// Writes a JSON document in one of the styles.
private struct JSONWriter {
    let style: JSONValue.Style
    var bytes: [UInt8] = []
    private var depth = 0

    init(style: JSONValue.Style) { self.style = style }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: bytes += "null".utf8
        case .boolean(let flag): bytes += (flag ? "true" : "false").utf8
        case .number(let digits): bytes += digits.utf8
        case .string(let text): write(text)
        case .array(let items):
            list(items, "[", "]") { writer, item in writer.write(item) }
        case .object(let members):
            let pairs =
                style == .compact
                ? Array(members) : members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            list(pairs, "{", "}") { writer, pair in
                writer.write(pair.key)
                writer.bytes += (writer.style == .pretty ? ": " : ":").utf8
                writer.write(pair.value)
            }
        }
    }

    private mutating func list<Item>(
        _ items: [Item], _ open: String, _ close: String, _ writeItem: (inout Self, Item) -> Void
    ) {
        bytes += open.utf8
        depth += 1
        for (index, item) in items.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            beginLine()
            writeItem(&self, item)
        }
        depth -= 1
        if !items.isEmpty { beginLine() }
        bytes += close.utf8
    }

    private mutating func beginLine() {
        guard style == .pretty else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes += repeatElement(UInt8(ascii: " "), count: 2 * depth)
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        // The last two bytes, for U+2028 and U+2029, which end a line in other languages.
        var last: (UInt8, UInt8) = (0, 0)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case _ where style == .canonical: bytes.append(byte)
            case UInt8(ascii: "\n"): bytes += #"\n"#.utf8
            case UInt8(ascii: "\r"): bytes += #"\r"#.utf8
            case UInt8(ascii: "\t"): bytes += #"\t"#.utf8
            case 0..<0x20, 0x7F: bytes += (#"\u00"# + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)).utf8
            case 0xA8...0xA9 where last == (0xE2, 0x80):
                bytes.removeLast(2)
                bytes += (byte == 0xA8 ? #"\u2028"# : #"\u2029"#).utf8
            default: bytes.append(byte)
            }
            last = (last.1, byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
